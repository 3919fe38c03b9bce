//! Ranks the matching nodes, best first, by what the matching alone does not see: coverage, the rest of the page, and wording.

use std::collections::{HashMap, HashSet};

use super::candidate::{Candidate, NEXT_SCORE, Signals};
use super::fusion::{reciprocal_ranks, show_each_best};
use super::matching::{MatchOutcome, NodeHit};
use super::page_kind::is_news;
use super::place::{FilePlace, NodePlace, file_at, file_of, node_at};
use super::query::{Query, has_wanted_fact};
use super::terms::Intent;
use crate::cancellation::checkpoint;
use crate::index::{NodeEntry, Segment, View};

// The weights were tuned with `annai eval`, as those of the matching.
/// The share of a score that depends on the coverage of the terms.
const COVERAGE_SHARE: f32 = 0.5;
/// How much a loose or partial match counts towards the coverage, relative to 1 for an exact one.
const LOOSE_COVERAGE: f32 = 0.6;
/// The maximum boost for a node that contains all terms, the headings above it and the path of its file included: a
/// section need not repeat what its headings say.
const WITH_HEADINGS_BOOST: f32 = 1.5;
/// The maximum boost for a node whose headings above, and the path of its file, contain all terms.
const PAGE_BOOST: f32 = 0.8;
/// How much the best node of the same file counts: the power of its score, relative to that of the best file.
const BEST_OF_FILE_POWER: f32 = 0.3;
/// The factor for a page of news, unless the question asks for them.
const NEWS_PENALTY: f32 = 0.75;
/// The factor for a node that states a fact of the kind that the question asks for.
const WANTED_FACT_BOOST: f32 = 1.35;
/// The factor for a heading without text of its own, which answers little.
const BARE_HEADING_PENALTY: f32 = 0.5;
/// At least 100 nodes are re-ranked by their text, and at least twice as many as are kept. Reading more texts costs
/// time, and a node that ranks lower would not become a candidate anyway.
const MIN_RERANKED: usize = 100;
/// The factor for a table of contents, which leads to the answer and does not contain it.
const CONTENTS_PENALTY: f32 = 0.6;
/// A section with at least this number of links, and links on this share of its lines, is a table of contents.
const MIN_CONTENTS_LINKS: usize = 5;
const MIN_CONTENTS_SHARE: f32 = 0.6;

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

/// The matching nodes, their scores weighted by the coverage of the terms in the node and its headings, and by the rest
/// of its file; for a side of a comparison, those that contain a term of it.
fn scored_by_coverage<'a>(views: &[View], matched: &'a MatchOutcome, side: Option<Side>) -> Vec<Scored<'a>> {
    let base = |index: usize, hit: &NodeHit| match side {
        Some(side) => matched
            .side_scores
            .get(index)
            .and_then(|scores| scores.get(side.index))
            .copied()
            .unwrap_or_default(),
        None => hit.score,
    };
    let is_of_side = |hit: &NodeHit| side.is_none_or(|side| (hit.exact | hit.loose()) & side.own != 0);
    let hits = matched.hits.iter().enumerate().filter(|(_, hit)| is_of_side(hit));
    let mut scored: Vec<Scored<'a>> = hits.map(|(index, hit)| (base(index, hit), hit)).collect();
    weigh_files(views, &mut scored);
    let coverage = Coverage::of(&matched.term_weights, !side.map_or(0, |side| side.others));
    for (score, hit) in &mut scored {
        checkpoint();
        let own = coverage.share(hit.exact) + LOOSE_COVERAGE * coverage.share(hit.loose());
        *score *= (1.0 - COVERAGE_SHARE + COVERAGE_SHARE * own)
            * (1.0 + WITH_HEADINGS_BOOST * coverage.share(hit.exact | hit.heading | hit.path))
            * (1.0 + PAGE_BOOST * coverage.share(hit.path));
    }
    scored
}

