//! Keeps one file from taking all of the first places.

use std::collections::HashMap;

use super::candidate::{Candidate, NEXT_SCORE};
use super::place::{FilePlace, file_of};
use super::reading_order::MAX_SHOWN;
use crate::index::View;

/// The maximum number of sections of one file among those that a reply shows.
const MAX_OF_ONE_FILE: usize = 3;
/// A section of another file takes the place of one more of the same file only with at least this share of the best score.
const MIN_SHARE: f32 = 0.5;

/// Moves sections of other files into the places that a reply shows, where one file has too many of them and the others
/// are good enough. The candidates are sorted, best first, those outside the manual that was asked for last.
pub fn limit_one_file(views: &[View], candidates: &mut Vec<Candidate>) {
    let Some(best) = candidates.first() else { return };
    let (is_outside, min_score) = (best.is_outside, best.score * MIN_SHARE);
    let is_good = |candidate: &Candidate| candidate.is_outside == is_outside && candidate.score >= min_score;
    let good = candidates.iter().position(|candidate| !is_good(candidate)).unwrap_or(candidates.len());
    let mut counts: HashMap<FilePlace, usize> = HashMap::new();
    let mut is_surplus = |candidate: &Candidate| {
        let count = file_of(views, candidate.place).map(|file| counts.entry(file).or_default());
        count.is_some_and(|count| {
            *count += 1;
            *count > MAX_OF_ONE_FILE
        })
    };
    let good = candidates.iter().take(good).enumerate().filter(|(_, candidate)| !is_surplus(candidate));
    let mut shown: Vec<usize> = good.map(|(index, _)| index).take(MAX_SHOWN).collect();
    // Where too few others are good enough, the next ones by rank fill the places.
    let rest: Vec<usize> =
        (0..candidates.len()).filter(|index| !shown.contains(index)).take(MAX_SHOWN).collect();
    shown.extend(rest.into_iter().take(MAX_SHOWN - shown.len()));
    shown.sort_unstable();
    if shown.iter().enumerate().any(|(place, index)| place != *index) {
        move_forward(candidates, &shown);
    }
}

/// Moves the candidates with these indexes to the front, in order, and lowers the scores behind them, because they are
/// sorted by score.
fn move_forward(candidates: &mut Vec<Candidate>, front: &[usize]) {
    let (mut moved, mut rest) = (Vec::with_capacity(candidates.len()), Vec::new());
    for (index, candidate) in candidates.drain(..).enumerate() {
        if front.contains(&index) { &mut moved } else { &mut rest }.push(candidate);
    }
    let mut highest = moved.last().map_or(f32::MAX, |candidate: &Candidate| candidate.score);
    let first = moved.first().map(|candidate| candidate.is_outside);
    for candidate in rest.iter_mut().filter(|candidate| Some(candidate.is_outside) == first) {
        if candidate.score < highest {
            break;
        }
        highest *= NEXT_SCORE;
        candidate.score = highest;
    }
    moved.append(&mut rest);
    *candidates = moved;
}

#[cfg(test)]
#[path = "diversity_tests.rs"]
mod tests;
