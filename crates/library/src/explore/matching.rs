//! Stages 0 and 1: which nodes contain which terms of a question, exactly, loosely or as a synonym, and the score of
//! each node (BM25 over its own text, its heading and the headings above it).

use std::time::Instant;

use super::bm25::{ScoreAccumulator, Statistics, idf};
use super::candidate::MatchKind;
use super::comparison::MAX_SIDES;
use super::needle::{Needle, TermFit};
use super::place::NodePlace;
use super::query::Query;
use super::terms::{Form, FormKind, Role, Term};
use crate::index::{Segment, View, all_of};

// The weights were tuned with `annai eval`, as those of `bm25`.
/// The weight of a required term in the score of a node, relative to 1 for a soft term.
const MUST_WEIGHT: f32 = 1.4;
/// The weight of a required term in the coverage of a question, relative to 1 for a soft term.
const MUST_COVERAGE: f32 = 1.5;
/// The weight of a key of the question that lies between its terms, relative to the keys of the terms.
const CONTEXT_KEY_WEIGHT: f32 = 0.3;
/// The factor for a term whose keys are all in a node, next to each other.
const ADJACENT_BOOST: f32 = 1.25;
/// The factor for a term whose keys are all in a node, but scattered.
const SCATTERED_PENALTY: f32 = 0.8;
/// The factor for a term of whose keys a node contains most.
const PARTIAL_PENALTY: f32 = 0.9;
/// The factor for a single character, which is looked up by every pair that begins with it and is therefore less
/// specific than a key.
const SINGLE_CHAR_WEIGHT: f32 = 0.5;
/// A form with a lower weight is a synonym of only a part of its term; it adds to the score, but its term does not
/// count as found.
const MIN_EQUIVALENT_WEIGHT: f32 = 0.5;

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
    /// The terms of which it contains only the base.
    pub base: u64,
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
        self.separated | self.synonym | self.base | self.partial
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
    /// The number of matching nodes that contain each term as a whole, in some form; its base alone does not count.
    pub document_frequencies: Vec<usize>,
    /// The score of each hit on each side of a comparison: without the terms of the other sides. Empty where the question
    /// compares nothing.
    pub side_scores: Vec<SideScores>,
}

/// The scores of a node on the sides of a comparison.
pub type SideScores = [f32; MAX_SIDES];

/// Decides which nodes are searched.
pub type NodeFilter<'a> = &'a dyn Fn(NodePlace) -> bool;

/// What is known so far about a node of the current segment.
#[derive(Debug, Clone, Copy, Default)]
struct NodeScore {
    score: f32,
    /// The score of the best form of the current term.
    best_form: f32,
    exact: u64,
    separated: u64,
    synonym: u64,
    base: u64,
    partial: u64,
    heading: u64,
}

impl NodeScore {
    const fn is_hit(self) -> bool {
        self.exact | self.separated | self.synonym | self.base | self.partial != 0
    }
}

/// Searches every segment for the terms of a question, until the deadline.
pub fn match_terms(
    views: &[View],
    query: &Query,
    allowed: NodeFilter<'_>,
    deadline: Instant,
) -> MatchOutcome {
    let mut matcher = Matcher::new(views, query);
    let mut matched =
        MatchOutcome { document_frequencies: vec![0; query.terms.len()], ..MatchOutcome::default() };
    let mut searched_one = false;
    for (view_index, view) in (0..).zip(views) {
        for (segment_index, segment) in (0..).zip(&view.segments) {
            // One segment is always searched, so that a follow-up find of the rest makes progress.
            if searched_one && Instant::now() >= deadline {
                matched.skipped_segments.push((view_index, segment_index));
                continue;
            }
            searched_one = true;
            if !contains_any_key(segment, query) {
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
                    matched.side_scores.extend(matcher.side_scores(node, found.score));
                }
            }
        }
    }
    matched.promote_bases();
    let weight = |(term, count): (&Term, &usize)| {
        let idf = idf(matcher.statistics.nodes, *count as f32);
        idf * term.strength * if term.role == Role::Must { MUST_COVERAGE } else { 1.0 }
    };
    matched.term_weights = query.terms.iter().zip(&matched.document_frequencies).map(weight).collect();
    matched
}

