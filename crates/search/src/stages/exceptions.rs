//! Stage 2: marks the candidates that contain exception vocabulary, and finds such sections next to them.

use std::collections::{HashMap, HashSet};

use crate::index::{NodeEntry, Segment, View};
use crate::matching::NodeFilter;
use crate::matching::candidate::{Candidate, MatchKind, Signals};
use crate::matching::place::{NodePlace, node_at};
use crate::query::dictionary::Dictionary;
use crate::query::terms::Intent;

// The weights were tuned with `annai eval`.
/// The factor for a candidate with exception vocabulary where the question asks for exceptions.
const EXCEPTION_BOOST: f32 = 1.25;
/// The score of a section next to a candidate, as a share of the candidate's score.
const NEIGHBOUR_SHARE: f32 = 0.2;
/// The same where the question asks for exceptions.
const NEIGHBOUR_SHARE_IF_ASKED: f32 = 0.4;

/// Marks the candidates that contain exception vocabulary, and returns the siblings and descendants of candidates that
/// do.
pub fn add_exceptions(
    views: &[View],
    candidates: &mut [Candidate],
    dictionary: &Dictionary,
    intent: Intent,
    admitted: NodeFilter<'_>,
) -> Vec<Candidate> {
    let mut known: HashMap<NodePlace, bool> = HashMap::new();
    let mut mentions_exception = |place: NodePlace, segment: &Segment, node: &NodeEntry| {
        *known.entry(place).or_insert_with(|| dictionary.exception(segment.text_of(node)).is_some())
    };
    let candidates_known: HashSet<NodePlace> = candidates.iter().map(|candidate| candidate.place).collect();
    let share = if intent == Intent::Exceptions { NEIGHBOUR_SHARE_IF_ASKED } else { NEIGHBOUR_SHARE };
    let mut neighbors: HashMap<NodePlace, f32> = HashMap::new();
    // Sections of one parent have the same siblings, which are searched once.
    let mut seen: HashMap<(u32, u32, Option<u32>), f32> = HashMap::new();
    for candidate in candidates.iter_mut() {
        let Some((segment, node)) = node_at(views, candidate.place) else { continue };
        if mentions_exception(candidate.place, segment, node) {
            candidate.signals = candidate.signals.with(Signals::EXCEPTIONS);
            if intent == Intent::Exceptions {
                candidate.score *= EXCEPTION_BOOST;
            }
        }
        let Some(file) = segment.file_of(node) else { continue };
        // The neighbors of a passage are those of its section.
        let first_passage = if node.is_continuation { node.parent } else { None };
        let section_index = first_passage.unwrap_or(candidate.place.node);
        let Some(section) = segment.node(section_index) else { continue };
        let family = (candidate.place.view, candidate.place.segment, section.parent);
        let siblings = section.parent.is_some() && seen.insert(family, candidate.score).is_none();
        let first = if siblings { file.nodes.start } else { section_index };
        for (index, other) in segment.nodes_from(file, first) {
            if other.start_line > section.end_line && !siblings {
                break;
            }
            let sibling = siblings && other.parent == section.parent;
            let inside = index > section_index && other.end_line <= section.end_line;
            let place = NodePlace { node: index, ..candidate.place };
            if (sibling || inside)
                && !candidates_known.contains(&place)
                && mentions_exception(place, segment, other)
                && admitted(place)
            {
                let score = neighbors.entry(place).or_default();
                *score = score.max(candidate.score * share);
            }
        }
    }
    let candidate = |(place, score)| Candidate {
        place,
        score,
        signals: Signals::EXCEPTIONS,
        terms: 0,
        kind: MatchKind::Exception,
        is_outside: false,
    };
    neighbors.into_iter().map(candidate).collect()
}

#[cfg(test)]
#[path = "exceptions_tests.rs"]
mod tests;
