//! Fuses the ranking of a question with those of its other wordings.

use std::collections::{HashMap, HashSet};

use crate::matching::MatchOutcome;
use crate::matching::candidate::Candidate;
use crate::matching::place::NodePlace;
use crate::ranking::{Ranked, covered_weight};

/// The number of best sections of each other wording that count. Those that rank lower would add little to the fused
/// ranking, and much to what a caller has to read.
pub const MAX_FUSED: usize = 50;

/// The usual constant of reciprocal rank fusion.
const RANK_CONSTANT: f32 = 60.0;

/// What the rankings of wordings are fused by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fusion {
    /// Scores relative to the best one of each ranking.
    Scores,
    /// Ranks, as a search without anything fitted does; only measurements use it.
    Ranks,
}

/// The sections that another wording of a question ranks best.
pub struct WordingRanking<'a> {
    /// How much it counts, relative to 1 for the question.
    pub weight: f32,
    /// The result of its matching.
    pub matched: &'a MatchOutcome,
    /// Its best sections, best first.
    pub best: Vec<Candidate>,
}

/// Orders the best sections by how the question and its other wordings score them, and adds those that only the other
/// wordings found. A section has the weighted mean of its scores relative to the best one of each ranking. A ranking counts
/// as much as its best section covers the terms of its wording: what stands nowhere says nothing.
pub fn fuse_wordings(
    ranked: &mut Ranked,
    matched: &MatchOutcome,
    others: &[WordingRanking<'_>],
    fusion: Fusion,
) {
    if others.iter().all(|other| other.best.is_empty()) {
        return;
    }
    let scores = match fusion {
        Fusion::Scores => fused_scores(ranked, matched, others),
        Fusion::Ranks => fused_ranks(ranked, others),
    };
    add_others(ranked, matched, others);
    for candidate in &mut ranked.best {
        candidate.score = scores.get(&candidate.place).copied().unwrap_or_default();
    }
    ranked.best.sort_by(|one, other| {
        let by_score = other.score.total_cmp(&one.score).then(one.place.cmp(&other.place));
        one.is_outside.cmp(&other.is_outside).then(by_score)
    });
}

/// How much each section counts by the scores of the rankings.
fn fused_scores(
    ranked: &Ranked,
    matched: &MatchOutcome,
    others: &[WordingRanking<'_>],
) -> HashMap<NodePlace, f32> {
    let lists = others
        .iter()
        .map(|other| (other.weight * coverage(other.matched, &other.best), other.best.as_slice()));
    let question = (coverage(matched, &ranked.best), ranked.best.as_slice());
    let lists: Vec<(f32, &[Candidate])> =
        std::iter::once(question).chain(lists).filter(|(_, list)| !list.is_empty()).collect();
    let total: f32 = lists.iter().map(|(weight, _)| weight).sum::<f32>().max(f32::MIN_POSITIVE);
    let mut scores: HashMap<NodePlace, f32> = HashMap::new();
    for (weight, list) in &lists {
        let best_score = list.first().map_or(0.0, |best| best.score).max(f32::MIN_POSITIVE);
        for candidate in *list {
            // Each share by itself: the product of both divisors would underflow to 0.
            let share = (weight / total) * (candidate.score / best_score);
            *scores.entry(candidate.place).or_default() += share;
        }
    }
    scores
}

/// How much each section counts by its ranks alone, with the usual constant; the question counts double.
fn fused_ranks(ranked: &Ranked, others: &[WordingRanking<'_>]) -> HashMap<NodePlace, f32> {
    let mut scores: HashMap<NodePlace, f32> = HashMap::new();
    let others = others.iter().map(|other| (1.0, other.best.as_slice()));
    for (weight, list) in std::iter::once((2.0, ranked.best.as_slice())).chain(others) {
        for (rank, candidate) in (1_u16..).zip(list) {
            *scores.entry(candidate.place).or_default() += weight / (RANK_CONSTANT + f32::from(rank));
        }
    }
    scores
}

/// The share of the terms of a wording, by weight, that its best section contains.
fn coverage(matched: &MatchOutcome, best: &[Candidate]) -> f32 {
    let all = covered_weight(&matched.term_weights, u64::MAX).max(f32::MIN_POSITIVE);
    best.first().map_or(0.0, |best| covered_weight(&matched.term_weights, best.terms) / all)
}

/// Adds the sections that only other wordings found, and notes how these found the others.
fn add_others(ranked: &mut Ranked, matched: &MatchOutcome, others: &[WordingRanking<'_>]) {
    let mut known: HashMap<NodePlace, usize> =
        ranked.best.iter().enumerate().map(|(index, candidate)| (candidate.place, index)).collect();
    let mut added: HashSet<NodePlace> = HashSet::new();
    for candidate in others.iter().flat_map(|other| &other.best) {
        match known.get(&candidate.place).and_then(|index| ranked.best.get_mut(*index)) {
            Some(same) => {
                same.kind = same.kind.min(candidate.kind);
                same.signals = same.signals.with(candidate.signals);
            }
            None => {
                known.insert(candidate.place, ranked.best.len());
                added.insert(candidate.place);
                // The bits are those of another wording's terms.
                ranked.best.push(Candidate { terms: 0, ..candidate.clone() });
            }
        }
    }
    // Some of them match the question too, below its best sections.
    let count = ranked.more_evidence.len();
    ranked.more_evidence.retain(|evidence| !added.contains(&evidence.place));
    let evidence = count - ranked.more_evidence.len();
    let matching = matched.hits.iter().filter(|hit| added.contains(&hit.place)).count();
    ranked.more_related = ranked.more_related.saturating_sub(matching - evidence);
}

#[cfg(test)]
#[path = "wording_fusion_tests.rs"]
mod tests;
