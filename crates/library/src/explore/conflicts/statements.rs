//! What a sentence states: its content words, its values, and whether it affirms or denies.

use std::cell::OnceCell;
use std::ops::Range;

use super::super::sentences::Sentence;
use super::claims::{Claim, claims, is_value};
use super::cues::Cues;
use super::everyday_values::{weekdays, with_ages, with_frequencies, with_times_of_day};
use super::named_values::{spans_without_number, with_counted_nouns};
use super::word_lists::{AUXILIARIES, ENGLISH_CONDITIONS, JAPANESE_CONDITIONS, ORDERS, POINTERS, SITUATIONS};
use super::words::{Word, same_word, words_of};
use crate::facts::{Fact, facts};

/// What a sentence states.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The sentence.
    pub sentence: Sentence,
    /// Its content words in order, without those of its values; read when they are needed.
    words: OnceCell<Vec<Word>>,
    /// The places of its values.
    values: Vec<Fact>,
    /// The values that it states.
    pub claims: Vec<Claim>,
    /// The values that only say when it applies, or what another value refers to.
    pub conditions: Vec<Claim>,
    /// What its words reveal.
    pub cues: Cues,
}

impl Statement {
    /// What a sentence states; none where it states nothing that another one could contradict.
    pub fn new(sentence: Sentence) -> Option<Self> {
        let text = sentence.text.as_str();
        let is_open =
            is_question(text) || text.ends_with(':') || POINTERS.iter().any(|word| text.starts_with(word));
        if is_open {
            return None;
        }
        let cues = Cues::of(text);
        if cues.states_nothing {
            return None;
        }
        let values = with_frequencies(text, with_times_of_day(text, with_ages(text, facts(text))));
        let mut values = with_counted_nouns(text, values);
        values.retain(|fact| is_value(text, fact));
        values.extend(spans_without_number(text));
        values.extend(weekdays(text));
        values.sort_by_key(|fact| fact.range.start);
        let words = OnceCell::new();
        let (claims, conditions) = match values.is_empty() {
            true => (Vec::new(), Vec::new()),
            false => claims(text, &values, words.get_or_init(|| words_of(text, &values))),
        };
        Some(Self { words, values, claims, conditions, cues, sentence })
    }

    /// Its content words in order, without those of its values.
    pub fn words(&self) -> &[Word] {
        self.words.get_or_init(|| words_of(&self.sentence.text, &self.values))
    }

    /// The words that belong to a value.
    pub fn words_of(&self, claim: &Claim) -> Vec<&str> {
        let own = self.words().get(claim.words.clone()).unwrap_or_default();
        own.iter().map(|word| word.text.as_str()).collect()
    }

    /// All values, stated or not.
    pub fn all_values(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter().chain(&self.conditions)
    }

    /// The words of the topic of a Japanese sentence: those before は.
    pub fn topic(&self) -> &[Word] {
        self.words_before(self.sentence.text.find('は'))
    }

    /// The words of the subject of an English sentence: those before its auxiliary verb.
    pub fn subject(&self) -> &[Word] {
        let text = self.sentence.text.as_str();
        let verbs = AUXILIARIES.iter().filter_map(|verb| text.find(verb));
        self.words_before(verbs.min().filter(|_| text.is_ascii()))
    }

    fn words_before(&self, end: Option<usize>) -> &[Word] {
        let end = end.unwrap_or(0);
        let count = self.words().iter().take_while(|word| word.range.start < end).count();
        self.words().get(..count).unwrap_or_default()
    }

    /// Whether it has a condition that another one does not name: most words of it are not in the other. Single
    /// characters are stems of verbs, and do not count.
    pub fn has_own_condition(&self, other: &Self) -> bool {
        self.has_condition_unknown_to(other, None, &|_| false)
    }

