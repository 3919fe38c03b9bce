//! The order of what was found: the best first, judged by what a first look cannot see.

use std::collections::HashMap;

use super::candidate::{Candidate, Signals};
use super::matching::{Matched, NodeHit};
use super::place::{FilePlace, NodePlace, file_of, node_at};
use super::query::Query;
use super::terms::Intent;
use crate::index::{NodeEntry, Segment, View};
use crate::text::kanji_number;

// The weights were found by measuring (`annai eval`), as those of the matching.
/// How much of a score depends on how many of the terms are there.
const COVERAGE: f32 = 0.5;
/// What a term that is there loosely or in part counts towards the coverage.
const LOOSE_COVERAGE: f32 = 0.6;
/// What it is worth that the rest of the file speaks of the terms.
const FILE_CONTEXT: f32 = 0.5;
/// What it is worth that the terms stand in the heading.
const HEADING_BOOST: f32 = 0.2;
/// What it is worth to name a number with a unit that is asked for.
const UNIT_BOOST: f32 = 1.3;
/// What a heading with no text of its own is worth: it answers little.
const BARE_HEADING: f32 = 0.5;
/// At least this many of the best are re-ranked by their text, and twice as many as are kept. Reading more texts costs
/// time, and what ranks lower would not reach the candidates.
const MIN_RERANKED: usize = 100;
/// How many occurrences of a unit are looked at in a text before it counts as not naming a number with it.
const MAX_UNIT_OCCURRENCES: usize = 64;

/// A node that matched, and its score so far.
type Scored<'a> = (f32, &'a NodeHit);

/// The best of what matched, best first, and the places of the rest.
pub fn rank(
    views: &[View],
    query: &Query,
    matched: &Matched,
    max_candidates: usize,
) -> (Vec<Candidate>, Vec<NodePlace>) {
    let mut hits = scored_by_coverage(views, matched);
    let reranked = max_candidates.saturating_mul(2).max(MIN_RERANKED);
    if hits.len() > reranked {
        hits.select_nth_unstable_by(reranked, best_first);
    }
    let reranked = reranked.min(hits.len());
    let (best, rest) = hits.split_at_mut(reranked);
    rerank_by_text(views, query, best);
    best.sort_unstable_by(best_first);
    let candidates = best.iter().take(max_candidates).map(candidate).collect();
    let mut left: Vec<_> =
        best.iter().skip(max_candidates).chain(rest.iter()).map(|(_, hit)| hit.place).collect();
    left.sort_unstable();
    (candidates, left)
}

fn best_first(one: &Scored<'_>, other: &Scored<'_>) -> std::cmp::Ordering {
    other.0.total_cmp(&one.0).then(one.1.place.cmp(&other.1.place))
}

/// The hits with their scores weighed by how many of the terms they and their files hold.
fn scored_by_coverage<'a>(views: &[View], matched: &'a Matched) -> Vec<Scored<'a>> {
    let total: f32 = matched.weights.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    let covered = |bits: u64| covered_weight(&matched.weights, bits) / total;
    let no_file = |place: NodePlace| FilePlace { view: place.view, segment: place.segment, file: 0 };
    let file = |place: NodePlace| file_of(views, place).unwrap_or_else(|| no_file(place));
    // What the rest of a file speaks of tells what a section in it is about.
    let mut files: HashMap<FilePlace, u64> = HashMap::new();
    for hit in &matched.hits {
        *files.entry(file(hit.place)).or_default() |= hit.whole;
    }
    let score = |hit: &NodeHit| {
        let coverage = covered(hit.whole) + LOOSE_COVERAGE * covered(hit.loose | hit.part);
        let context = covered(files.get(&file(hit.place)).copied().unwrap_or_default());
        hit.score
            * (1.0 - COVERAGE + COVERAGE * coverage)
            * (1.0 + FILE_CONTEXT * context)
            * (1.0 + HEADING_BOOST * covered(hit.heading))
    };
    matched.hits.iter().map(|hit| (score(hit), hit)).collect()
}

/// The weights of the terms whose bits are set, together.
pub fn covered_weight(weights: &[f32], bits: u64) -> f32 {
    let weights = weights.iter().enumerate();
    weights.filter(|(index, _)| bits >> index & 1 == 1).map(|(_, weight)| weight).sum()
}

/// Weighs what only the text of a section tells.
fn rerank_by_text(views: &[View], query: &Query, best: &mut [Scored<'_>]) {
    for (score, hit) in best {
        let Some((segment, node)) = node_at(views, hit.place) else { continue };
        if names_unit(segment.text_of(node), &query.units) {
            *score *= UNIT_BOOST;
        }
        if is_bare(segment, node) {
            *score *= BARE_HEADING;
        }
    }
}

fn candidate((score, hit): &Scored<'_>) -> Candidate {
    let signals = [
        (hit.heading != 0, Signals::HEADING),
        (hit.whole != 0, Signals::NORMALIZED),
        (hit.loose | hit.part != 0, Signals::LOOSE),
    ];
    let signals =
        signals.iter().filter(|(is_set, _)| *is_set).fold(Signals::default(), |all, (_, one)| all.with(*one));
    Candidate { place: hit.place, score: *score, signals, terms: hit.whole | hit.loose }
}

/// Whether a text has a number with one of these units.
fn names_unit(text: &str, units: &[&str]) -> bool {
    let is_digit = |letter: char| letter.is_ascii_digit() || kanji_number(std::iter::once(letter)).is_some();
    units.iter().any(|unit| {
        text.match_indices(unit).take(MAX_UNIT_OCCURRENCES).any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.trim_end_matches(' ').chars().next_back());
            let after =
                text.get(at + unit.len()..).and_then(|after| after.trim_start_matches(' ').chars().next());
            let sign = matches!(*unit, "$" | "€" | "usd" | "eur");
            before.is_some_and(is_digit) || (sign && after.is_some_and(|letter| letter.is_ascii_digit()))
        })
    })
}

/// Whether a section is worded as what the question wants would be.
pub fn is_worded_for(intent: Intent, text: &str) -> bool {
    let words: &[&str] = match intent {
        Intent::Definition => &[
            "とは",
            "をいう",
            "をいいます",
            "意味",
            "定義",
            " is a ",
            " is an ",
            " are ",
            " means ",
            " refers to ",
        ],
        Intent::Procedure => &[
            "\n1. ",
            "手順",
            "\n1) ",
            "①",
            "次の",
            "以下の",
            "step",
            "```",
            "\n$ ",
            "- ",
            "してください",
            "します",
        ],
        Intent::Eligibility => &["対象", "条件", "資格", "要件", "場合", "eligib", "qualif", "must ", "if "],
        Intent::Exceptions | Intent::Compare | Intent::Unknown => &[],
    };
    words.iter().any(|word| text.contains(word))
}

/// Whether a heading has no text of its own below it.
pub fn is_bare(segment: &Segment, node: &NodeEntry) -> bool {
    segment.text_of(node).lines().skip(node.heading_lines as usize).all(|line| line.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_count_behind_a_number_and_currencies_also_before_one() {
        for (text, units, expected) in [
            ("14日以内", &["日"][..], true),
            ("三十 日", &["日"], true),
            ("日曜日", &["日"], false),
            ("$ 5", &["$"], true),
            ("days 5", &["days"], false),
        ] {
            assert_eq!(names_unit(text, units), expected, "{text}");
        }
    }

    #[test]
    fn weights_of_set_bits_add_up() {
        assert_eq!(covered_weight(&[1.0, 2.0, 4.0], 0b101), 5.0);
        assert_eq!(covered_weight(&[], 0b1), 0.0);
    }
}
