//! The signals that sufficiency is estimated from: how the words of a question stand in the best five sections.

use std::collections::HashSet;

use crate::conclusion::sentences::sentences;
use crate::index::{Key, View, tokens};
use crate::matching::candidate::Candidate;
use crate::matching::place::{NodePlace, node_at};
use crate::query::Query;
use crate::query::terms::{Form, FormKind, Role, Term};
use crate::ranking::MAX_SHOWN;
use crate::stages::{MatchedWording, StageOutcome};
use annai_text::normalize_text;

/// How much a form counts that is not the term itself.
const SYNONYM_FIT: f64 = 0.85;
/// How much a form counts of which only a part occurs, relative to the share of that part.
const PART_FIT: f64 = 0.6;
/// A term with a lower fit is missing.
const MIN_FIT: f64 = 0.7;

/// How the words of a question stand in the best sections. Each share lies between 0 and 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SufficiencySignals {
    /// The share of the terms in the best sentence with its headings; where the question asks for a value, among the
    /// sentences that state one.
    pub answer: f64,
    /// The share of the terms, by weight, in the best section with its headings.
    pub section: f64,
    /// The share of the terms, by weight, that stand nowhere.
    pub absent: f64,
    /// Whether no section has one of the codes, quotations and numbers of the question.
    pub lacks_identifier: bool,
    /// How far the best section leads the third and the sixth; where there is no such section, the share of the terms that
    /// it contains.
    pub lead_over_third: f64,
    pub lead_over_sixth: f64,
}

/// What the signals are taken from.
pub struct Outcome<'a> {
    /// The indexes that were searched.
    pub views: &'a [View],
    /// The question.
    pub query: &'a Query,
    /// The weights of its terms.
    pub weights: &'a [f32],
    /// The best candidates, best first.
    pub candidates: &'a [Candidate],
}

impl SufficiencySignals {
    /// The signals of a find.
    pub fn of(outcome: &Outcome<'_>) -> Self {
        let &Outcome { query, weights, candidates, .. } = outcome;
        let top = candidates.get(..MAX_SHOWN.min(candidates.len())).unwrap_or_default();
        let reader = TermReader::new(query, weights);
        let mut signals = Self::default();
        let mut found = HashSet::new();
        for candidate in top {
            found.extend(signals.add(outcome, &reader, candidate.place));
        }
        let score = |index: usize| candidates.get(index).map(|candidate| f64::from(candidate.score));
        let lead = |index: usize| match (score(0), score(index)) {
            (Some(best), Some(other)) if best > 0.0 => 1.0 - other / best,
            (Some(best), None) if best > 0.0 => signals.section,
            _ => 0.0,
        };
        let everywhere = candidates.iter().fold(0_u64, |bits, candidate| bits | candidate.terms);
        let is_absent = |index: usize| everywhere >> index & 1 == 0;
        let absent: f64 = reader
            .weights
            .iter()
            .enumerate()
            .filter(|(index, _)| is_absent(*index))
            .map(|(_, weight)| weight)
            .sum();
        let is_missing = |term: &Term| term.role == Role::Must && fit(term, &found) < MIN_FIT;
        Self {
            lacks_identifier: query.terms.iter().any(is_missing),
            absent: absent / total(&reader.weights),
            lead_over_third: lead(2),
            lead_over_sixth: lead(MAX_SHOWN),
            ..signals
        }
    }

    /// Adds a section, and returns the keys of the question that it and its headings contain.
    fn add(&mut self, outcome: &Outcome<'_>, reader: &TermReader<'_>, place: NodePlace) -> HashSet<Key> {
        let &Outcome { views, query, .. } = outcome;
        let Some((segment, node)) = node_at(views, place) else { return HashSet::new() };
        let titles = reader.keys_of_titles(views, place);
        let text = segment.text_of(node);
        let whole: HashSet<Key> = reader.keys_in(text).into_iter().chain(titles.iter().copied()).collect();
        self.section = self.section.max(reader.share(&whole, &reader.weights));

        let body = text.lines().skip(node.heading_lines as usize);
        for sentence in sentences(body) {
            let own = reader.keys_in(&sentence.text);
            if own.is_empty() && query.asked_value.is_none() {
                continue;
            }
            let keys: HashSet<Key> = own.into_iter().chain(titles.iter().copied()).collect();
            let covered = reader.share(&keys, &reader.strengths);
            let states_value = || {
                query
                    .asked_value
                    .as_ref()
                    .is_none_or(|asked| asked.is_stated_in(&sentence.text, sentence.is_cell))
            };
            if covered > self.answer && states_value() {
                self.answer = covered;
            }
        }
        whole
    }
}

