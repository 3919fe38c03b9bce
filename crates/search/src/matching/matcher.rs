//! Scores the nodes of a segment by the terms of one or several wordings of a question.

use std::collections::BTreeMap;

use crate::index::{Key, Segment, View, all_of};
use crate::matching::bm25::{FormScore, ScoreAccumulator, Statistics};
use crate::matching::needle::{Needle, TermFit, stands_alone};
use crate::query::Query;
use crate::query::terms::{Form, FormKind, Term};
use crate::rules::RuleGroup;
use annai_core::cancellation::checkpoint;

/// The factor for a single character, which is looked up by every pair that begins with it and is therefore less
/// specific than a key.
const SINGLE_CHAR_WEIGHT: f32 = 0.5;
/// A form with a lower weight is a synonym of only a part of its term; it adds to the score, but its term does not
/// count as found.
const MIN_EQUIVALENT_WEIGHT: f32 = 0.5;

/// The score of a node of the current segment, and the terms that it contains, as bit sets.
#[derive(Debug, Clone, Copy, Default)]
pub struct NodeScore {
    pub score: f32,
    /// The idf of the keys of the wording that the node contains, or a stand-in for.
    pub covered: f32,
    pub exact: u64,
    pub separated: u64,
    pub synonym: u64,
    pub partial: u64,
    pub heading: u64,
}

impl NodeScore {
    /// Whether the node contains a term in some form.
    pub const fn is_hit(self) -> bool {
        self.exact | self.separated | self.synonym | self.partial != 0
    }

    /// Adds a term that the node contains. Its own keys are scored with those of the whole wording; where only another form
    /// of it stands in the node, that stands in for them.
    fn add(&mut self, found: &FoundTerm, bit: u64) {
        if !found.exact {
            self.score += found.stand_in.score;
            self.covered += found.stand_in.covered;
        }
        let set = |bits: &mut u64, is_set: bool| *bits |= if is_set { bit } else { 0 };
        set(&mut self.exact, found.exact);
        set(&mut self.separated, found.separated);
        set(&mut self.synonym, found.synonym);
        set(&mut self.partial, found.partial);
        set(&mut self.heading, found.heading);
    }
}

/// What another form of a term adds to a node that does not have the term as it is written.
#[derive(Debug, Clone, Copy, Default)]
struct StandIn {
    /// The score of the keys that the term itself does not have.
    score: f32,
    /// The idf of the keys of the term that it replaces.
    covered: f32,
}

/// How a node contains a term: every way in which a form was found.
#[derive(Debug, Clone, Copy, Default)]
struct FoundTerm {
    is_touched: bool,
    stand_in: StandIn,
    exact: bool,
    separated: bool,
    synonym: bool,
    partial: bool,
    heading: bool,
}

/// A term, and the wordings that have it.
struct SharedTerm<'a> {
    term: &'a Term,
    /// One needle for each form.
    needles: Vec<Needle>,
    /// The wordings that have it, with its index in each.
    uses: Vec<(usize, usize)>,
}

/// Scores the nodes of one segment after another.
pub struct Matcher<'a> {
    /// The statistics of all segments.
    pub statistics: Statistics,
    terms: Vec<SharedTerm<'a>>,
    /// The keys of the wordings as a whole, with the wordings that have them.
    keys: BTreeMap<Key, Vec<usize>>,
    /// The idf of the keys of each wording that occur at all.
    totals: Vec<f32>,
    /// Whether nodes are weighed by how much of the wording they have.
    is_covering: bool,
    negatives: Vec<(&'a Form, Needle)>,
    accumulator: ScoreAccumulator,
    found: FoundTerms,
    scores: Vec<Vec<NodeScore>>,
}

