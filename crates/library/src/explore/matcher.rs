//! Scores the nodes of a segment by the terms of one or several wordings of a question.

use std::collections::BTreeMap;

use super::bm25::{FormScore, ScoreAccumulator, Statistics};
use super::comparison::MAX_SIDES;
use super::needle::{Needle, TermFit, stands_alone};
use super::query::Query;
use super::terms::{Form, FormKind, Role, Term};
use crate::cancellation::checkpoint;
use crate::index::{Key, Segment, View, all_of};

// The weights were tuned with `annai eval`, as those of `bm25`.
/// The weight of a required term in the score of a node, relative to 1 for a soft term.
const MUST_WEIGHT: f32 = 1.4;
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

/// The scores of a node on the sides of a comparison.
pub type SideScores = [f32; MAX_SIDES];

/// The score of a node of the current segment, and the terms that it contains, as bit sets.
#[derive(Debug, Clone, Copy, Default)]
pub struct NodeScore {
    pub score: f32,
    pub exact: u64,
    pub separated: u64,
    pub synonym: u64,
    pub base: u64,
    pub partial: u64,
    pub heading: u64,
    pub path: u64,
}

impl NodeScore {
    /// Whether the node contains a term in some form.
    pub const fn is_hit(self) -> bool {
        self.exact | self.separated | self.synonym | self.base | self.partial != 0
    }

    /// Adds a term that the node contains.
    fn add(&mut self, found: &FoundTerm, bit: u64, weight: f32) {
        self.score += weight * found.score;
        let set = |bits: &mut u64, is_set: bool| *bits |= if is_set { bit } else { 0 };
        set(&mut self.exact, found.exact);
        set(&mut self.separated, found.separated);
        set(&mut self.synonym, found.synonym);
        set(&mut self.base, found.base);
        set(&mut self.partial, found.partial);
        set(&mut self.heading, found.heading);
        set(&mut self.path, found.path);
    }
}

/// The scores of the nodes of a segment for one wording.
#[derive(Default)]
pub struct WordingScores {
    /// The score of each node.
    pub nodes: Vec<NodeScore>,
    /// What the terms of one side of a comparison add to the score of each node; empty where the wording compares nothing.
    own: Vec<SideScores>,
}

impl WordingScores {
    /// The score of a node on each side of a comparison; none where the wording compares nothing.
    pub fn sides(&self, node: u32, score: f32) -> Option<SideScores> {
        let own = self.own.get(node as usize)?;
        let all: f32 = own.iter().sum();
        Some(own.map(|own| score - all + own))
    }
}

