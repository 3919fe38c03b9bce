//! `manual_hits`.

use std::time::Instant;

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::explore::{TraceItem, TraceRecord, UnscannedPart};
use crate::reference::{Ref, Target};
use crate::toolset::{LIBRARY_READ, Library};

/// What to show.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The trace_id that manual_find or vault_find returned. It expires after 30 minutes, unless the server sets
    /// TRACE_TTL_SEC.
    pub trace_id: String,
    /// What to list (default `candidates`): all matching sections, places that were not searched, contradictions,
    /// terms without a match, or the best sections in rank order (`integrated_top`).
    pub kind: Option<HitKind>,
    /// How many entries to skip (default 0).
    pub offset: Option<usize>,
    /// The maximum number of entries to return (default 50).
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<usize>,
}

/// What of a find is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HitKind {
    Candidates,
    Unscanned,
    Conflicts,
    Gaps,
    IntegratedTop,
}

/// A page.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Output {
    /// The search that the entries belong to.
    pub trace_id: String,
    /// What is listed.
    pub kind: HitKind,
    /// How many entries were skipped.
    pub offset: usize,
    /// The maximum number of entries in `items`.
    pub limit: usize,
    /// How many entries there are in all.
    pub total: usize,
    /// The entries of this page.
    pub items: Vec<HitItem>,
}

/// One entry: a section, a place that was not searched, a contradiction, or a term without a match.
#[derive(Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct HitItem {
    /// The place, in the form that other tools accept.
    #[serde(rename = "ref")]
    pub place: Option<Ref>,
    /// The file's path, relative to its manual or to the vault.
    pub path: Option<String>,
    /// The line, counted from 1; null for a whole file.
    pub start_line: Option<u64>,
    /// For unscanned places: why they were not searched (`time_budget`, `candidate_cap`, `stage_cap`, `hard_limit`).
    /// For conflicts: what the sections disagree about.
    pub reason: Option<String>,
    /// How the section matched: `heading`, `normalized`, `loose`, `exceptions`, `reference`.
    pub signals: Vec<String>,
    /// The rank score, comparable within this search only.
    pub score: Option<f64>,
    /// The node_ids of the sections that contradict this one.
    pub conflict_with: Vec<String>,
    /// The term that nothing was found for.
    pub gap_hint: Option<String>,
}

impl HitItem {
    fn found(item: &TraceItem) -> Self {
        Self {
            path: Some(item.place.path.clone()),
            start_line: item.place.start_line,
            signals: item.place.signals.clone().unwrap_or_default(),
            score: Some(item.score),
            conflict_with: item.conflict_with.clone(),
            place: Some(item.place.clone()),
            ..Self::default()
        }
    }

    fn unscanned(part: &UnscannedPart, line: Option<u32>) -> Self {
        let start_line = line.map(u64::from);
        let target = if part.manual_id.is_some() { Target::Manual } else { Target::Vault };
        let manual_id = part.manual_id.as_deref().map(str::to_owned);
        let place = Ref::new(target, manual_id, part.path.clone(), start_line);
        Self {
            place: Some(place),
            path: Some(part.path.clone()),
            start_line,
            reason: Some(part.reason.name().to_owned()),
            ..Self::default()
        }
    }
}

/// Show page by page what a find saw, and what it did not.
pub struct ManualHits;

impl Tool for ManualHits {
    const FACTS: Facts = Facts {
        name: "manual_hits",
        title: "Page through a find / 探索結果を見る",
        description: "Page through the results of manual_find or vault_find: matching sections, the best ones in rank order, contradictions, terms without a match, or places that were not searched.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::Local(LIBRARY_READ),
        sponsor: Sponsor::Never,
        widget: None,
        guide: Guide {
            when: "After a search, for more than its best sections, or to see what it did not search.",
            safe_defaults: r#"{"trace_id":"…","kind":"integrated_top"}"#,
            common_errors: &[
                ("not_found", "the trace_id has expired; search again"),
                ("invalid_parameter", "limit is 1 to 200"),
            ],
        },
    };
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let principal = call.identity().principal();
        let record = set.state.traces.get(&principal, &input.trace_id, "trace_id", Instant::now())?;
        let kind = input.kind.unwrap_or(HitKind::Candidates);
        let (offset, limit) = (input.offset.unwrap_or(0), input.limit.unwrap_or(50));
        let (total, items) = page(&record, kind, offset, limit);
        call.note("trace_id", &input.trace_id);
        call.note("total", total);
        Ok(Reply::new(Output { trace_id: input.trace_id, kind, offset, limit, total, items }))
    }
}

/// How many there are of a kind, and a page of them.
fn page(record: &TraceRecord, kind: HitKind, offset: usize, limit: usize) -> (usize, Vec<HitItem>) {
    let found = |items: &[TraceItem]| {
        (items.len(), items.iter().skip(offset).take(limit).map(HitItem::found).collect())
    };
    match kind {
        HitKind::Candidates => found(&record.candidates),
        HitKind::IntegratedTop => found(&record.top),
        HitKind::Conflicts => {
            let items = record.conflicts.iter().skip(offset).take(limit);
            let items =
                items.map(|(item, about)| HitItem { reason: Some(about.clone()), ..HitItem::found(item) });
            (record.conflicts.len(), items.collect())
        }
        HitKind::Gaps => {
            let items = record.gaps.iter().skip(offset).take(limit);
            (
                record.gaps.len(),
                items.map(|hint| HitItem { gap_hint: Some(hint.clone()), ..HitItem::default() }).collect(),
            )
        }
        HitKind::Unscanned => (record.unscanned_count(), unscanned_page(&record.unscanned, offset, limit)),
    }
}

/// A page of the places that were not searched: a part without lines is one entry, otherwise each of its lines is one.
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
        if part.lines.is_empty() {
            items.push(HitItem::unscanned(part, None));
        }
        let lines = part.lines.iter().skip(to_skip).take(limit - items.len());
        items.extend(lines.map(|line| HitItem::unscanned(part, Some(*line))));
        to_skip = 0;
    }
    items
}
