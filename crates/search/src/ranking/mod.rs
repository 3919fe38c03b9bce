//! Ranks the matching nodes by their scores, best first.

pub mod wording_fusion;

use std::collections::HashSet;

use crate::matching::candidate::{Candidate, Signals};
use crate::matching::{MatchOutcome, NodeHit};
use crate::query::Query;

/// The number of best matches that a reply of a find shows.
pub const MAX_SHOWN: usize = 5;

/// The matching nodes in rank order.
pub struct Ranked {
    /// The best ones, best first: evidence and related sections.
    pub best: Vec<Candidate>,
    /// The evidence beyond them, in document order.
    pub more_evidence: Vec<Candidate>,
    /// The number of related sections beyond the best ones.
    pub more_related: usize,
}

/// Ranks the matching nodes. The order of the best `max_ranked` is exact. Nodes of the views that are `outside`, by
/// their indexes, rank below all others.
pub fn rank(query: &Query, matched: &MatchOutcome, max_ranked: usize, outside: &HashSet<u32>) -> Ranked {
    let is_outside = |hit: &NodeHit| outside.contains(&hit.place.view);
    let best_first = |one: &&NodeHit, other: &&NodeHit| {
        let by_score = other.score.total_cmp(&one.score).then(one.place.cmp(&other.place));
        is_outside(one).cmp(&is_outside(other)).then(by_score)
    };
    let mut hits: Vec<&NodeHit> = matched.hits.iter().collect();
    if hits.len() > max_ranked {
        hits.select_nth_unstable_by(max_ranked, best_first);
    }
    let (best, rest) = hits.split_at_mut(max_ranked.min(matched.hits.len()));
    best.sort_unstable_by(best_first);
    let deciding = query.deciding_terms();
    let candidate = |hit: &&NodeHit| candidate(hit, deciding, is_outside(hit));
    let more = rest.iter().map(candidate).filter(|other| other.kind.is_evidence());
    let mut more_evidence: Vec<_> = more.collect();
    more_evidence.sort_unstable_by_key(|other| other.place);
    let best = best.iter().map(candidate).collect();
    Ranked { best, more_related: rest.len() - more_evidence.len(), more_evidence }
}

/// The sum of the weights of the terms whose bits are set.
pub fn covered_weight(weights: &[f32], bits: u64) -> f32 {
    let weights = weights.iter().enumerate();
    weights.filter(|(index, _)| bits >> index & 1 == 1).map(|(_, weight)| weight).sum()
}

/// The candidate of a matching node; the terms that decide tell how it matched.
fn candidate(hit: &NodeHit, deciding: u64, is_outside: bool) -> Candidate {
    let signals = [
        (hit.heading != 0, Signals::HEADING),
        (hit.exact != 0, Signals::NORMALIZED),
        (hit.loose() != 0, Signals::LOOSE),
    ];
    let signals =
        signals.iter().filter(|(is_set, _)| *is_set).fold(Signals::default(), |all, (_, one)| all.with(*one));
    let (kind, terms) = (hit.kind(deciding), hit.terms());
    Candidate { place: hit.place, score: hit.score, signals, terms, kind, is_outside }
}

#[cfg(test)]
mod tests;