    /// The same, where some words are known without standing in the other one, such as those of its headings. A condition
    /// that contains the value in question is what the sentence states: `when you turn 65, you can retire`.
    pub fn has_condition_unknown_to(
        &self,
        other: &Self,
        stated: Option<&Claim>,
        is_given: &dyn Fn(&Word) -> bool,
    ) -> bool {
        let words = self.words();
        let (range, is_clause) = condition(&self.sentence.text);
        if is_clause && stated.is_some_and(|claim| range.contains(&claim.range.start)) {
            return false;
        }
        // `For a new badge a fee of 25 euros is charged`: what is stated begins no later than at the value.
        let value = self.values.iter().map(|value| value.range.start).find(|start| range.contains(start));
        let end = value.filter(|start| *start > range.start && range.start > 0).unwrap_or(range.end);
        let index = |at: usize| words.iter().take_while(|word| word.range.start < at).count();
        let condition = words.get(index(range.start)..index(end)).unwrap_or_default();
        let counts = |word: &&Word| word.text.chars().nth(1).is_some();
        let is_known = |word: &&Word| {
            is_given(word) || other.words().iter().any(|known| same_word(&known.text, &word.text))
        };
        let known = condition.iter().filter(counts).filter(is_known).count();
        known * 2 < condition.iter().filter(counts).count()
    }

    /// Whether two sentences take different sides of a contrast: before and after, with and without.
    pub fn is_opposed_to(&self, other: &Self) -> bool {
        self.is_in_other_situation(other) || self.takes_other_side(other, ORDERS, SITUATIONS.len())
    }

    /// Whether two sentences are about different situations: with and without, summer and winter.
    pub fn is_in_other_situation(&self, other: &Self) -> bool {
        self.takes_other_side(other, SITUATIONS, 0)
    }

    fn takes_other_side(&self, other: &Self, contrasts: &[(&[&str], &[&str])], first: usize) -> bool {
        contrasts.iter().enumerate().any(|(number, (_, against))| {
            let side = |statement: &Self| statement.cues.contrasts >> (2 * (first + number)) & 3;
            let (mine, theirs) = (side(self), side(other));
            if against.is_empty() { mine != theirs } else { mine | theirs == 3 }
        })
    }
}

/// Whether a sentence asks.
pub fn is_question(text: &str) -> bool {
    let end = text.trim_end_matches(['。', '.', ' ', ']', '」']);
    end.ends_with(['?', 'か']) && !end.ends_with("ほか") && !end.ends_with("なか")
}

/// The bytes of a sentence that are its condition, and whether it is a clause rather than a phrase such as `during the
/// holidays`, which ends before a value.
fn condition(text: &str) -> (Range<usize>, bool) {
    // しなければならない is no condition.
    let is_condition = |at: usize, word: &str| {
        let after = text.get(at + word.len()..).unwrap_or_default();
        word != "なら" || !after.starts_with(['な', 'ず', 'び', 'う'])
    };
    let ends = JAPANESE_CONDITIONS
        .iter()
        .filter_map(|word| text.match_indices(word).map(|(at, _)| at).find(|at| is_condition(*at, word)));
    if let Some(at) = ends.max() {
        return (0..at, true);
    }
    let is_preposition = |word: &str| matches!(word, "for " | "after " | "during ");
    let starts = ENGLISH_CONDITIONS.iter().filter_map(|word| {
        let is_start =
            |at: &usize| *at == 0 || (!is_preposition(word) && text.as_bytes().get(at - 1) == Some(&b' '));
        let at = text.match_indices(word).map(|(at, _)| at).find(is_start)?;
        Some((at + word.len(), !is_preposition(word)))
    });
    match starts.min() {
        Some((at, is_clause)) => {
            let comma = text.get(at..).and_then(|rest| rest.find(','));
            (at..comma.map_or(text.len(), |length| at + length), is_clause)
        }
        None => (0..0, false),
    }
}

#[cfg(test)]
#[path = "statements_tests.rs"]
mod tests;
