//! Builds the trace of a find from the result of the stages.

use std::collections::HashMap;
use std::sync::Arc;

use crate::conclusion::conflicts::{Conflict, Contradictions};
use crate::conclusion::coverage::FileCoverage;
use crate::conclusion::report::{FindSummary, Left, SearchCoverage, SignalCoverage, rounded};
use crate::conclusion::term_presence::TermPresence;
use crate::conclusion::{Conclusion, all_candidates};
use crate::excerpts::best_line::BestLine;
use crate::index::{FileEntry, Segment, View};
use crate::matching::candidate::Candidate;
use crate::matching::place::{FilePlace, NodePlace, file_at, file_of, node_at};
use crate::query::terms::Goal;
use crate::reference::{NextAction, Target};
use crate::stages::StageOutcome;
use crate::trace::unscanned::{SkipReason, UnscannedPart, count_left_out, manual_id};
use crate::trace::{MAX_TOP, Reach, TraceConflict, TraceFile, TraceHeading, TraceMatch, TraceRecord};
use annai_core::cancellation::checkpoint;
use annai_text::{NodeKind, Position, Span, Structure};

/// The maximum length of a section in bytes that is suggested to be read as a whole, with its
/// subsections: what one call of manual_read returns by default. Of a longer one only its own text is suggested.
const MAX_SECTION_BYTES: u32 = 8000;

/// The matches of a find, with their files and headings.
#[derive(Debug, Default)]
pub struct TraceMatches {
    /// The files that contain a match.
    pub files: Vec<TraceFile>,
    /// The headings, each with the one above it.
    pub headings: Vec<TraceHeading>,
    /// The matches, in document order.
    pub matches: Vec<TraceMatch>,
    /// The best matches, best first, as indexes into `matches`.
    pub ranked: Vec<u32>,
    /// The pairs of matches that contradict each other.
    pub conflicts: Vec<TraceConflict>,
    /// The pairs of matches that differ by design.
    pub variants: Vec<TraceConflict>,
}

/// What the trace of a find is made of.
pub struct FindResult<'a> {
    /// Whether the manuals or the vault were searched.
    pub target: Target,
    /// The question.
    pub question: &'a str,
    /// The goal that the caller set.
    pub goal: Option<Goal>,
    /// The indexes that were searched.
    pub views: &'a [View],
    /// The result of the stages.
    pub outcome: &'a StageOutcome,
    /// The files.
    pub coverage: &'a FileCoverage,
    /// The conclusion.
    pub conclusion: &'a Conclusion,
    /// The files that were searched.
    pub reach: Reach,
}

/// The trace of a find, without what to do next.
pub fn trace_record(result: FindResult<'_>) -> TraceRecord {
    let FindResult { target, question, goal, views, outcome, coverage, conclusion, reach } = result;
    let matches = trace_matches(views, outcome, &conclusion.contradictions);
    TraceRecord {
        target,
        question: question.to_owned(),
        goal: goal.unwrap_or(outcome.query.goal),
        is_follow_up: false,
        files: matches.files,
        headings: matches.headings,
        matches: matches.matches,
        ranked: matches.ranked,
        unscanned: outcome.unscanned.clone(),
        unsearchable: coverage.unsearchable.clone(),
        conflicts: matches.conflicts,
        variants: matches.variants,
        gaps: conclusion.gaps.hints.clone(),
        reach,
        follow_up: NextAction::stop(0.5),
    }
}

/// What a summary of either find has.
pub fn summary_of(
    target: Target,
    outcome: &StageOutcome,
    conclusion: &Conclusion,
    files: &FileCoverage,
    coverage: SearchCoverage,
) -> FindSummary {
    let evidence = outcome.evidence().count();
    let unscanned = outcome.unscanned.iter().map(UnscannedPart::count).sum();
    let left = Left { cut: count_left_out(&outcome.unscanned), unread: coverage.unread, unscanned };
    let Contradictions { conflicts, variants, is_limited } = &conclusion.contradictions;
    FindSummary {
        scanned_files: files.scanned,
        scanned_nodes: files.scanned_nodes,
        candidates: evidence,
        warnings: 0,
        max_stage_applied: outcome.stage,
        scope_expanded: false,
        unscanned_sections_count: unscanned,
        integrated_candidates: outcome.hits,
        integrated_nodes: evidence,
        signal_coverage: SignalCoverage::of(target, &all_candidates(outcome)),
        file_bias_ratio: rounded(conclusion.file_bias),
        conflict_count: conflicts.len(),
        variant_count: variants.len(),
        conflicts_limited: is_limited.then_some(true),
        gap_count: conclusion.gaps.hints.len(),
        gap_ranges_count: None,
        sufficiency_score: conclusion.sufficiency,
        integration_status: conclusion.status.for_goal(coverage.goal, left),
        cutoff_reason: SkipReason::most_important(&outcome.unscanned),
        escalation_reasons: Vec::new(),
        outside_candidates: None,
        coverage,
        presence: TermPresence::default(),
    }
}