impl MatchOutcome {
    fn add(&mut self, place: NodePlace, found: NodeScore) {
        let NodeScore { score, exact, separated, synonym, base, partial, heading, .. } = found;
        let separated = separated & !exact;
        let synonym = synonym & !(exact | separated);
        let base = base & !(exact | separated | synonym);
        let partial = partial & !(exact | separated | synonym | base);
        let hit = NodeHit { place, score, exact, separated, synonym, base, partial, heading };
        self.hits.push(hit);
        for (index, count) in self.document_frequencies.iter_mut().enumerate() {
            *count += usize::from(hit.terms() >> index & 1 == 1);
        }
    }
}

impl MatchOutcome {
    /// Where nothing contains a compound as a whole, the sections that contain its base are the evidence for it.
    fn promote_bases(&mut self) {
        let based = self.hits.iter().fold(0, |bits, hit| bits | hit.base);
        if based == 0 {
            return;
        }
        let whole = self.hits.iter().fold(0, |bits, hit| bits | hit.terms());
        for hit in &mut self.hits {
            let promoted = hit.base & !whole;
            hit.synonym |= promoted;
            hit.base &= whole;
        }
    }
}

/// Scores the nodes of one segment after another.
struct Matcher<'a> {
    query: &'a Query,
    statistics: Statistics,
    /// One needle for each form of each term.
    needles: Vec<Vec<Needle>>,
    accumulator: ScoreAccumulator,
    /// For each node of the segment, what the terms of one side of a comparison add to its score.
    own_scores: Vec<SideScores>,
}

impl<'a> Matcher<'a> {
    fn new(views: &[View], query: &'a Query) -> Self {
        let needles = query.terms.iter();
        let needles =
            needles.map(|term| term.forms.iter().map(|form| Needle::new(&form.text)).collect()).collect();
        Self {
            query,
            statistics: Statistics::new(views, query),
            needles,
            accumulator: ScoreAccumulator::default(),
            own_scores: Vec::new(),
        }
    }

    /// The score of a node on each side of a comparison; none where the question compares nothing.
    fn side_scores(&self, node: u32, score: f32) -> Option<SideScores> {
        let own = self.own_scores.get(node as usize)?;
        let all: f32 = own.iter().sum();
        Some(own.map(|own| score - all + own))
    }

    /// The score of each node of a segment.
    fn scores(&mut self, segment: &Segment) -> Vec<NodeScore> {
        let mut scores = vec![NodeScore::default(); segment.nodes.len()];
        self.accumulator.resize(segment.nodes.len());
        if !self.query.sides.is_empty() {
            self.own_scores.clear();
            self.own_scores.resize(segment.nodes.len(), SideScores::default());
        }
        self.add_terms(segment, &mut scores);
        self.add_keys_between_terms(segment, &mut scores);
        self.remove_negatives(segment, &mut scores);
        scores
    }

    /// Adds the score of each term, which is the score of its best form.
    fn add_terms(&mut self, segment: &Segment, scores: &mut [NodeScore]) {
        for (index, (term, needles)) in self.query.terms.iter().zip(&self.needles).enumerate() {
            for (form, needle) in term.forms.iter().zip(needles) {
                accumulate_postings(segment, form, &self.statistics, &mut self.accumulator);
                let lookup = FormLookup {
                    form,
                    needle,
                    is_primary_form: std::ptr::eq(form, term.forms.first().unwrap_or(form)),
                    is_phrase: term.is_phrase,
                    bit: 1 << index,
                };
                score_form(segment, &lookup, &mut self.accumulator, scores);
            }
            let role = term.strength * if term.role == Role::Must { MUST_WEIGHT } else { 1.0 };
            let side = self.query.sides.iter().position(|side| side >> index & 1 == 1);
            if let Some(side) = side {
                for (own, found) in self.own_scores.iter_mut().zip(scores.iter()) {
                    own.iter_mut().skip(side).take(1).for_each(|own| *own += role * found.best_form);
                }
            }
            for found in scores.iter_mut() {
                found.score += role * std::mem::take(&mut found.best_form);
            }
        }
    }

    fn add_keys_between_terms(&self, segment: &Segment, scores: &mut [NodeScore]) {
        for key in &self.query.keys {
            let idf = self.statistics.idf(*key) * CONTEXT_KEY_WEIGHT;
            for posting in segment.find(*key) {
                if let Some(found) = scores.get_mut(posting.node as usize).filter(|found| found.is_hit()) {
                    found.score += self.statistics.bm25(segment, posting, idf);
                }
            }
        }
    }

