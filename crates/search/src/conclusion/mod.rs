//! The conclusion that both finds draw from a pass through the stages: conflicts, gaps and sufficiency.

pub mod absence;
pub mod conflicts;
pub mod coverage;
pub mod gaps;
pub mod near_headings;
pub mod report;
pub mod sentences;
pub mod sufficiency;
pub mod term_counts;
pub mod term_presence;

use std::collections::HashMap;

use crate::conclusion::conflicts::{Contradictions, contradictions};
use crate::conclusion::gaps::{Gaps, gaps};
use crate::conclusion::report::{IntegrationStatus, rounded};
use crate::conclusion::sufficiency::{MIN_READY, Outcome, SufficiencySignals, WordingSignals};
use crate::index::View;
use crate::matching::candidate::Candidate;
use crate::matching::place::{FilePlace, NodePlace, file_at, file_of};
use crate::ranking::MAX_SHOWN;
use crate::reference::Target;
use crate::stages::StageOutcome;

/// The conclusion of a find.
pub struct Conclusion {
    /// The pairs of sections that contradict each other, or differ by design.
    pub contradictions: Contradictions,
    /// The gaps.
    pub gaps: Gaps,
    /// The probability that the best five sections hold the answer.
    pub sufficiency: f64,
    /// Whether the result is sufficient.
    pub status: IntegrationStatus,
    /// The share of the candidates that lie in the file with the most of them.
    pub file_bias: f64,
}

/// What the conclusion is drawn from.
pub struct Evidence<'a> {
    /// The indexes that were searched.
    pub views: &'a [View],
    /// The result of the stages.
    pub outcome: &'a StageOutcome,
    /// Whether the manuals or the vault were searched.
    pub target: Target,
}

/// Draws the conclusion. Sections outside the manual that was asked for do not count for it.
pub fn conclude(evidence: &Evidence<'_>) -> Conclusion {
    let &Evidence { views, outcome, target } = evidence;
    let inside = outcome.inside();
    let contradictions = contradictions(views, &outcome.query, inside);
    let gaps = gaps(views, &outcome.query, inside, outcome.inside_terms());
    let gaps = if target == Target::Vault { gaps.ignoring_intent() } else { gaps };
    let weights = outcome.matched.term_weights.as_slice();
    let signals =
        SufficiencySignals::of(&Outcome { views, query: &outcome.query, weights, candidates: inside });
    let has_evidence = outcome.evidence().any(|candidate| !candidate.is_outside);
    let sufficiency = if has_evidence {
        rounded(signals.probability(WordingSignals::of(views, outcome).as_ref()))
    } else {
        0.0
    };
    let shown = inside.get(..MAX_SHOWN.min(inside.len())).unwrap_or_default();
    let is_shown = |place: NodePlace| shown.iter().any(|candidate| candidate.place == place);
    let has_conflict =
        contradictions.conflicts.iter().any(|conflict| is_shown(conflict.one) || is_shown(conflict.other));
    let status = match has_evidence {
        // Matches outside the manual that was asked for do not answer, but they are there to be read.
        false if outcome.evidence().next().is_some() => IntegrationStatus::NeedsFollowup,
        false => IntegrationStatus::Blocked,
        _ if sufficiency >= MIN_READY && !has_conflict => IntegrationStatus::Ready,
        _ => IntegrationStatus::NeedsFollowup,
    };
    let file_bias = file_bias(views, &outcome.evidence().collect::<Vec<_>>());
    Conclusion { contradictions, gaps, sufficiency, status, file_bias }
}

/// All candidates of a find: evidence and related sections.
pub fn all_candidates(outcome: &StageOutcome) -> Vec<&Candidate> {
    outcome.candidates.iter().chain(&outcome.more_evidence).collect()
}

/// The share of the candidates that lie in the file with the most of them; 0 without candidates.
pub fn file_bias(views: &[View], candidates: &[&Candidate]) -> f64 {
    let most = dominant_file(views, candidates).map_or(0, |(_, count)| count);
    most as f64 / candidates.len().max(1) as f64
}

/// The share of the searched sections that lie in the file with the most candidates; 0 without candidates.
pub fn dominant_file_share(views: &[View], candidates: &[&Candidate]) -> f64 {
    let Some((_, file)) = dominant_file(views, candidates).and_then(|(file, _)| file_at(views, file)) else {
        return 0.0;
    };
    let files = views.iter().flat_map(|view| &view.segments).flat_map(|segment| &segment.files);
    let total: u64 = files.map(|file| u64::from(file.sections)).sum();
    f64::from(file.sections) / total.max(1) as f64
}

/// The file with the most candidates, and how many it has.
fn dominant_file(views: &[View], candidates: &[&Candidate]) -> Option<(FilePlace, usize)> {
    let mut files: HashMap<FilePlace, usize> = HashMap::new();
    // Most candidates follow another one of the same file, so that the map is seldom needed.
    let mut run: Option<(FilePlace, usize)> = None;
    for file in candidates.iter().filter_map(|candidate| file_of(views, candidate.place)) {
        match &mut run {
            Some((last, count)) if *last == file => *count += 1,
            _ => {
                let (last, count) = run.replace((file, 1)).unwrap_or((file, 0));
                *files.entry(last).or_default() += count;
            }
        }
    }
    if let Some((last, count)) = run {
        *files.entry(last).or_default() += count;
    }
    files.into_iter().max_by_key(|(file, count)| (*count, std::cmp::Reverse(*file)))
}

#[cfg(test)]
mod tests;
