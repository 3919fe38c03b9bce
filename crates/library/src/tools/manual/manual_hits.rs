//! `manual_hits`.

use std::time::Instant;

use annai_core::{Access, Call, Effect, Facts, Reply, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scopes::LIBRARY_READ;
use crate::tools::found_section::FoundSection;
use crate::tools::library_tool::{LibraryTool, facts};
use crate::toolset::Library;
use annai_search::reference::{Ref, Target};
use annai_search::{
    BestLine, ExcerptLine, FindContext, HandedOut, MAX_TOP, MatchKind, SectionExcerpts, TraceConflict,
    TraceMatch, TraceRecord, UnscannedPart, UnsearchableFile,
};
use annai_text::Position;

/// What to show.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The trace_id that manual_find or vault_find returned. It expires after 30 minutes, unless the server sets
    /// TRACE_TTL_SEC.
    trace_id: String,
    /// What to list (default `candidates`). `candidates`: all matching sections, in document order. `unread`: those of
    /// them that were not handed out yet. `integrated_top`: the best 20 sections, best first. `related`: the best
    /// sections that contain only a part of a term, or that a match leads to. `conflicts`: pairs of sentences that are the same but for a value, a negation or an opposite. `variants`: pairs that
    /// state other values because they are about different products, plans, editions or years. `gaps`: terms without a match. `unscanned`: places that were not searched, because of the time, a limit or the stage. `unsearchable`:
    /// files that cannot be searched.
    #[schemars(extend("default" = "candidates"))]
    kind: Option<HitKind>,
    /// How many entries to skip (default 0). Pass the next_offset of the page before.
    #[schemars(extend("default" = 0))]
    offset: Option<usize>,
    /// The maximum number of entries to return (default 50). A page that would exceed the server's HARD_MAX_CHARS has
    /// fewer.
    #[schemars(range(min = 1, max = 200), extend("default" = 50))]
    limit: Option<usize>,
    /// The maximum number of characters of each matching section to return as `excerpt`, the best matching lines with their numbers
    /// (default 0: none). 240 is usually enough to see whether a section answers the question, and saves a manual_read.
    #[schemars(range(max = 1000), extend("default" = 0))]
    excerpt_chars: Option<usize>,
}

/// What of a find is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HitKind {
    Candidates,
    Unread,
    IntegratedTop,
    Related,
    Conflicts,
    Variants,
    Gaps,
    Unscanned,
    Unsearchable,
}

/// A page.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The search that the entries belong to.
    trace_id: String,
    /// What is listed.
    kind: HitKind,
    /// How many entries were skipped.
    offset: usize,
    /// The maximum number of entries in `items`.
    limit: usize,
    /// How many entries there are in all.
    total: usize,
    /// The offset of the next page; null when this is the last one.
    next_offset: Option<usize>,
    /// The entries of this page.
    items: Vec<HitItem>,
}

/// One entry: a section, a place that was not searched, a contradiction, or a term without a match.
#[derive(Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct HitItem {
    /// The place, in the form that other tools accept.
    #[serde(rename = "ref")]
    place: Option<Ref>,
    /// The file's path, relative to its manual or to the vault.
    path: Option<String>,
    /// The line, counted from 1; null for a whole file.
    start_line: Option<u64>,
    /// For unscanned places: why they were not searched (`time_budget`, `candidate_cap`, `stage_cap`). For files that
    /// cannot be searched: why not (`type`, `encoding`, `too_large`, `unreadable`, `link`). For conflicts and variants:
    /// what the sections state differently.
    reason: Option<String>,
    /// How the section matched: `heading`, `normalized`, `loose`, `exceptions`, `reference`.
    signals: Vec<String>,
    /// The rank score, comparable within this search only.
    score: Option<f64>,
    /// The node_ids of the sections that contradict this one.
    conflict_with: Vec<String>,
    /// For conflicts and variants: both sides, each with its place and the sentence that it states.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflict_refs: Vec<ConflictSide>,
    /// The term that nothing was found for.
    gap_hint: Option<String>,
    /// How a section matched: `exact`, `separated`, `synonym`, `part`, `reference` or `exception`.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    kind: Option<MatchKind>,
    /// The titles from the top of the file down to the section.
    #[serde(skip_serializing_if = "Option::is_none")]
    heading_path: Option<Vec<String>>,
    /// The number of the best matching line.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// True when the section lies outside the manual that was asked for; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    outside: Option<bool>,
    /// The best matching lines, in document order, as they are written in the file; absent without `excerpt_chars`, or
    /// when the file has changed since. They do not count as read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    excerpt: Vec<ExcerptLine>,
}