/// Weighs nodes in document order by the best node of their file.
fn weigh_files(views: &[View], scored: &mut [Scored<'_>]) {
    let same_file =
        |one: &Scored<'_>, other: &Scored<'_>| file_of(views, one.1.place) == file_of(views, other.1.place);
    let best = scored.iter().map(|(score, _)| *score).fold(f32::MIN_POSITIVE, f32::max);
    for nodes in scored.chunk_by_mut(same_file) {
        let of_file = nodes.iter().map(|(score, _)| *score).fold(0.0, f32::max);
        let factor = (of_file / best).powf(BEST_OF_FILE_POWER);
        nodes.iter_mut().for_each(|(score, _)| *score *= factor);
    }
}

/// The share of the terms, by weight, that a bit set covers. The sums of every eight terms are prepared, because a question
/// has many matches and few terms.
struct Coverage {
    sums: Vec<[f32; 256]>,
}

impl Coverage {
    /// Prepares the weights of the terms that count.
    fn of(weights: &[f32], counted: u64) -> Self {
        let total = covered_weight(weights, counted).max(f32::MIN_POSITIVE);
        let sums = (0..weights.len().div_ceil(8)).map(|byte| {
            let mut sums = [0.0; 256];
            for (bits, sum) in (0_u64..).zip(&mut sums) {
                *sum = covered_weight(weights, (bits << (8 * byte)) & counted) / total;
            }
            sums
        });
        Self { sums: sums.collect() }
    }

    fn share(&self, bits: u64) -> f32 {
        let bytes = bits.to_le_bytes();
        let parts = self.sums.iter().zip(bytes).filter_map(|(sums, byte)| sums.get(usize::from(byte)));
        parts.sum()
    }
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
        last = own.min(last * NEXT_SCORE);
        *score = last;
    }
}

/// The sum of the weights of the terms whose bits are set.
pub fn covered_weight(weights: &[f32], bits: u64) -> f32 {
    let weights = weights.iter().enumerate();
    weights.filter(|(index, _)| bits >> index & 1 == 1).map(|(_, weight)| weight).sum()
}

/// Adjusts the scores by what only the text of a section and the kind of its page tell.
fn rerank_by_text(views: &[View], query: &Query, best: &mut [Scored<'_>]) {
    let mut news: HashMap<FilePlace, bool> = HashMap::new();
    for (score, hit) in best {
        let Some((segment, node)) = node_at(views, hit.place) else { continue };
        let is_news = |place: FilePlace| file_at(views, place).is_some_and(|(_, file)| is_news(file));
        let mut is_known_news = |place: FilePlace| *news.entry(place).or_insert_with(|| is_news(place));
        if !query.asks_for_news && file_of(views, hit.place).is_some_and(&mut is_known_news) {
            *score *= NEWS_PENALTY;
        }
        let text = segment.text_of(node);
        if !query.wanted.is_empty() && has_wanted_fact(query, text) {
            *score *= WANTED_FACT_BOOST;
        }
        if is_bare_heading(segment, node) {
            *score *= BARE_HEADING_PENALTY;
        }
        if is_table_of_contents(text, node) {
            *score *= CONTENTS_PENALTY;
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

/// Whether a section is a list of links to other sections.
fn is_table_of_contents(text: &str, node: &NodeEntry) -> bool {
    if node.links.len() < MIN_CONTENTS_LINKS {
        return false;
    }
    let lines = text.lines().skip(node.heading_lines as usize).filter(|line| !line.trim().is_empty()).count();
    node.links.len() as f32 >= lines as f32 * MIN_CONTENTS_SHARE
}

/// Whether a node is a heading without text of its own.
pub fn is_bare_heading(segment: &Segment, node: &NodeEntry) -> bool {
    segment.text_of(node).lines().skip(node.heading_lines as usize).all(|line| line.trim().is_empty())
}

#[cfg(test)]
#[path = "ranking_tests.rs"]
mod tests;
