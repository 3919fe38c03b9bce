//! Stages 0 and 1: which nodes contain which terms of a question, exactly, loosely or as a synonym, and the score of
//! each node (BM25 over its own text, its heading and the headings above it).

pub mod bm25;
pub mod candidate;
pub mod matcher;
pub mod needle;
pub mod place;

use std::time::Instant;

use crate::index::View;
use crate::matching::bm25::idf;
use crate::matching::candidate::MatchKind;
use crate::matching::matcher::{Matcher, NodeScore};
use crate::matching::place::NodePlace;
use crate::query::Query;
use crate::query::terms::{Role, Term};

/// The weight of a required term in the coverage of a question, relative to 1 for a soft term. Tuned with `annai eval`.
const MUST_COVERAGE: f32 = 1.5;

/// A node that contains at least a part of one term.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeHit {
    /// The node.
    pub place: NodePlace,
    /// The rank score, comparable within this search only.
    pub score: f32,
    /// The terms that it contains exactly, as a bit set.
    pub exact: u64,
    /// The terms that it contains only with other separators or in another spelling.
    pub separated: u64,
    /// The terms that it contains only as a synonym.
    pub synonym: u64,
    /// The terms of which it contains only a part.
    pub partial: u64,
    /// The terms that its heading contains.
    pub heading: u64,
}

impl NodeHit {
    /// The terms that it contains as a whole, in some form.
    pub const fn terms(&self) -> u64 {
        self.exact | self.separated | self.synonym
    }

    /// The terms that it contains in some form, be it weaker than the term itself.
    pub const fn loose(&self) -> u64 {
        self.separated | self.synonym | self.partial
    }

    /// How it matched, by those terms of the question that `decide`; the other terms say too little.
    pub const fn kind(&self, decide: u64) -> MatchKind {
        if self.exact & decide != 0 {
            MatchKind::Exact
        } else if self.separated & decide != 0 {
            MatchKind::Separated
        } else if self.synonym & decide != 0 {
            MatchKind::Synonym
        } else {
            MatchKind::Part
        }
    }
}

/// The result of the matching.
#[derive(Default)]
pub struct MatchOutcome {
    /// The hits, in document order.
    pub hits: Vec<NodeHit>,
    /// The segments that were not searched before the deadline, as indexes of view and segment.
    pub skipped_segments: Vec<(u32, u32)>,
    /// The weight of each term: its idf, strength and role.
    pub term_weights: Vec<f32>,
    /// The number of matching nodes that contain each term as a whole, in some form.
    pub document_frequencies: Vec<usize>,
}

/// Decides which nodes are searched.
pub type NodeFilter<'a> = &'a dyn Fn(NodePlace) -> bool;

/// Searches every segment for the terms of a question, until the deadline.
#[cfg(test)]
pub fn match_terms(
    views: &[View],
    query: &Query,
    allowed: NodeFilter<'_>,
    deadline: Instant,
) -> MatchOutcome {
    match_wordings(views, &[query], allowed, deadline).pop().unwrap_or_default()
}

/// Searches every segment for the terms of several wordings of a question, until the deadline. A term of several wordings
/// is looked up once. What the first wording excludes is excluded for all of them.
pub fn match_wordings(
    views: &[View],
    wordings: &[&Query],
    allowed: NodeFilter<'_>,
    deadline: Instant,
) -> Vec<MatchOutcome> {
    let mut matcher = Matcher::new(views, wordings);
    let mut outcomes: Vec<MatchOutcome> = wordings.iter().map(|wording| MatchOutcome::of(wording)).collect();
    let mut searched_one = false;
    for (view_index, view) in (0..).zip(views) {
        for (segment_index, segment) in (0..).zip(&view.segments) {
            // One segment is always searched, so that a follow-up find of the rest makes progress.
            if searched_one && Instant::now() >= deadline {
                outcomes
                    .iter_mut()
                    .for_each(|outcome| outcome.skipped_segments.push((view_index, segment_index)));
                continue;
            }
            searched_one = true;
            if !matcher.has_any_key(segment) {
                continue;
            }
            let place = |node| NodePlace { view: view_index, segment: segment_index, node };
            let is_stale = |node: u32| {
                let file = segment.node(node).map_or(0, |node| node.file);
                !view.stale.is_empty() && view.stale.contains(&(segment_index as usize, file))
            };
            for (scores, outcome) in matcher.scores(segment).iter().zip(&mut outcomes) {
                for (node, found) in (0..).zip(scores).filter(|(_, found)| found.is_hit()) {
                    if !is_stale(node) && allowed(place(node)) {
                        outcome.add(place(node), *found);
                    }
                }
            }
        }
    }
    for (outcome, wording) in outcomes.iter_mut().zip(wordings) {
        let weight = |(term, count): (&Term, &usize)| {
            let idf = idf(matcher.statistics.nodes, *count as f32);
            idf * term.strength * if term.role == Role::Must { MUST_COVERAGE } else { 1.0 }
        };
        outcome.term_weights = wording.terms.iter().zip(&outcome.document_frequencies).map(weight).collect();
    }
    outcomes
}

impl MatchOutcome {
    fn of(wording: &Query) -> Self {
        Self { document_frequencies: vec![0; wording.terms.len()], ..Self::default() }
    }

    fn add(&mut self, place: NodePlace, found: NodeScore) {
        let NodeScore { score, exact, separated, synonym, partial, heading, .. } = found;
        let separated = separated & !exact;
        let synonym = synonym & !(exact | separated);
        let partial = partial & !(exact | separated | synonym);
        let hit = NodeHit { place, score, exact, separated, synonym, partial, heading };
        self.hits.push(hit);
        for (index, count) in self.document_frequencies.iter_mut().enumerate() {
            *count += usize::from(hit.terms() >> index & 1 == 1);
        }
    }
}

#[cfg(test)]
mod tests;
