//! Stage 2: which candidates, and which sections beside them, speak of an exception.

use std::collections::{HashMap, HashSet};

use super::dictionary::Dictionary;
use super::matching::Place;
use super::query::Intent;
use super::rank::{Candidate, Signals, at};
use crate::index::{NodeEntry, Segment, View};

/// The sections beside so many of the best are looked at.
const CLOSELY: usize = 20;
/// So many are added.
const MOST_ADDED: usize = 40;

/// Marks candidates that speak of an exception, and gives those beside them that do.
pub fn exceptions(
    views: &[View],
    candidates: &mut [Candidate],
    dictionary: &Dictionary,
    intent: Intent,
    allowed: super::matching::Allowed<'_>,
) -> Vec<Candidate> {
    let speaks = |segment: &Segment, node: &NodeEntry| dictionary.exception(segment.text_of(node)).is_some();
    let known: HashSet<Place> = candidates.iter().map(|candidate| candidate.place).collect();
    let mut beside: HashMap<Place, f32> = HashMap::new();
    for (rank, candidate) in candidates.iter_mut().enumerate() {
        let Some((segment, node)) = at(views, candidate.place) else { continue };
        if speaks(segment, node) {
            candidate.signals = candidate.signals.with(Signals::EXCEPTIONS);
            if intent == Intent::Exceptions {
                candidate.score *= 1.12;
            }
        }
        let Some(file) = segment.file_of(node).filter(|_| rank < CLOSELY && beside.len() < MOST_ADDED) else {
            continue;
        };
        let is_near = |other: &NodeEntry| {
            let sibling = other.parent == node.parent && node.parent.is_some();
            let inside = other.start_line > node.start_line && other.end_line <= node.end_line;
            sibling || inside
        };
        for (index, other) in segment.nodes_of(file).filter(|(_, other)| is_near(other)) {
            let place = Place { node: index, ..candidate.place };
            if !known.contains(&place)
                && beside.len() < MOST_ADDED
                && allowed(place)
                && speaks(segment, other)
            {
                let share = if intent == Intent::Exceptions { 0.4 } else { 0.2 };
                let score = beside.entry(place).or_default();
                *score = score.max(candidate.score * share);
            }
        }
    }
    let candidate = |(place, score)| Candidate { place, score, signals: Signals::EXCEPTIONS, terms: 0 };
    beside.into_iter().map(candidate).collect()
}