    /// A node that contains an excluded term is not a match.
    fn remove_negatives(&mut self, segment: &Segment, scores: &mut [NodeScore]) {
        for form in self.query.negatives.iter().flat_map(|negative| &negative.forms) {
            accumulate_postings(segment, form, &self.statistics, &mut self.accumulator);
            let needle = Needle::new(&form.text);
            self.accumulator.drain(|node, _, keys, _| {
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

/// Whether a segment contains any key of the question at all.
fn contains_any_key(segment: &Segment, query: &Query) -> bool {
    let mut forms = query.terms.iter().flat_map(|term| &term.forms);
    forms.any(|form| form.single_char.is_some() || form.keys.iter().any(|key| segment.count(*key) > 0))
}

/// Adds up the BM25 scores of the keys of a form, node by node.
fn accumulate_postings(
    segment: &Segment,
    form: &Form,
    statistics: &Statistics,
    accumulator: &mut ScoreAccumulator,
) {
    if let Some(character) = form.single_char {
        let mut postings: Vec<_> = segment.find_all(all_of(character)).collect();
        let idf = (1.0 + statistics.nodes / (postings.len() as f32 + 0.5)).ln() * SINGLE_CHAR_WEIGHT;
        let mut last = u32::MAX;
        postings.sort_unstable_by_key(|posting| posting.node);
        for posting in postings {
            if posting.node != last {
                accumulator.add(posting, statistics.bm25(segment, posting, idf));
            }
            last = posting.node;
        }
    }
    for key in &form.keys {
        let idf = statistics.idf(*key);
        for posting in segment.find(*key) {
            accumulator.add(posting, statistics.bm25(segment, posting, idf));
        }
    }
}

/// A form of a term that is being searched for.
struct FormLookup<'a> {
    form: &'a Form,
    needle: &'a Needle,
    /// Whether it is the term as it is written, rather than another spelling or a synonym.
    is_primary_form: bool,
    /// Whether its words match only together.
    is_phrase: bool,
    /// The bit of its term.
    bit: u64,
}

/// Decides for each node with a score whether it contains the form, and adjusts the score.
fn score_form(
    segment: &Segment,
    lookup: &FormLookup<'_>,
    accumulator: &mut ScoreAccumulator,
    scores: &mut [NodeScore],
) {
    let FormLookup { form, needle, is_primary_form, is_phrase, bit } = *lookup;
    let wanted = form.keys.len().max(1);
    let is_related = matches!(form.kind, FormKind::Base | FormKind::Fragment);
    let bit = if form.weight < MIN_EQUIVALENT_WEIGHT && !is_related { 0 } else { bit };
    accumulator.drain(|node, sum, keys, titles| {
        let (Some(entry), Some(found)) = (segment.node(node), scores.get_mut(node as usize)) else { return };
        let key_count = usize::from(keys);
        let mut score = sum * form.weight;
        if key_count >= wanted {
            // One key is proof, unless the form has a character besides it; of several, only the text tells whether they are
            // next to each other.
            let fit = if wanted == 1 && !form.is_mixed {
                Some(TermFit::Exact)
            } else {
                needle.find(segment.text_of(entry))
            };
            match fit {
                Some(TermFit::Exact) if is_primary_form => found.exact |= bit,
                Some(_) if is_primary_form => found.separated |= bit,
                Some(_) => match form.kind {
                    FormKind::Spelling => found.separated |= bit,
                    FormKind::Synonym => found.synonym |= bit,
                    FormKind::Base => found.base |= bit,
                    FormKind::Fragment => found.partial |= bit,
                },
                None => score *= SCATTERED_PENALTY,
            }
            match fit {
                Some(_) if wanted > 1 => score *= ADJACENT_BOOST,
                None if !is_phrase && !is_related && (wanted > 2 || form.text.is_ascii()) => {
                    found.partial |= bit;
                }
                _ => {}
            }
            if usize::from(titles) >= wanted {
                found.heading |= bit;
            }
        } else if wanted >= 3 && key_count * 5 >= wanted * 3 && !is_phrase && !is_related {
            // Three fifths of the keys count as a partial match.
            found.partial |= bit;
            score *= PARTIAL_PENALTY;
        }
        found.best_form = found.best_form.max(score);
    });
}

#[cfg(test)]
#[path = "matching_tests.rs"]
mod tests;
