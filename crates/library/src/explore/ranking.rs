//! Ranks the matching nodes, best first, by what the matching alone does not see: coverage, file context and wording.

use std::collections::{HashMap, HashSet};

use super::candidate::{Candidate, Signals};
use super::fusion::{reciprocal_ranks, show_each_best};
use super::matching::{MatchOutcome, NodeHit};
use super::place::{FilePlace, NodePlace, file_of, node_at};
use super::query::{Query, has_wanted_fact};
use super::terms::Intent;
use crate::index::{NodeEntry, Segment, View};
use crate::text::kanji_number;

// The weights were tuned with `annai eval`, as those of the matching.
/// The share of a score that depends on the coverage of the terms.
const COVERAGE_SHARE: f32 = 0.5;
/// How much a loose or partial match counts towards the coverage, relative to 1 for an exact one.
const LOOSE_COVERAGE: f32 = 0.6;
/// The maximum boost for a node whose file contains all terms.
const FILE_CONTEXT_BOOST: f32 = 0.5;
/// The maximum boost for a node whose heading contains all terms.
const HEADING_BOOST: f32 = 0.2;
/// The factor for a node that states a fact of the kind that the question asks for.
const UNIT_BOOST: f32 = 1.3;
/// The factor for a heading without text of its own, which answers little.
const BARE_HEADING_PENALTY: f32 = 0.5;
/// The maximum score of a node in a comparison, as a share of the score of the node before it.
const NEXT_SCORE: f32 = 0.999;
/// At least 100 nodes are re-ranked by their text, and at least twice as many as are kept. Reading more texts costs
/// time, and a node that ranks lower would not become a candidate anyway.
const MIN_RERANKED: usize = 100;
/// The maximum number of occurrences of a unit that are checked in one text, so that a long text costs no more; a
/// number behind the first 64 is not noticed.
const MAX_UNIT_OCCURRENCES: usize = 64;

/// A matching node with its score so far.
type Scored<'a> = (f32, &'a NodeHit);

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
pub fn rank(
    views: &[View],
    query: &Query,
    matched: &MatchOutcome,
    max_ranked: usize,
    outside: &HashSet<u32>,
) -> Ranked {
    let best_first = |one: &Scored<'_>, other: &Scored<'_>| {
        let is_outside = |scored: &Scored<'_>| outside.contains(&scored.1.place.view);
        let by_score = other.0.total_cmp(&one.0).then(one.1.place.cmp(&other.1.place));
        is_outside(one).cmp(&is_outside(other)).then(by_score)
    };
    let reranked = max_ranked.saturating_mul(2).max(MIN_RERANKED);
    let mut hits = scored_by_coverage(views, matched, None);
    let is_comparison = !query.sides.is_empty() && matched.side_scores.len() == matched.hits.len();
    if is_comparison {
        hits.sort_unstable_by(best_first);
        fuse_sides(&SideRanking { views, query, matched, reranked, outside }, &mut hits);
    } else if hits.len() > reranked {
        hits.select_nth_unstable_by(reranked, best_first);
    }
    let reranked = reranked.min(hits.len());
    let (best, rest) = hits.split_at_mut(reranked);
    if !is_comparison {
        rerank_by_text(views, query, best);
        best.sort_unstable_by(best_first);
    }
    let deciding = query.deciding_terms();
    let candidate = |scored: &Scored<'_>| Candidate {
        is_outside: outside.contains(&scored.1.place.view),
        ..candidate(scored, deciding)
    };
    let more: Vec<_> = best.iter().skip(max_ranked).chain(rest.iter()).map(candidate).collect();
    let beyond = more.len();
    let mut more_evidence: Vec<_> = more.into_iter().filter(|other| other.kind.is_evidence()).collect();
    more_evidence.sort_unstable_by_key(|other| other.place);
    let best = best.iter().take(max_ranked).map(candidate).collect();
    Ranked { best, more_related: beyond - more_evidence.len(), more_evidence }
}

