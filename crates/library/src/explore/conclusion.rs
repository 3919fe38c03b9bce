//! The conclusion that both finds draw from a pass through the stages: conflicts, gaps, sufficiency, and the trace.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use annai_core::{Principal, ToolError};

use super::candidate::Candidate;
use super::conflicts::conflicts;
use super::gaps::{gaps, sufficiency};
use super::matching::MatchOutcome;
use super::place::{FilePlace, NodePlace, file_of};
use super::report::{IntegrationStatus, rounded};
use super::scope::{FileGrant, SearchScope};
use super::stages::StageOutcome;
use super::trace::TraceRecord;
use super::trace_builder::trace_record;
use super::trace_store::TraceStore;
use super::unscanned::SkipReason;
use crate::index::View;
use crate::reference::Target;

/// The minimum sufficiency of a find that is `ready`. Tuned with `annai eval`: answered questions seldom score lower.
/// Below it, the status is `needs_followup`.
const MIN_SUFFICIENT: f64 = 0.6;

/// The conclusion of a find.
pub struct Conclusion {
    /// The id of the trace.
    pub trace_id: String,
    /// The trace.
    pub record: Arc<TraceRecord>,
    /// The terms that no candidate contains, as a bit set.
    pub gap_terms: u64,
    /// The number of pairs of sections that contradict each other.
    pub conflict_count: usize,
    /// The number of gaps.
    pub gap_count: usize,
    /// How well the candidates answer the question, from 0 to 1.
    pub sufficiency: f64,
    /// Whether the result is sufficient.
    pub status: IntegrationStatus,
    /// The number of files that were searched.
    pub scanned_files: usize,
    /// The number of nodes that were searched.
    pub scanned_nodes: usize,
    /// The share of the candidates that lie in the file with the most of them.
    pub file_bias: f64,
    /// The most important reason why something was left out.
    pub cutoff: Option<SkipReason>,
}

/// What the conclusion is drawn from.
pub struct Evidence<'a> {
    /// The indexes that were searched.
    pub views: &'a [View],
    /// Which sections of them were in scope.
    pub scope: &'a SearchScope<'a>,
    /// The result of the stages.
    pub outcome: &'a StageOutcome,
    /// Whether the manuals or the vault were searched.
    pub target: Target,
}

/// Draws the conclusion and stores the trace.
pub fn conclude(
    evidence: &Evidence<'_>,
    traces: &TraceStore,
    owner: &Principal,
    now: Instant,
) -> Result<Conclusion, ToolError> {
    let &Evidence { views, scope, outcome, target } = evidence;
    let candidates = outcome.candidates.as_slice();
    let conflicts = conflicts(views, &outcome.query, candidates);
    let gaps = gaps(views, &outcome.query, candidates);
    let gaps = if target == Target::Vault { gaps.ignoring_intent() } else { gaps };
    let sufficiency = rounded(sufficiency(&outcome.matched.term_weights, candidates, &gaps));
    let (conflict_count, gap_count) = (conflicts.len(), gaps.hints.len());
    let status = match candidates.len() {
        0 => IntegrationStatus::Blocked,
        _ if sufficiency >= MIN_SUFFICIENT && gap_count == 0 && conflict_count == 0 => {
            IntegrationStatus::Ready
        }
        _ => IntegrationStatus::NeedsFollowup,
    };
    let (scanned_files, scanned_nodes) = scanned(views, scope, &outcome.matched);
    let record = Arc::new(trace_record(views, outcome, &conflicts, gaps.hints, target));
    Ok(Conclusion {
        trace_id: traces.keep(owner, record.clone(), now)?,
        cutoff: SkipReason::most_important(&record.unscanned),
        record,
        gap_terms: gaps.terms,
        conflict_count,
        gap_count,
        sufficiency,
        status,
        scanned_files,
        scanned_nodes,
        file_bias: file_bias(views, candidates),
    })
}

/// The share of the candidates that lie in the file with the most of them; 0 without candidates.
pub fn file_bias(views: &[View], candidates: &[Candidate]) -> f64 {
    let mut files: HashMap<FilePlace, usize> = HashMap::new();
    let no_file = |place: NodePlace| FilePlace { view: place.view, segment: place.segment, file: 0 };
    for candidate in candidates {
        let file = file_of(views, candidate.place).unwrap_or_else(|| no_file(candidate.place));
        *files.entry(file).or_default() += 1;
    }
    let most = files.values().max().copied().unwrap_or_default();
    most as f64 / candidates.len().max(1) as f64
}

/// The number of files and nodes that were searched.
fn scanned(views: &[View], scope: &SearchScope<'_>, matched: &MatchOutcome) -> (usize, usize) {
    let skipped: HashSet<_> = matched.skipped_segments.iter().collect();
    let (mut files, mut nodes) = (0, 0);
    for (view_index, view) in (0_u32..).zip(views) {
        for (segment_index, segment) in (0_u32..).zip(&view.segments) {
            for (number, file) in (0..).zip(&segment.files) {
                let stale = view.stale.contains(&(segment_index as usize, number));
                if stale || skipped.contains(&(view_index, segment_index)) {
                    continue;
                }
                let searched = match scope.grant(view_index as usize, segment_index as usize, number) {
                    FileGrant::All => file.nodes.len(),
                    FileGrant::None => continue,
                    FileGrant::Lines(lines) => lines.len(),
                };
                files += 1;
                nodes += searched;
            }
        }
    }
    (files, nodes)
}

#[cfg(test)]
#[path = "conclusion_tests.rs"]
mod tests;