impl<'a> Matcher<'a> {
    /// Prepares the terms of some wordings.
    pub fn new(views: &[View], wordings: &[&'a Query]) -> Self {
        let mut terms: Vec<SharedTerm<'_>> = Vec::new();
        let mut keys: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for (wording, query) in wordings.iter().enumerate() {
            for (index, term) in query.terms.iter().enumerate() {
                let is_same = |known: &SharedTerm<'_>| {
                    known.term.is_phrase == term.is_phrase && known.term.forms == term.forms
                };
                match terms.iter_mut().find(|known| is_same(known)) {
                    Some(known) => known.uses.push((wording, index)),
                    None => terms.push(SharedTerm {
                        term,
                        needles: term.forms.iter().map(|form| Needle::new(&form.text)).collect(),
                        uses: vec![(wording, index)],
                    }),
                }
            }
            for key in &query.keys {
                keys.entry(*key).or_default().push(wording);
            }
        }
        let excluding = wordings.first().into_iter().flat_map(|query| &query.negatives);
        let negatives = excluding.flat_map(|term| &term.forms);
        let statistics = Statistics::new(views, wordings);
        let total = |query: &&Query| query.keys.iter().map(|key| statistics.weighted_idf(*key)).sum();
        Self {
            totals: wordings.iter().map(total).collect(),
            is_covering: wordings.first().is_none_or(|question| question.rules.has(RuleGroup::Coverage)),
            statistics,
            negatives: negatives.map(|form| (form, Needle::new(&form.text))).collect(),
            scores: wordings.iter().map(|_| Vec::new()).collect(),
            terms,
            keys,
            accumulator: ScoreAccumulator::default(),
            found: FoundTerms::default(),
        }
    }

    /// Whether a segment contains any key of a term at all.
    pub fn has_any_key(&self, segment: &Segment) -> bool {
        let mut forms = self.terms.iter().flat_map(|shared| &shared.term.forms);
        forms.any(|form| form.single_char.is_some() || form.keys.iter().any(|key| segment.count(*key) > 0))
    }

    /// The scores of the nodes of a segment for each wording.
    pub fn scores(&mut self, segment: &Segment) -> &[Vec<NodeScore>] {
        let nodes = segment.nodes.len();
        self.accumulator.resize(nodes);
        self.found.resize(nodes);
        for scores in &mut self.scores {
            scores.clear();
            scores.resize(nodes, NodeScore::default());
        }
        self.add_terms(segment);
        self.add_keys(segment);
        self.remove_negatives(segment);
        if self.is_covering {
            self.weigh_by_coverage();
        }
        &self.scores
    }

    /// Notes which nodes contain which terms, and in which forms.
    fn add_terms(&mut self, segment: &Segment) {
        for shared in &self.terms {
            checkpoint();
            let SharedTerm { term, needles, uses } = shared;
            let own = term.forms.first().map(|form| form.keys.as_slice()).unwrap_or_default();
            for (number, (form, needle)) in term.forms.iter().zip(needles).enumerate() {
                // The keys of the term itself are scored with those of the whole wording.
                let scored_elsewhere = |key: &Key| own.contains(key);
                accumulate_postings(segment, form, scored_elsewhere, &self.statistics, &mut self.accumulator);
                let replaced = own.iter().filter(|key| !form.keys.contains(key));
                let replaced: f32 = replaced.map(|key| self.statistics.weighted_idf(*key)).sum();
                let lookup = FormLookup {
                    form,
                    needle,
                    is_primary_form: number == 0,
                    is_phrase: term.is_phrase,
                    replaced_idf: replaced,
                };
                score_form(segment, &lookup, &mut self.accumulator, &mut self.found);
            }
            self.found.drain(|node, found| {
                for (wording, index) in uses {
                    let nodes = self.scores.get_mut(*wording);
                    if let Some(score) = nodes.and_then(|nodes| nodes.get_mut(node as usize)) {
                        score.add(&found, 1 << index);
                    }
                }
            });
        }
    }

    /// Adds the BM25 score of every key of the wordings, those between their terms included, to the nodes that match.
    fn add_keys(&mut self, segment: &Segment) {
        for (key, wordings) in &self.keys {
            checkpoint();
            let idf = self.statistics.weighted_idf(*key);
            for posting in segment.find(*key) {
                let mut score = None;
                for wording in wordings {
                    let nodes = self.scores.get_mut(*wording);
                    let found = nodes.and_then(|nodes| nodes.get_mut(posting.node as usize));
                    if let Some(found) = found.filter(|found| found.is_hit()) {
                        found.score +=
                            *score.get_or_insert_with(|| self.statistics.bm25(segment, posting, idf));
                        found.covered += idf;
                    }
                }
            }
        }
    }

    /// Weighs each node by the share of its wording, by idf, that it contains: a node with a little of everything beats one
    /// that repeats a single word.
    fn weigh_by_coverage(&mut self) {
        for (scores, total) in self.scores.iter_mut().zip(&self.totals) {
            for node in scores.iter_mut().filter(|node| node.covered > 0.0 && *total > 0.0) {
                node.score *= (node.covered / total).min(1.0);
            }
        }
    }

