//! Two answers to the question in different words: each section's best statement of a value that the question asks for.

use super::super::query::Query;
use super::super::ranking::covered_weight;
use super::super::terms::{Form, FormKind, Term};
use super::super::wanted::Wanted;
use super::claims::{Claim, DURATION, FREQUENCY};
use super::compare::{other_values_differ, topics_differ};
use super::section::{Difference, Section, TermFinder};
use super::statements::Statement;
use super::word_lists::PERSONS;
use super::words::{Word, same_word};
use crate::index::stem;

/// Answers in other words are compared among the best 6 candidates only: what ranks lower often answers another
/// question.
const MAX_ANSWERING: usize = 6;

/// Where a question asks for no kind of value, the minimum share of its terms, by weight, that an answer contains itself.
const MIN_TERMS_OF_ANSWER: f32 = 0.7;

/// What a question asks for.
pub struct Asked<'a> {
    /// The question.
    pub query: &'a Query,
    /// The weights of its terms.
    pub weights: &'a [f32],
    /// Finds its terms.
    pub finder: &'a TermFinder,
}

/// The best statement of a section that answers the question, and its values.
struct Answer<'a> {
    index: usize,
    statement: &'a Statement,
    terms: u64,
    values: Vec<&'a Claim>,
}

impl Asked<'_> {
    /// The answers of two sections, where they cannot both hold.
    pub fn difference(&self, one: &Section, other: &Section) -> Option<Difference> {
        if one.rank.max(other.rank) >= MAX_ANSWERING {
            return None;
        }
        let (mine, theirs) = (self.answer(one)?, self.answer(other)?);
        let shared = mine.terms & theirs.terms;
        let deciding = self.query.deciding_terms();
        let is_about_both = (shared & deciding).count_ones() * 2 >= deciding.count_ones();
        let (left, right) = (mine.statement, theirs.statement);
        let is_exception = left.cues.is_exception || right.cues.is_exception;
        if !is_about_both || is_exception || left.is_opposed_to(right) {
            return None;
        }
        let pairs =
            || mine.values.iter().flat_map(|mine| theirs.values.iter().map(move |theirs| (*mine, *theirs)));
        if pairs().any(|(mine, theirs)| mine.dimension == theirs.dimension && mine.same_value(theirs)) {
            return None;
        }
        let (one, other) = pairs().find(|(one, other)| {
            one.contradicts(other) && !other_values_differ((left, one), (right, other))
        })?;
        let is_other_subject = left.has_own_condition(right)
            || right.has_own_condition(left)
            || rates_differ(left, right)
            || self.are_qualified_differently(left, right, shared);
        let about = format!("{} / {}", one.shown, other.shown);
        (!is_other_subject).then_some(Difference {
            about,
            terms: shared,
            one: mine.index,
            other: theirs.index,
        })
    }

    /// The statement of a section with most of the terms among those with a value that is asked for. None where another
    /// one is as good and states other values.
    fn answer<'a>(&self, section: &'a Section) -> Option<Answer<'a>> {
        let weight = |terms: u64| covered_weight(self.weights, terms);
        let total: f32 = self.weights.iter().sum();
        let mut best: Option<(f32, Answer<'a>)> = None;
        let mut is_ambiguous = false;
        for (index, (statement, terms)) in section.statements.iter().enumerate() {
            let own_terms = self.finder.terms_in(&statement.sentence.text);
            let is_asked = |claim: &&Claim| match self.query.wanted.has_any(Wanted::MEASURED) {
                true => self.query.wanted.has_any(kind(&claim.dimension)),
                false => weight(own_terms) >= MIN_TERMS_OF_ANSWER * total,
            };
            let values: Vec<&Claim> = statement.claims.iter().filter(is_asked).collect();
            if values.is_empty() {
                continue;
            }
            // The terms of the heading count less than those of the sentence.
            let score = weight(own_terms) + weight(*terms) / 2.0;
            match &best {
                Some((known, answer)) if score == *known => {
                    let is_known = |value: &&Claim| answer.values.iter().any(|known| known.same_value(value));
                    is_ambiguous |= !values.iter().any(is_known);
                }
                Some((known, _)) if score < *known => {}
                _ => {
                    best = Some((score, Answer { index, statement, terms: *terms, values }));
                    is_ambiguous = false;
                }
            }
        }
        best.filter(|_| !is_ambiguous).map(|(_, answer)| answer)
    }

    /// Whether two sentences speak of different things in words that contain a shared term or stand beside one:
    /// 入院給付金 and 通院給付金, 給付金の支払い and 給付金の申請.
    fn are_qualified_differently(&self, one: &Statement, other: &Statement, shared: u64) -> bool {
        let is_shared = |word: &Word| self.terms_of(shared).any(|term| is_form(term, &word.text));
        let positions = |statement: &Statement| -> Vec<usize> {
            let words = statement.words().iter().enumerate();
            words.filter(|(_, word)| is_shared(word)).map(|(index, _)| index).collect()
        };
        let (left, right) = (positions(one), positions(other));
        let at = |statement: &Statement, indexes: &[usize]| -> Vec<Word> {
            indexes.iter().filter_map(|index| statement.words().get(*index).cloned()).collect()
        };
        let (ours, theirs) = (at(one, &left), at(other, &right));
        let is_known =
            |word: &Word, others: &[Word]| others.iter().any(|other| same_word(&other.text, &word.text));
        if !ours.is_empty() && !theirs.is_empty() && !ours.iter().any(|word| is_known(word, &theirs)) {
            return true;
        }
        let is_general = |word: &Word| self.is_term(word) || PERSONS.contains(&word.text.as_str());
        let has_own = |words: &[Word], others: &[Word]| {
            words.iter().any(|word| !is_general(word) && !is_known(word, others))
        };
        let (ours, theirs) = (at(one, &neighbors(one, &left)), at(other, &neighbors(other, &right)));
        let has_term = |topic: &[Word]| topic.iter().any(|word| self.is_term(word));
        (has_own(&ours, other.words()) && has_own(&theirs, one.words()))
            || (topics_differ(one, other) && !has_term(one.topic()) && !has_term(other.topic()))
    }

    fn terms_of(&self, terms: u64) -> impl Iterator<Item = &Term> {
        let is_set = move |index: usize| terms >> index & 1 == 1;
        self.query.terms.iter().enumerate().filter(move |(index, _)| is_set(*index)).map(|(_, term)| term)
    }

    fn is_term(&self, word: &Word) -> bool {
        self.query.terms.iter().any(|term| is_form(term, &word.text))
    }
}