/// One side of a conflict.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ConflictSide {
    /// The section, in the form that manual_read accepts.
    #[serde(rename = "ref")]
    place: Ref,
    /// The number of the line on which the sentence begins.
    line: u64,
    /// The sentence, without markup.
    sentence: String,
}

impl HitItem {
    fn found(record: &TraceRecord, found: &TraceMatch) -> Self {
        let Some(section) = FoundSection::new(record, found) else { return Self::default() };
        Self {
            path: Some(section.place.path.clone()),
            start_line: section.place.start_line,
            signals: section.place.signals.clone().unwrap_or_default(),
            score: Some(section.score),
            conflict_with: record.conflicting_ids(found),
            kind: Some(section.kind),
            heading_path: Some(section.heading_path),
            line: Some(section.line),
            outside: section.outside,
            place: Some(section.place),
            ..Self::default()
        }
    }

    fn unsearchable(unsearchable: &UnsearchableFile, target: Target) -> Self {
        let manual_id = unsearchable.manual_id.as_deref().map(str::to_owned);
        let file = &unsearchable.file;
        // What lies beside the manuals is in none that a ref could name.
        let has_ref = target == Target::Vault || manual_id.is_some();
        Self {
            place: has_ref.then(|| Ref::new(target, manual_id, file.path.clone(), None)),
            path: Some(file.path.clone()),
            reason: Some(file.reason.name().to_owned()),
            ..Self::default()
        }
    }

    fn unscanned(part: &UnscannedPart, start: Option<Position>) -> Self {
        let start_line = start.map(|start| start.line.into());
        let target = if part.manual_id.is_some() { Target::Manual } else { Target::Vault };
        let manual_id = part.manual_id.as_deref().map(str::to_owned);
        let place = Ref::new(target, manual_id, part.path.clone(), start_line);
        let char = start.map(|start| u64::from(start.char)).filter(|char| *char > 0);
        let place = Ref { char, ..place };
        Self {
            place: Some(place),
            path: Some(part.path.clone()),
            start_line,
            reason: Some(part.reason.name().to_owned()),
            ..Self::default()
        }
    }
}

pub(crate) struct ManualHits;

impl Tool for ManualHits {
    const FACTS: Facts = facts(LibraryTool {
        name: "manual_hits",
        title: "Page through a find / 探索結果を見る",
        description: "Page through the results of manual_find or vault_find: matching sections, those not read yet, the best ones in rank order, related ones, contradictions, terms without a match, places that were not searched, or files that cannot be searched.",
        effect: Effect::Read,
        access: Access::Local(LIBRARY_READ),
        when: "After a search, for more than its best sections, or to see what it did not search.",
        safe_defaults: r#"{"trace_id":"…","kind":"integrated_top"}"#,
        common_errors: &[
            ("not_found", "the trace_id has expired; search again"),
            ("invalid_parameter", "limit is 1 to 200, and excerpt_chars at most 1000"),
        ],
    });
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let (principal, now) = (call.identity().principal(), Instant::now());
        let record = set.state.traces.get(&principal, &input.trace_id, "trace_id", now)?;
        let kind = input.kind.unwrap_or(HitKind::Candidates);
        let (offset, limit) = (input.offset.unwrap_or(0), input.limit.unwrap_or(50));
        let handed_out = set.state.ledger.of(&input.trace_id, now);
        let max_chars = set.state.settings.hard_max_chars;
        let max_excerpt_chars = input.excerpt_chars.unwrap_or(0).min(max_chars);
        let (total, items) = set
            .read(move |state, _| {
                let context = state.find_context();
                let terms = BestLine::of_question(&record.question)?;
                let best_line = |found: &TraceMatch| terms.line_of(&context, &record, found);
                let pages =
                    Pages { record: &record, handed_out, best_line: &best_line, context, offset, limit };
                let (total, items) = pages.page(kind);
                let excerpts = SectionExcerpts::new(context, &record, max_excerpt_chars)?;
                Ok((total, fitting(with_excerpts(items, excerpts), max_chars)))
            })
            .await?;
        call.note("trace_id", &input.trace_id);
        call.note("total", total);
        let next = offset.saturating_add(items.len());
        let next_offset = (next < total && !items.is_empty()).then_some(next);
        Ok(Reply::new(Output { trace_id: input.trace_id, kind, offset, limit, total, next_offset, items }))
    }
}

/// An entry of a page, with the match that it shows, where an excerpt of it may be added.
type PageItem<'a> = (Option<&'a TraceMatch>, HitItem);

