//! Fuses the ranking of a question with those of its other wordings.

use std::collections::{HashMap, HashSet};

use super::candidate::{Candidate, NEXT_SCORE};
use super::matching::MatchOutcome;
use super::place::NodePlace;
use super::ranking::{Ranked, covered_weight};

/// The number of best sections of each other wording that count. Those that rank lower would add little to the fused
/// ranking, and much to what a caller has to read.
pub const MAX_FUSED: usize = 50;
/// How much the ranking of the question counts, relative to 1 for that of another wording.
const QUESTION_WEIGHT: f32 = 2.0;
/// The best section of the question is among this number of first sections, whatever the other wordings are about.
const QUESTION_PLACES: usize = 3;

/// The sections that another wording of a question ranks best.
pub struct WordingRanking<'a> {
    /// The result of its matching.
    pub matched: &'a MatchOutcome,
    /// Its best sections, best first.
    pub best: Vec<Candidate>,
}

/// Orders the best sections by how the question and its other wordings score them, and adds those that only the other
/// wordings found. A section has the mean of its scores relative to the best one of each ranking. A ranking counts as
/// much as its best section covers the terms of its wording: what stands nowhere says nothing.
pub fn fuse_wordings(ranked: &mut Ranked, matched: &MatchOutcome, others: &[WordingRanking<'_>]) {
    if others.iter().all(|other| other.best.is_empty()) {
        return;
    }
    let question_best = ranked.best.first().map(|best| best.place);
    let question = (QUESTION_WEIGHT * coverage(matched, &ranked.best), ranked.best.as_slice());
    let lists = others.iter().map(|other| (coverage(other.matched, &other.best), other.best.as_slice()));
    let lists: Vec<(f32, &[Candidate])> =
        std::iter::once(question).chain(lists).filter(|(_, list)| !list.is_empty()).collect();
    let best_score = |list: &[Candidate]| list.first().map_or(0.0, |best| best.score).max(f32::MIN_POSITIVE);
    let total: f32 = lists.iter().map(|(weight, _)| weight).sum::<f32>().max(f32::MIN_POSITIVE);
    let scale = lists.first().map_or(0.0, |(_, list)| best_score(list));
    let mut scores: HashMap<NodePlace, f32> = HashMap::new();
    for (weight, list) in &lists {
        let factor = scale * weight / (total * best_score(list));
        for candidate in *list {
            *scores.entry(candidate.place).or_default() += factor * candidate.score;
        }
    }
    add_others(ranked, matched, others);
    for candidate in &mut ranked.best {
        candidate.score = scores.get(&candidate.place).copied().unwrap_or_default();
    }
    ranked.best.sort_by(|one, other| {
        let by_score = other.score.total_cmp(&one.score).then(one.place.cmp(&other.place));
        one.is_outside.cmp(&other.is_outside).then(by_score)
    });
    if let Some(place) = question_best {
        keep_in_sight(&mut ranked.best, place);
    }
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

/// Moves a section forward to the last of the places where it has to be seen, and lowers the scores behind it, because a
/// later stage sorts by score.
fn keep_in_sight(best: &mut [Candidate], place: NodePlace) {
    let Some(at) = best.iter().position(|candidate| candidate.place == place) else { return };
    if at < QUESTION_PLACES {
        return;
    }
    if let Some(moved) = best.get_mut(QUESTION_PLACES - 1..=at) {
        moved.rotate_right(1);
        if let [first, second, ..] = moved {
            first.score = second.score;
        }
    }
    let mut last = f32::MAX;
    for candidate in best.iter_mut().take(at + 1) {
        candidate.score = candidate.score.min(last * NEXT_SCORE);
        last = candidate.score;
    }
}

#[cfg(test)]
#[path = "wording_fusion_tests.rs"]
mod tests;
