//! Stages 0 and 1: which nodes hold which terms of a question, letter by letter, loosely or as a synonym, and how well
//! that fits (BM25 over the node's own text, its heading and the headings above it).

use std::time::Instant;

use super::bm25::{Scratch, Statistics, idf};
use super::needle::{Needle, TermFit};
use super::place::NodePlace;
use super::query::Query;
use super::terms::{Form, Role, Term};
use crate::index::{Segment, View, all_of};

// The weights were found by measuring, as those of `bm25`.
/// What a term that must be there is worth beside one that should, in the score of a node.
const MUST_WEIGHT: f32 = 1.4;
/// The same for how much of a question is covered.
const MUST_COVERAGE: f32 = 1.5;
/// What the keys between the terms of a question are worth beside those of the terms.
const BETWEEN_TERMS: f32 = 0.3;
/// What a term is worth when all of its keys are there and stand together.
const TOGETHER: f32 = 1.25;
/// What it is worth when they are all there and stand apart.
const APART: f32 = 0.8;
/// What it is worth when most of them are there.
const PARTLY: f32 = 0.9;
/// A single letter is looked up by every pair that begins with it, which tells less than a key of its own.
const SINGLE_LETTER: f32 = 0.5;
/// A form that is worth less than this does not stand for its term, because it is a synonym of a part of it only.
const MIN_STANDS_FOR_TERM: f32 = 0.5;

/// A node that holds something of a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeHit {
    /// Its place.
    pub place: NodePlace,
    /// The rank score, comparable within this search only.
    pub score: f32,
    /// The terms that stand in it letter by letter, as bits.
    pub whole: u64,
    /// The terms that stand in it loosely or as a synonym.
    pub loose: u64,
    /// The terms of which most stands in it.
    pub part: u64,
    /// The terms that stand in its heading.
    pub heading: u64,
}

/// What the matching found.
#[derive(Default)]
pub struct Matched {
    /// The hits, in document order.
    pub hits: Vec<NodeHit>,
    /// Segments that the deadline left no time for, as indexes of view and segment.
    pub missed: Vec<(u32, u32)>,
    /// How much each term tells beside the others.
    pub weights: Vec<f32>,
    /// In how many nodes each term stands, in some form.
    pub counts: Vec<usize>,
}

/// Which nodes are looked at.
pub type Allowed<'a> = &'a dyn Fn(NodePlace) -> bool;

/// What is known of a node of the segment at hand.
#[derive(Debug, Clone, Copy, Default)]
struct NodeScore {
    score: f32,
    /// What the best form of the term at hand is worth.
    best_form: f32,
    whole: u64,
    loose: u64,
    part: u64,
    heading: u64,
}

impl NodeScore {
    const fn is_hit(self) -> bool {
        self.whole | self.loose | self.part != 0
    }
}

/// Looks for the terms of a question in every segment, until the deadline.
pub fn matching(views: &[View], query: &Query, allowed: Allowed<'_>, deadline: Instant) -> Matched {
    let mut matcher = Matcher::new(views, query);
    let mut matched = Matched { counts: vec![0; query.terms.len()], ..Matched::default() };
    let mut looked_at_one = false;
    for (view_index, view) in (0..).zip(views) {
        for (segment_index, segment) in (0..).zip(&view.segments) {
            // One segment is always looked at, so that asking for the rest makes progress.
            if looked_at_one && Instant::now() >= deadline {
                matched.missed.push((view_index, segment_index));
                continue;
            }
            looked_at_one = true;
            if !holds_any(segment, query) {
                continue;
            }
            let place = |node| NodePlace { view: view_index, segment: segment_index, node };
            let is_stale = |node: u32| {
                let file = segment.node(node).map_or(0, |node| node.file);
                !view.stale.is_empty() && view.stale.contains(&(segment_index as usize, file))
            };
            for (node, found) in (0..).zip(matcher.scores(segment)).filter(|(_, found)| found.is_hit()) {
                if !is_stale(node) && allowed(place(node)) {
                    matched.add(place(node), found);
                }
            }
        }
    }
    let weight = |(term, count): (&Term, &usize)| {
        let idf = idf(matcher.statistics.nodes, *count as f32);
        idf * term.strength * if term.role == Role::Must { MUST_COVERAGE } else { 1.0 }
    };
    matched.weights = query.terms.iter().zip(&matched.counts).map(weight).collect();
    matched
}

impl Matched {
    fn add(&mut self, place: NodePlace, found: NodeScore) {
        let NodeScore { score, whole, loose, part, heading, .. } = found;
        let (loose, part) = (loose & !whole, part & !(whole | loose));
        self.hits.push(NodeHit { place, score, whole, loose, part, heading });
        for (index, count) in self.counts.iter_mut().enumerate() {
            *count += usize::from((whole | loose) >> index & 1 == 1);
        }
    }
}

/// Scores the nodes of one segment after another.
struct Matcher<'a> {
    query: &'a Query,
    statistics: Statistics,
    /// One for each form of each term.
    needles: Vec<Vec<Needle>>,
    scratch: Scratch,
}

impl<'a> Matcher<'a> {
    fn new(views: &[View], query: &'a Query) -> Self {
        let needles = query.terms.iter();
        let needles =
            needles.map(|term| term.forms.iter().map(|form| Needle::new(&form.text)).collect()).collect();
        Self { query, statistics: Statistics::new(views, query), needles, scratch: Scratch::default() }
    }

    /// What each node of a segment holds of the question.
    fn scores(&mut self, segment: &Segment) -> Vec<NodeScore> {
        let mut scores = vec![NodeScore::default(); segment.nodes.len()];
        self.scratch.fit(segment.nodes.len());
        self.add_terms(segment, &mut scores);
        self.add_keys_between_terms(segment, &mut scores);
        self.remove_negatives(segment, &mut scores);
        scores
    }