/// What the other wordings of a question add to its signals. Each lies between 0 and 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WordingSignals {
    /// The highest [`SufficiencySignals::answer`] among the other wordings.
    pub answer: f64,
    /// The mean [`SufficiencySignals::section`] of the other wordings.
    pub section: f64,
    /// The share of the wordings, the question among them, whose first section on their own is among the best five.
    pub agreement: f64,
}

impl WordingSignals {
    /// The signals of the other wordings; none where there are none.
    pub fn of(views: &[View], outcome: &StageOutcome) -> Option<Self> {
        if outcome.wordings.is_empty() {
            return None;
        }
        let candidates = outcome.inside();
        let signals = |other: &MatchedWording| {
            let (query, weights) = (&other.wording.query, other.matched.term_weights.as_slice());
            SufficiencySignals::of(&Outcome { views, query, weights, candidates })
        };
        let all: Vec<SufficiencySignals> = outcome.wordings.iter().map(signals).collect();
        let is_shown =
            |place: &NodePlace| candidates.iter().take(MAX_SHOWN).any(|known| known.place == *place);
        let bests = outcome.wordings.iter().map(|other| other.best).chain([outcome.question_best]);
        let agreeing = bests.flatten().filter(is_shown).count();
        Some(Self {
            answer: all.iter().map(|signals| signals.answer).fold(0.0, f64::max),
            section: all.iter().map(|signals| signals.section).sum::<f64>() / all.len() as f64,
            agreement: agreeing as f64 / (outcome.wordings.len() + 1) as f64,
        })
    }
}

fn total(weights: &[f64]) -> f64 {
    weights.iter().sum::<f64>().max(f64::MIN_POSITIVE)
}

/// Finds the terms of a question in texts by their index keys.
struct TermReader<'a> {
    query: &'a Query,
    /// The keys of all forms of all terms.
    keys: HashSet<Key>,
    /// The weights of the terms, which are higher for rare ones.
    weights: Vec<f64>,
    /// The weights of the terms by what they say alone.
    strengths: Vec<f64>,
}

impl<'a> TermReader<'a> {
    fn new(query: &'a Query, weights: &[f32]) -> Self {
        let forms = query.terms.iter().flat_map(|term| &term.forms);
        Self {
            keys: forms.flat_map(|form| form.keys.iter().copied()).collect(),
            weights: weights.iter().map(|weight| f64::from(*weight)).collect(),
            strengths: query.terms.iter().map(|term| f64::from(term.strength)).collect(),
            query,
        }
    }

    /// The keys of the question that a normalized text contains.
    fn keys_in(&self, text: &str) -> HashSet<Key> {
        let mut found = HashSet::new();
        tokens(text, &mut |key| {
            if self.keys.contains(&key) {
                found.insert(key);
            }
        });
        found
    }

    /// The keys of the question in the titles from the top of the file down to a section.
    fn keys_of_titles(&self, views: &[View], place: NodePlace) -> HashSet<Key> {
        let (mut found, mut next) = (HashSet::new(), Some(place));
        while let Some((_, node)) = next.and_then(|place| node_at(views, place)) {
            found.extend(self.keys_in(&normalize_text(&node.title)));
            next = node.parent.map(|node| NodePlace { node, ..place });
        }
        found
    }

    /// The share of the terms that these keys contain.
    fn share(&self, keys: &HashSet<Key>, weights: &[f64]) -> f64 {
        if keys.is_empty() {
            return 0.0;
        }
        let terms = self.query.terms.iter().zip(weights);
        terms.map(|(term, weight)| weight * fit(term, keys)).sum::<f64>() / total(weights)
    }
}

/// How well keys contain a term, from 0 to 1, in its best form.
fn fit(term: &Term, keys: &HashSet<Key>) -> f64 {
    let of_form = |form: &Form| {
        let found = form.keys.iter().filter(|key| keys.contains(key)).count();
        let full = match form.kind {
            FormKind::Spelling => 1.0,
            FormKind::Synonym => SYNONYM_FIT,
        };
        match form.keys.len() {
            0 => 0.0,
            all if all == found => full,
            all => full * PART_FIT * found as f64 / all as f64,
        }
    };
    term.forms.iter().map(of_form).fold(0.0, f64::max)
}