    /// A node that contains an excluded term is not a match.
    fn remove_negatives(&mut self, segment: &Segment) {
        for (form, needle) in &self.negatives {
            accumulate_postings(segment, form, |_| true, &self.statistics, &mut self.accumulator);
            self.accumulator.drain(|node, score| {
                if usize::from(score.keys) >= form.keys.len().max(1)
                    && segment.node(node).is_some_and(|entry| needle.find(segment.text_of(entry)).is_some())
                {
                    let found = self.scores.iter_mut().filter_map(|scores| scores.get_mut(node as usize));
                    found.for_each(|found| *found = NodeScore::default());
                }
            });
        }
    }
}

/// How the nodes of a segment contain the current term. It is reused between terms and segments.
#[derive(Default)]
struct FoundTerms {
    nodes: Vec<FoundTerm>,
    touched: Vec<u32>,
}

impl FoundTerms {
    fn resize(&mut self, nodes: usize) {
        self.nodes.resize(nodes, FoundTerm::default());
    }

    /// What is known about a node so far.
    fn get(&mut self, node: u32) -> Option<&mut FoundTerm> {
        let found = self.nodes.get_mut(node as usize)?;
        if !std::mem::replace(&mut found.is_touched, true) {
            self.touched.push(node);
        }
        Some(found)
    }

    /// Passes on each node that contains the term, and is empty afterwards.
    fn drain(&mut self, mut each: impl FnMut(u32, FoundTerm)) {
        for node in self.touched.drain(..) {
            checkpoint();
            if let Some(found) = self.nodes.get_mut(node as usize) {
                each(node, std::mem::take(found));
            }
        }
    }
}

/// Counts the keys of a form, node by node, and adds up the BM25 scores of those that are not scored elsewhere.
fn accumulate_postings(
    segment: &Segment,
    form: &Form,
    scored_elsewhere: impl Fn(&Key) -> bool,
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
        let idf = if scored_elsewhere(key) { 0.0 } else { statistics.weighted_idf(*key) };
        for posting in segment.find(*key) {
            let score = if idf == 0.0 { 0.0 } else { statistics.bm25(segment, posting, idf) };
            accumulator.add(posting, score);
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
    /// The idf of the keys of the term that this form does not have.
    replaced_idf: f32,
}

/// Decides for each node with a score whether it contains the form, and adjusts the score.
fn score_form(
    segment: &Segment,
    lookup: &FormLookup<'_>,
    accumulator: &mut ScoreAccumulator,
    terms: &mut FoundTerms,
) {
    let FormLookup { form, needle, is_primary_form, is_phrase, replaced_idf } = *lookup;
    let wanted = form.keys.len().max(1);
    let counts = form.weight >= MIN_EQUIVALENT_WEIGHT;
    accumulator.drain(|node, FormScore { sum, keys, titles }| {
        let (Some(entry), Some(found)) = (segment.node(node), terms.get(node)) else { return };
        let key_count = usize::from(keys);
        if key_count >= wanted {
            // One key is proof, unless the form has a character besides it; of several, only the text tells whether they are
            // next to each other.
            let fit = match form.single_char {
                // A character inside a longer word is no more than a part of it, unless the question quotes it.
                Some(character) if !is_phrase => {
                    stands_alone(character, segment.text_of(entry)).then_some(TermFit::Exact)
                }
                _ if wanted == 1 && !form.is_mixed => Some(TermFit::Exact),
                _ => needle.find(segment.text_of(entry)),
            };
            let is_inside_word = fit.is_none() && form.single_char.is_some();
            found.partial |= is_inside_word && counts;
            match fit {
                Some(TermFit::Exact) if is_primary_form => found.exact |= counts,
                Some(_) if is_primary_form => found.separated |= counts,
                Some(_) => match form.kind {
                    FormKind::Spelling => found.separated |= counts,
                    FormKind::Synonym => found.synonym |= counts,
                },
                None if is_inside_word || is_phrase => {}
                None => found.partial |= counts && (wanted > 2 || form.text.is_ascii()),
            }
            // A character alone has no key that the wording could be scored by.
            let stands_in = !is_primary_form || form.single_char.is_some();
            if stands_in && fit.is_some() && sum * form.weight > found.stand_in.score {
                let covered = replaced_idf * form.weight.min(1.0);
                found.stand_in = StandIn { score: sum * form.weight, covered };
            }
            if usize::from(titles) >= wanted && !is_inside_word {
                found.heading |= counts;
            }
        } else if wanted >= 3 && key_count * 5 >= wanted * 3 && !is_phrase {
            // Three fifths of the keys count as a partial match.
            found.partial |= counts;
        }
    });
}