    /// A term counts by its best form.
    fn add_terms(&mut self, segment: &Segment, scores: &mut [NodeScore]) {
        for (index, (term, needles)) in self.query.terms.iter().zip(&self.needles).enumerate() {
            for (form, needle) in term.forms.iter().zip(needles) {
                gather(segment, form, &self.statistics, &mut self.scratch);
                let sought = SoughtForm {
                    form,
                    needle,
                    is_term_itself: std::ptr::eq(form, term.forms.first().unwrap_or(form)),
                    phrase: term.phrase,
                    bit: 1 << index,
                };
                settle(segment, &sought, &mut self.scratch, scores);
            }
            let role = term.strength * if term.role == Role::Must { MUST_WEIGHT } else { 1.0 };
            for found in scores.iter_mut() {
                found.score += role * std::mem::take(&mut found.best_form);
            }
        }
    }

    fn add_keys_between_terms(&self, segment: &Segment, scores: &mut [NodeScore]) {
        for key in &self.query.keys {
            let idf = self.statistics.idf(*key) * BETWEEN_TERMS;
            for posting in segment.find(*key) {
                if let Some(found) = scores.get_mut(posting.node as usize).filter(|found| found.is_hit()) {
                    found.score += self.statistics.bm25(segment, posting, idf);
                }
            }
        }
    }

    /// A node that holds a refused term is no hit.
    fn remove_negatives(&mut self, segment: &Segment, scores: &mut [NodeScore]) {
        for form in self.query.negatives.iter().flat_map(|negative| &negative.forms) {
            gather(segment, form, &self.statistics, &mut self.scratch);
            let needle = Needle::new(&form.text);
            self.scratch.drain(|node, _, keys, _| {
                if usize::from(keys) >= form.keys.len().max(1)
                    && segment.node(node).is_some_and(|entry| needle.find(segment.text_of(entry)).is_some())
                    && let Some(found) = scores.get_mut(node as usize)
                {
                    *found = NodeScore::default();
                }
            });
        }
    }
}

/// Whether a segment has anything of a question at all.
fn holds_any(segment: &Segment, query: &Query) -> bool {
    let mut forms = query.terms.iter().flat_map(|term| &term.forms);
    forms.any(|form| form.letter.is_some() || form.keys.iter().any(|key| segment.count(*key) > 0))
}

/// Gathers the nodes that the keys of a form lead to.
fn gather(segment: &Segment, form: &Form, statistics: &Statistics, scratch: &mut Scratch) {
    if let Some(letter) = form.letter {
        let mut postings: Vec<_> = segment.find_all(all_of(letter)).collect();
        let idf = (1.0 + statistics.nodes / (postings.len() as f32 + 0.5)).ln() * SINGLE_LETTER;
        let mut last = u32::MAX;
        postings.sort_unstable_by_key(|posting| posting.node);
        for posting in postings {
            if posting.node != last {
                scratch.add(posting, statistics.bm25(segment, posting, idf));
            }
            last = posting.node;
        }
    }
    for key in &form.keys {
        let idf = statistics.idf(*key);
        for posting in segment.find(*key) {
            scratch.add(posting, statistics.bm25(segment, posting, idf));
        }
    }
}

/// A form of a term that is looked for.
struct SoughtForm<'a> {
    form: &'a Form,
    needle: &'a Needle,
    /// Whether it is the term as it is written, not another spelling or a synonym.
    is_term_itself: bool,
    /// Whether its words count only together.
    phrase: bool,
    /// The bit of the term.
    bit: u64,
}

/// Decides for each node that was gathered whether the form stands there, and what that is worth.
fn settle(segment: &Segment, sought: &SoughtForm<'_>, scratch: &mut Scratch, scores: &mut [NodeScore]) {
    let SoughtForm { form, needle, is_term_itself, phrase, bit } = *sought;
    let wanted = form.keys.len().max(1);
    let bit = if form.weight < MIN_STANDS_FOR_TERM { 0 } else { bit };
    scratch.drain(|node, sum, keys, titles| {
        let (Some(entry), Some(found)) = (segment.node(node), scores.get_mut(node as usize)) else { return };
        let held = usize::from(keys);
        let mut worth = sum * form.weight;
        if held >= wanted {
            // One key is enough to know; of several, only the text tells whether they stand together.
            let fit = if wanted == 1 { Some(TermFit::Whole) } else { needle.find(segment.text_of(entry)) };
            match fit {
                Some(TermFit::Whole) if is_term_itself => found.whole |= bit,
                Some(_) => found.loose |= bit,
                None => worth *= APART,
            }
            match fit {
                Some(_) if wanted > 1 => worth *= TOGETHER,
                None if !phrase && (wanted > 2 || form.text.is_ascii()) => found.part |= bit,
                _ => {}
            }
            if usize::from(titles) >= wanted {
                found.heading |= bit;
            }
        } else if wanted >= 3 && held * 5 >= wanted * 3 && !phrase {
            // Three fifths of the keys count as most of the term.
            found.part |= bit;
            worth *= PARTLY;
        }
        found.best_form = found.best_form.max(worth);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_counts_once_by_its_best_fit() {
        let place = NodePlace { view: 0, segment: 0, node: 0 };
        let mut matched = Matched { counts: vec![0; 3], ..Matched::default() };
        let found = NodeScore { whole: 0b001, loose: 0b011, part: 0b111, ..NodeScore::default() };
        matched.add(place, found);
        let hit = NodeHit { place, score: 0.0, whole: 0b001, loose: 0b010, part: 0b100, heading: 0 };
        assert_eq!((matched.hits, matched.counts), (vec![hit], vec![1, 1, 0]));
    }
}