/// Collects the matches of a find.
pub fn trace_matches(
    views: &[View],
    outcome: &StageOutcome,
    contradictions: &Contradictions,
) -> TraceMatches {
    let mut builder = MatchBuilder {
        views,
        best_line: BestLine::of_outcome(outcome),
        manual_ids: views.iter().map(manual_id).collect(),
        found: TraceMatches::default(),
        last_file: None,
        known_headings: HashMap::new(),
    };
    let ranked = outcome.candidates.iter().enumerate().map(|(rank, candidate)| (Some(rank), candidate));
    let mut all: Vec<_> = ranked.chain(outcome.more_evidence.iter().map(|more| (None, more))).collect();
    sort_by_document(views, &mut all);
    let mut numbers: HashMap<NodePlace, u32> = HashMap::new();
    let mut ranks = vec![u32::MAX; outcome.candidates.len()];
    for (rank, candidate) in all {
        checkpoint();
        let number = u32::try_from(builder.found.matches.len()).unwrap_or(u32::MAX);
        if builder.add(candidate, rank).is_some() {
            if rank.is_some() {
                numbers.insert(candidate.place, number);
            }
            rank.and_then(|rank| ranks.get_mut(rank)).into_iter().for_each(|at| *at = number);
        }
    }
    // Sections that are only related answer nothing where no section matches: they are listed and not suggested.
    if outcome.evidence().next().is_some() {
        builder.found.ranked = ranks.into_iter().filter(|number| *number != u32::MAX).collect();
    }
    let pairs = |conflicts: &[Conflict]| -> Vec<TraceConflict> {
        let pair = |conflict: &Conflict| {
            let (one, other) = (*numbers.get(&conflict.one)?, *numbers.get(&conflict.other)?);
            let (about, sentences) = (conflict.about.clone(), conflict.sentences.clone());
            Some(TraceConflict { one, other, about, sentences })
        };
        conflicts.iter().filter_map(pair).collect()
    };
    builder.found.conflicts = pairs(&contradictions.conflicts);
    builder.found.variants = pairs(&contradictions.variants);
    builder.found
}

/// Sorts by manual, path and line. The matches of a file are moved together, because there are many more matches than
/// files.
fn sort_by_document(views: &[View], all: &mut Vec<(Option<usize>, &Candidate)>) {
    all.sort_unstable_by_key(|(_, candidate)| candidate.place);
    let same_file = |one: &(Option<usize>, &Candidate), other: &(Option<usize>, &Candidate)| {
        file_of(views, one.1.place) == file_of(views, other.1.place)
    };
    let mut files: Vec<_> = all.chunk_by(same_file).collect();
    let path = |run: &&[(Option<usize>, &Candidate)]| {
        let place = run.first().and_then(|(_, candidate)| file_of(views, candidate.place));
        place.map(|place| (place.view, file_at(views, place).map_or("", |(_, file)| file.path.as_str())))
    };
    files.sort_by_key(path);
    *all = files.concat();
}

struct MatchBuilder<'a> {
    views: &'a [View],
    best_line: BestLine,
    manual_ids: Vec<Option<Arc<str>>>,
    found: TraceMatches,
    /// The file of the match before, and its index.
    last_file: Option<(FilePlace, u32)>,
    known_headings: HashMap<NodePlace, u32>,
}