/// Adds the excerpts of the sections, one after another, because most of them may not fit into the reply.
fn with_excerpts<'a>(
    items: Vec<PageItem<'a>>,
    mut excerpts: Option<SectionExcerpts<'a>>,
) -> impl Iterator<Item = HitItem> + 'a {
    items.into_iter().map(move |(found, item)| match (&mut excerpts, found, item.line) {
        (Some(excerpts), Some(found), Some(line)) => {
            HitItem { excerpt: excerpts.excerpt(found, line), ..item }
        }
        _ => item,
    })
}

/// The first entries whose JSON has at most this many characters together, but at least one.
fn fitting(items: impl Iterator<Item = HitItem>, max_chars: usize) -> Vec<HitItem> {
    let (mut chars, mut fits) = (0, Vec::new());
    for item in items {
        chars += serde_json::to_string(&item).map_or(0, |json| json.chars().count());
        if chars > max_chars && !fits.is_empty() {
            break;
        }
        fits.push(item);
    }
    fits
}

/// The pages of a trace.
struct Pages<'a> {
    record: &'a TraceRecord,
    handed_out: HandedOut,
    /// The best matching line of a match.
    best_line: &'a dyn Fn(&TraceMatch) -> u32,
    context: FindContext<'a>,
    offset: usize,
    limit: usize,
}

impl<'a> Pages<'a> {
    /// How many there are of a kind, and a page of them.
    fn page(&self, kind: HitKind) -> (usize, Vec<PageItem<'a>>) {
        let record = self.record;
        match kind {
            HitKind::Candidates => self.matches(record.evidence()),
            HitKind::Unread => {
                self.matches(record.evidence().filter(|found| !self.handed_out.has_match(record, found)))
            }
            HitKind::IntegratedTop => self.matches(record.best().take(MAX_TOP)),
            HitKind::Related => self.matches(record.matches.iter().filter(|found| !found.kind.is_evidence())),
            HitKind::Conflicts => self.entries(&record.conflicts, |pair| self.pair(pair)),
            HitKind::Variants => self.entries(&record.variants, |pair| self.pair(pair)),
            HitKind::Gaps => self.entries(&record.gaps, |hint| {
                Some((None, HitItem { gap_hint: Some(hint.clone()), ..HitItem::default() }))
            }),
            HitKind::Unscanned => {
                let items = unscanned_page(&record.unscanned, self.offset, self.limit);
                (record.unscanned_count(), items.into_iter().map(|item| (None, item)).collect())
            }
            HitKind::Unsearchable => self.entries(&record.unsearchable, |file| {
                Some((None, HitItem::unsearchable(file, record.target)))
            }),
        }
    }

    fn entries<T>(&self, all: &[T], item: impl Fn(&T) -> Option<PageItem<'a>>) -> (usize, Vec<PageItem<'a>>) {
        (all.len(), all.iter().skip(self.offset).take(self.limit).filter_map(item).collect())
    }

    fn matches(&self, matches: impl Iterator<Item = &'a TraceMatch>) -> (usize, Vec<PageItem<'a>>) {
        let matches: Vec<_> = matches.collect();
        self.entries(&matches, |found| Some((Some(*found), self.found(found))))
    }

    fn found(&self, found: &TraceMatch) -> HitItem {
        HitItem { line: Some((self.best_line)(found).into()), ..HitItem::found(self.record, found) }
    }

    /// A pair of sections, with both sentences.
    fn pair(&self, conflict: &TraceConflict) -> Option<PageItem<'a>> {
        let one = self.record.matches.get(conflict.one as usize)?;
        let other = self.record.matches.get(conflict.other as usize)?;
        let sides = [one, other].into_iter().zip(&conflict.sentences).filter_map(|(found, quote)| {
            Some(ConflictSide {
                place: self.record.ref_of(found)?,
                line: quote.first_line.into(),
                sentence: self.context.original_sentence(self.record, found, quote),
            })
        });
        let item = HitItem {
            reason: Some(conflict.about.clone()),
            conflict_with: vec![self.record.node_id(other)],
            conflict_refs: sides.collect(),
            ..self.found(one)
        };
        Some((None, item))
    }
}

/// A page of the places that were not searched: a whole file is one entry, otherwise each of its sections is one.
fn unscanned_page(parts: &[UnscannedPart], offset: usize, limit: usize) -> Vec<HitItem> {
    let (mut to_skip, mut items) = (offset, Vec::new());
    for part in parts {
        if items.len() == limit {
            break;
        }
        if to_skip >= part.count() {
            to_skip -= part.count();
            continue;
        }
        if part.starts.is_empty() {
            items.push(HitItem::unscanned(part, None));
        }
        let starts = part.starts.iter().skip(to_skip).take(limit - items.len());
        items.extend(starts.map(|start| HitItem::unscanned(part, Some(*start))));
        to_skip = 0;
    }
    items
}