/// How a node contains a term: the score of its best form, and every way in which a form was found.
#[derive(Debug, Clone, Copy, Default)]
struct FoundTerm {
    score: f32,
    exact: bool,
    separated: bool,
    synonym: bool,
    base: bool,
    partial: bool,
    heading: bool,
    path: bool,
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
    wordings: Vec<&'a Query>,
    terms: Vec<SharedTerm<'a>>,
    /// The keys of the wordings as a whole, with the wordings that have them.
    keys: BTreeMap<Key, Vec<usize>>,
    negatives: Vec<(&'a Form, Needle)>,
    accumulator: ScoreAccumulator,
    found: FoundTerms,
    scores: Vec<WordingScores>,
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
        Self {
            statistics: Statistics::new(views, wordings),
            negatives: negatives.map(|form| (form, Needle::new(&form.text))).collect(),
            scores: wordings.iter().map(|_| WordingScores::default()).collect(),
            wordings: wordings.to_vec(),
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
    pub fn scores(&mut self, segment: &Segment) -> &[WordingScores] {
        let nodes = segment.nodes.len();
        self.accumulator.resize(nodes);
        self.found.resize(nodes);
        for (scores, wording) in self.scores.iter_mut().zip(&self.wordings) {
            scores.nodes.clear();
            scores.nodes.resize(nodes, NodeScore::default());
            scores.own.clear();
            if !wording.sides.is_empty() {
                scores.own.resize(nodes, SideScores::default());
            }
        }
        self.add_terms(segment);
        self.add_keys_between_terms(segment);
        self.remove_negatives(segment);
        &self.scores
    }

    /// Adds the score of each term, which is the score of its best form.
    fn add_terms(&mut self, segment: &Segment) {
        for shared in &self.terms {
            checkpoint();
            let SharedTerm { term, needles, uses } = shared;
            for (number, (form, needle)) in term.forms.iter().zip(needles).enumerate() {
                accumulate_postings(segment, form, &self.statistics, &mut self.accumulator);
                let lookup =
                    FormLookup { form, needle, is_primary_form: number == 0, is_phrase: term.is_phrase };
                score_form(segment, &lookup, &mut self.accumulator, &mut self.found);
            }
            self.found.drain(|node, found| {
                for (wording, index) in uses {
                    let query = self.wordings.get(*wording);
                    let own_term = query.and_then(|query| query.terms.get(*index)).unwrap_or(term);
                    let weight =
                        own_term.strength * if own_term.role == Role::Must { MUST_WEIGHT } else { 1.0 };
                    let Some(scores) = self.scores.get_mut(*wording) else { continue };
                    if let Some(score) = scores.nodes.get_mut(node as usize) {
                        score.add(&found, 1 << index, weight);
                    }
                    let side =
                        query.and_then(|query| query.sides.iter().position(|side| side >> index & 1 == 1));
                    if let (Some(side), Some(own)) = (side, scores.own.get_mut(node as usize)) {
                        own.iter_mut().skip(side).take(1).for_each(|own| *own += weight * found.score);
                    }
                }
            });
        }
    }

    fn add_keys_between_terms(&mut self, segment: &Segment) {
        for (key, wordings) in &self.keys {
            checkpoint();
            let idf = self.statistics.idf(*key) * CONTEXT_KEY_WEIGHT;
            for posting in segment.find(*key) {
                let mut score = None;
                for wording in wordings {
                    let nodes = self.scores.get_mut(*wording).map(|scores| scores.nodes.as_mut_slice());
                    let found = nodes.and_then(|nodes| nodes.get_mut(posting.node as usize));
                    if let Some(found) = found.filter(|found| found.is_hit()) {
                        found.score +=
                            *score.get_or_insert_with(|| self.statistics.bm25(segment, posting, idf));
                    }
                }
            }
        }
    }

    /// A node that contains an excluded term is not a match.
    fn remove_negatives(&mut self, segment: &Segment) {
        for (form, needle) in &self.negatives {
            accumulate_postings(segment, form, &self.statistics, &mut self.accumulator);
            self.accumulator.drain(|node, score| {
                if usize::from(score.keys) >= form.keys.len().max(1)
                    && segment.node(node).is_some_and(|entry| needle.find(segment.text_of(entry)).is_some())
                {
                    let found =
                        self.scores.iter_mut().filter_map(|scores| scores.nodes.get_mut(node as usize));
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
        if found.score == 0.0 {
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
}

/// Decides for each node with a score whether it contains the form, and adjusts the score.
fn score_form(
    segment: &Segment,
    lookup: &FormLookup<'_>,
    accumulator: &mut ScoreAccumulator,
    terms: &mut FoundTerms,
) {
    let FormLookup { form, needle, is_primary_form, is_phrase } = *lookup;
    let wanted = form.keys.len().max(1);
    let is_related = matches!(form.kind, FormKind::Base | FormKind::Fragment);
    let counts = form.weight >= MIN_EQUIVALENT_WEIGHT || is_related;
    accumulator.drain(|node, FormScore { sum, keys, titles, paths }| {
        let (Some(entry), Some(found)) = (segment.node(node), terms.get(node)) else { return };
        let key_count = usize::from(keys);
        found.path |= counts && usize::from(paths) >= wanted && !form.keys.is_empty();
        let mut score = sum * form.weight;
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
                    FormKind::Base => found.base |= counts,
                    FormKind::Fragment => found.partial |= counts,
                },
                None if is_inside_word => {}
                None => score *= SCATTERED_PENALTY,
            }
            match fit {
                Some(_) if wanted > 1 => score *= ADJACENT_BOOST,
                None if !is_phrase && !is_related && (wanted > 2 || form.text.is_ascii()) => {
                    found.partial |= counts;
                }
                _ => {}
            }
            if usize::from(titles) >= wanted && !is_inside_word {
                found.heading |= counts;
            }
        } else if wanted >= 3 && key_count * 5 >= wanted * 3 && !is_phrase && !is_related {
            // Three fifths of the keys count as a partial match.
            found.partial |= counts;
            score *= PARTIAL_PENALTY;
        }
        // A node without a score would not count as found.
        found.score = found.score.max(score).max(f32::MIN_POSITIVE);
    });
}