/// A side of a comparison: its index, its own terms, and the terms of the other sides, which do not count for it.
#[derive(Clone, Copy)]
struct Side {
    index: usize,
    own: u64,
    others: u64,
}

/// The matching nodes, their scores weighted by the coverage of the terms in the node, its heading and its file; for a
/// side of a comparison, those that contain a term of it.
fn scored_by_coverage<'a>(views: &[View], matched: &'a MatchOutcome, side: Option<Side>) -> Vec<Scored<'a>> {
    let counted = !side.map_or(0, |side| side.others);
    let total = covered_weight(&matched.term_weights, counted).max(f32::MIN_POSITIVE);
    let covered = |bits: u64| covered_weight(&matched.term_weights, bits & counted) / total;
    let no_file = |place: NodePlace| FilePlace { view: place.view, segment: place.segment, file: 0 };
    let file = |place: NodePlace| file_of(views, place).unwrap_or_else(|| no_file(place));
    // The terms in the rest of a file tell what a section of it is about.
    let mut files: HashMap<FilePlace, u64> = HashMap::new();
    for hit in &matched.hits {
        *files.entry(file(hit.place)).or_default() |= hit.exact;
    }
    let score = |base: f32, hit: &NodeHit| {
        let coverage = covered(hit.exact) + LOOSE_COVERAGE * covered(hit.loose());
        let context = covered(files.get(&file(hit.place)).copied().unwrap_or_default());
        base * (1.0 - COVERAGE_SHARE + COVERAGE_SHARE * coverage)
            * (1.0 + FILE_CONTEXT_BOOST * context)
            * (1.0 + HEADING_BOOST * covered(hit.heading))
    };
    let Some(side) = side else {
        return matched.hits.iter().map(|hit| (score(hit.score, hit), hit)).collect();
    };
    let of_side = matched.hits.iter().zip(&matched.side_scores);
    let of_side = of_side.filter(|(hit, _)| (hit.exact | hit.loose()) & side.own != 0);
    of_side
        .map(|(hit, scores)| (score(scores.get(side.index).copied().unwrap_or_default(), hit), hit))
        .collect()
}

/// What the sides of a comparison are ranked by.
struct SideRanking<'a> {
    views: &'a [View],
    query: &'a Query,
    matched: &'a MatchOutcome,
    /// The number of nodes of each side that are re-ranked by their text.
    reranked: usize,
    outside: &'a HashSet<u32>,
}

/// Orders the matching nodes by how the sides of a comparison rank them, each on its own; what belongs to no side keeps
/// its order behind them. The scores are those that stood at the same position before, so that they decrease as those of
/// other questions do.
fn fuse_sides(ranking: &SideRanking<'_>, hits: &mut [Scored<'_>]) {
    let &SideRanking { views, query, matched, reranked, outside } = ranking;
    let is_outside = |place: &NodePlace| outside.contains(&place.view);
    let all = query.sides.iter().fold(0, |bits, side| bits | side);
    let sides =
        query.sides.iter().enumerate().map(|(index, own)| Side { index, own: *own, others: all & !own });
    let best_first = |one: &Scored<'_>, other: &Scored<'_>| {
        let (one_place, other_place) = (one.1.place, other.1.place);
        let by_score = other.0.total_cmp(&one.0).then(one_place.cmp(&other_place));
        is_outside(&one_place).cmp(&is_outside(&other_place)).then(by_score)
    };
    let list = |side: Side| -> Vec<NodePlace> {
        let mut scored = scored_by_coverage(views, matched, Some(side));
        scored.sort_unstable_by(best_first);
        scored.truncate(reranked);
        rerank_by_text(views, query, &mut scored);
        scored.sort_unstable_by(best_first);
        scored.iter().map(|(_, hit)| hit.place).collect()
    };
    let mut lists: Vec<Vec<NodePlace>> = sides.map(list).collect();
    let fused = reciprocal_ranks(&lists);
    let rank = |place: &NodePlace| fused.get(place).copied().unwrap_or_default();
    let mut order: Vec<NodePlace> = hits.iter().map(|(_, hit)| hit.place).collect();
    // The sort keeps the order of equals, which is that of the whole question.
    order.sort_by(|one, other| {
        is_outside(one).cmp(&is_outside(other)).then(rank(other).total_cmp(&rank(one)))
    });
    lists.iter_mut().for_each(|list| list.retain(|place| !is_outside(place)));
    show_each_best(&mut order, &lists);

    let mut scores: Vec<f32> = hits.iter().map(|(score, _)| *score).collect();
    scores.sort_unstable_by(|one, other| other.total_cmp(one));
    let position: HashMap<NodePlace, usize> = order.into_iter().zip(0..).collect();
    hits.sort_unstable_by_key(|(_, hit)| position.get(&hit.place).copied());
    let mut last = f32::MAX;
    for ((score, _), own) in hits.iter_mut().zip(scores) {
        // Equal scores would be ordered by their places again.
        last = own.min(last * NEXT_SCORE);
        *score = last;
    }
}

