//! Stage 2: which candidates, and which sections beside them, speak of an exception.

use std::collections::{HashMap, HashSet};

use super::dictionary::Dictionary;
use super::matching::{Allowed, Place};
use super::query::Intent;
use super::rank::{Candidate, Signals, at};
use crate::index::{NodeEntry, Segment, View};

/// What it is worth to speak of an exception where one is asked for.
const SPEAKS: f32 = 1.25;
/// What being beside a candidate is worth, usually and where an exception is asked for.
const BESIDE: f32 = 0.2;
const BESIDE_ASKED: f32 = 0.4;

/// Marks candidates that speak of an exception, and gives those beside them that do.
pub fn exceptions(
    views: &[View],
    candidates: &mut [Candidate],
    dictionary: &Dictionary,
    intent: Intent,
    admitted: Allowed<'_>,
) -> Vec<Candidate> {
    let mut known: HashMap<Place, bool> = HashMap::new();
    let mut speaks = |place: Place, segment: &Segment, node: &NodeEntry| {
        *known.entry(place).or_insert_with(|| dictionary.exception(segment.text_of(node)).is_some())
    };
    let candidates_known: HashSet<Place> = candidates.iter().map(|candidate| candidate.place).collect();
    let share = if intent == Intent::Exceptions { BESIDE_ASKED } else { BESIDE };
    let mut beside: HashMap<Place, f32> = HashMap::new();
    // Sections of one parent have the same neighbours.
    let mut seen: HashMap<(u32, u32, Option<u32>), f32> = HashMap::new();
    for candidate in candidates.iter_mut() {
        let Some((segment, node)) = at(views, candidate.place) else { continue };
        if speaks(candidate.place, segment, node) {
            candidate.signals = candidate.signals.with(Signals::EXCEPTIONS);
            if intent == Intent::Exceptions {
                candidate.score *= SPEAKS;
            }
        }
        let Some(file) = segment.file_of(node) else { continue };
        let family = (candidate.place.view, candidate.place.segment, node.parent);
        let siblings = node.parent.is_some() && seen.insert(family, candidate.score).is_none();
        let first = if siblings { file.nodes.start } else { candidate.place.node };
        for (index, other) in segment.nodes_of(file).skip((first - file.nodes.start) as usize) {
            if other.start_line > node.end_line && !siblings {
                break;
            }
            let sibling = siblings && other.parent == node.parent;
            let inside = other.start_line > node.start_line && other.end_line <= node.end_line;
            let place = Place { node: index, ..candidate.place };
            if (sibling || inside)
                && !candidates_known.contains(&place)
                && speaks(place, segment, other)
                && admitted(place)
            {
                let score = beside.entry(place).or_default();
                *score = score.max(candidate.score * share);
            }
        }
    }
    let candidate = |(place, score)| Candidate { place, score, signals: Signals::EXCEPTIONS, terms: 0 };
    beside.into_iter().map(candidate).collect()
}
