//! What both finds conclude from a pass through the stages: conflicts, gaps, whether it is enough, and the trace.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use annai_core::{Principal, ToolError};

use super::candidate::Candidate;
use super::conflicts::conflicts;
use super::gaps::{gaps, sufficiency};
use super::matching::Matched;
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

/// From this sufficiency on the candidates are enough, unless there are gaps or conflicts. Found on the questions of
/// `annai eval`: answered ones are seldom below it.
const MIN_SUFFICIENT: f64 = 0.6;

/// What both finds conclude.
pub struct Conclusion {
    /// The id by which the trace is kept.
    pub trace_id: String,
    /// What was seen.
    pub record: Arc<TraceRecord>,
    /// The terms that no candidate covers, as bits.
    pub gap_terms: u64,
    /// How many pairs of sections disagree.
    pub conflict_count: usize,
    /// How many things nothing was found for.
    pub gap_count: usize,
    /// How far the question is answered, 0 to 1.
    pub sufficiency: f64,
    /// Whether that is enough.
    pub status: IntegrationStatus,
    /// How many files were looked at.
    pub scanned_files: usize,
    /// How many nodes were looked at.
    pub scanned_nodes: usize,
    /// The share of the candidates that the file with the most of them has.
    pub file_bias: f64,
    /// Why something was left out.
    pub cutoff: Option<SkipReason>,
}

/// What a conclusion is drawn from.
pub struct Evidence<'a> {
    /// The indexes that were looked at.
    pub views: &'a [View],
    /// What of them was to be looked at.
    pub scope: &'a SearchScope<'a>,
    /// What the stages found.
    pub outcome: &'a StageOutcome,
    /// Whether they are of the manuals or of the vault.
    pub target: Target,
}

/// Draws the conclusion and keeps the trace.
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
    let sufficiency = rounded(sufficiency(&outcome.matched.weights, candidates, &gaps));
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

/// The share of the candidates that the file with the most of them has.
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

/// How many files and nodes were looked at.
fn scanned(views: &[View], scope: &SearchScope<'_>, matched: &Matched) -> (usize, usize) {
    let missed: HashSet<_> = matched.missed.iter().collect();
    let (mut files, mut nodes) = (0, 0);
    for (view_index, view) in (0_u32..).zip(views) {
        for (segment_index, segment) in (0_u32..).zip(&view.segments) {
            for (number, file) in (0..).zip(&segment.files) {
                let stale = view.stale.contains(&(segment_index as usize, number));
                if stale || missed.contains(&(view_index, segment_index)) {
                    continue;
                }
                let looked_at = match scope.grant(view_index as usize, segment_index as usize, number) {
                    FileGrant::All => file.nodes.len(),
                    FileGrant::None => continue,
                    FileGrant::Lines(lines) => lines.len(),
                };
                files += 1;
                nodes += looked_at;
            }
        }
    }
    (files, nodes)
}