/// The sum of the weights of the terms whose bits are set.
pub fn covered_weight(weights: &[f32], bits: u64) -> f32 {
    let weights = weights.iter().enumerate();
    weights.filter(|(index, _)| bits >> index & 1 == 1).map(|(_, weight)| weight).sum()
}

/// Adjusts the scores by what only the text of a section tells.
fn rerank_by_text(views: &[View], query: &Query, best: &mut [Scored<'_>]) {
    for (score, hit) in best {
        let Some((segment, node)) = node_at(views, hit.place) else { continue };
        let text = segment.text_of(node);
        let states_fact = !query.wanted.is_empty() && has_wanted_fact(query, text);
        if states_fact || has_number_with_unit(text, &query.units) {
            *score *= UNIT_BOOST;
        }
        if is_bare_heading(segment, node) {
            *score *= BARE_HEADING_PENALTY;
        }
    }
}

fn candidate((score, hit): &Scored<'_>, deciding: u64) -> Candidate {
    let signals = [
        (hit.heading != 0, Signals::HEADING),
        (hit.exact != 0, Signals::NORMALIZED),
        (hit.loose() != 0, Signals::LOOSE),
    ];
    let signals =
        signals.iter().filter(|(is_set, _)| *is_set).fold(Signals::default(), |all, (_, one)| all.with(*one));
    let (kind, terms) = (hit.kind(deciding), hit.terms() | hit.base);
    Candidate { place: hit.place, score: *score, signals, terms, kind, is_outside: false }
}

/// Whether a text contains a number with one of these units.
fn has_number_with_unit(text: &str, units: &[&str]) -> bool {
    let is_digit =
        |character: char| character.is_ascii_digit() || kanji_number(std::iter::once(character)).is_some();
    units.iter().any(|unit| {
        text.match_indices(unit).take(MAX_UNIT_OCCURRENCES).any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.trim_end_matches(' ').chars().next_back());
            let after =
                text.get(at + unit.len()..).and_then(|after| after.trim_start_matches(' ').chars().next());
            let precedes_number = matches!(*unit, "$" | "€" | "usd" | "eur");
            before.is_some_and(is_digit)
                || (precedes_number && after.is_some_and(|character| character.is_ascii_digit()))
        })
    })
}

/// Whether a text is worded like an answer to a question of this intent.
pub fn has_intent_wording(intent: Intent, text: &str) -> bool {
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

/// Whether a node is a heading without text of its own.
pub fn is_bare_heading(segment: &Segment, node: &NodeEntry) -> bool {
    segment.text_of(node).lines().skip(node.heading_lines as usize).all(|line| line.trim().is_empty())
}

#[cfg(test)]
#[path = "ranking_tests.rs"]
mod tests;