/// The kind of fact that a value of a dimension is.
fn kind(dimension: &str) -> Wanted {
    match dimension {
        DURATION | FREQUENCY => Wanted::DURATION,
        unit => Wanted::of_unit(unit),
    }
}

/// Whether two sentences state rates of different things: per person and per group.
fn rates_differ(one: &Statement, other: &Statement) -> bool {
    let basis = |statement: &Statement| {
        let after = statement.sentence.text.split_once(" per ")?.1;
        after.split([' ', '.', ',']).next().map(stem)
    };
    basis(one).zip(basis(other)).is_some_and(|(one, other)| one != other)
}

/// Whether a word is a spelling of a term, or contains one.
fn is_form(term: &Term, word: &str) -> bool {
    let is_spelling = |form: &&Form| form.kind != FormKind::Synonym;
    let is_same = |form: &Form| same_word(&stem(&form.text), word) || word.contains(form.text.as_str());
    term.forms.iter().filter(is_spelling).any(is_same)
}

/// The words directly beside these ones that say which of several things is meant, as indexes: the word before, and a noun
/// behind の or `of`.
fn neighbors(statement: &Statement, words: &[usize]) -> Vec<usize> {
    let between = |first: usize, second: usize| {
        let (first, second) = (statement.words().get(first)?, statement.words().get(second)?);
        statement.sentence.text.get(first.range.end..second.range.start)
    };
    let is_before = |word: &usize| matches!(between(*word, word + 1), Some("" | " " | "の" | "-"));
    let is_after = |word: &usize| {
        matches!(
            between(word - 1, *word),
            Some("" | "の" | "-" | " a " | " an " | " the " | " of " | " of the " | " for " | " for the ")
        )
    };
    let before = words.iter().filter_map(|word| word.checked_sub(1)).filter(is_before);
    let after = words.iter().map(|word| word + 1).filter(is_after);
    before.chain(after).collect()
}

#[cfg(test)]
#[path = "answers_tests.rs"]
mod tests;