impl MatchBuilder<'_> {
    /// Adds a match; none where its place does not exist.
    fn add(&mut self, candidate: &Candidate, rank: Option<usize>) -> Option<()> {
        let (segment, node) = node_at(self.views, candidate.place)?;
        let file = segment.file_of(node)?;
        // A paragraph, a plain text, a JSON value or a passage of a long section may be long, and a reader wants the line of
        // the match, unless it begins inside a line: then its place says more than the line.
        let may_be_long = file.structure != Structure::Headings || node.is_continuation;
        let names_best_line = may_be_long && node.start_char == 0 && rank.is_some();
        let is_among_best = rank.is_some_and(|rank| rank < MAX_TOP);
        let best_line = if is_among_best || names_best_line { self.best_line.find(segment, node) } else { 0 };
        let found = TraceMatch {
            file: self.file(candidate.place)?,
            heading: self.heading(candidate.place)?,
            span: span_of(segment, file, candidate.place.node)?,
            ref_line: if names_best_line { best_line } else { node.start_line },
            best_line,
            score: candidate.score,
            signals: candidate.signals,
            kind: candidate.kind,
            is_outside: candidate.is_outside,
            fits_one_read: !node.is_continuation && fits_one_read(segment, file, candidate.place.node),
            json_path: node.json_path.clone(),
        };
        self.found.matches.push(found);
        Some(())
    }

    fn file(&mut self, place: NodePlace) -> Option<u32> {
        let file_place = file_of(self.views, place)?;
        // The matches of a file come together.
        if let Some((_, known)) = self.last_file.filter(|(last, _)| *last == file_place) {
            return Some(known);
        }
        let (_, file) = file_at(self.views, file_place)?;
        let number = u32::try_from(self.found.files.len()).ok()?;
        self.found.files.push(TraceFile {
            manual_id: self.manual_ids.get(place.view as usize).cloned().flatten(),
            path: file.path.clone(),
            sha256: file.sha256,
            encoding: file.encoding.other_name(),
            is_json: file.structure == Structure::Values,
        });
        self.last_file = Some((file_place, number));
        Some(number)
    }

    /// The heading of a node, with those above it.
    fn heading(&mut self, place: NodePlace) -> Option<u32> {
        if let Some(known) = self.known_headings.get(&place) {
            return Some(*known);
        }
        let (_, node) = node_at(self.views, place)?;
        let above = node.parent.map(|parent| NodePlace { node: parent, ..place });
        // A passage after the first one has the heading of its section.
        if let (true, Some(above)) = (node.is_continuation, above) {
            return self.heading(above);
        }
        let parent = above.and_then(|above| self.heading(above));
        let number = u32::try_from(self.found.headings.len()).ok()?;
        self.found.headings.push(TraceHeading { parent, title: node.title.as_str().into() });
        self.known_headings.insert(place, number);
        Some(number)
    }
}

/// The own text of a node, without its subsections.
pub fn span_of(segment: &Segment, file: &FileEntry, index: u32) -> Option<Span> {
    let node = segment.node(index)?;
    let start = Position { line: node.start_line, char: node.start_char };
    let next = segment.node(index + 1).filter(|_| index + 1 < file.nodes.end);
    let end = match next {
        // The next node starts on the last line of this one.
        Some(next) if next.start_line <= node.own_end_line => {
            Position { line: next.start_line, char: next.start_char }
        }
        _ => Position::line_start(node.own_end_line + 1),
    };
    Some(start..end)
}

/// Whether a section with its subsections is short enough to be read as a whole.
fn fits_one_read(segment: &Segment, file: &FileEntry, index: u32) -> bool {
    let Some(node) = segment.node(index) else { return false };
    let mut bytes = node.bytes;
    // A page is read together with the page after it.
    let mut pages_left = u8::from(node.kind == NodeKind::PageBreak);
    for (_, other) in segment.nodes_from(file, index + 1) {
        // Sections on one line of HTML are told apart by their levels, not by their lines.
        let is_inside = other.is_continuation || other.level > node.level;
        let is_next_page =
            !is_inside && other.level == node.level && other.kind == NodeKind::PageBreak && pages_left > 0;
        pages_left -= u8::from(is_next_page);
        if !(is_inside || is_next_page) || bytes > MAX_SECTION_BYTES {
            break;
        }
        bytes = bytes.saturating_add(other.bytes);
    }
    bytes <= MAX_SECTION_BYTES
}

#[cfg(test)]
#[path = "trace_builder_tests.rs"]
mod tests;
