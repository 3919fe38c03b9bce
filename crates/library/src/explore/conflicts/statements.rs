//! What a sentence states: its content words, its values, and whether it affirms or denies.

use std::cell::OnceCell;
use std::ops::Range;

use super::super::sentences::Sentence;
use super::claims::{Claim, claims, is_value};
use super::cues::Cues;
use super::named_values::{spans_without_number, with_counted_nouns};
use super::word_lists::{CONTRASTS, ENGLISH_CONDITIONS, JAPANESE_CONDITIONS, POINTERS};
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
        let is_open = text.ends_with(['?', ':']) || POINTERS.iter().any(|word| text.starts_with(word));
        if is_open {
            return None;
        }
        let cues = Cues::of(text);
        if cues.states_nothing {
            return None;
        }
        let mut values = with_counted_nouns(text, facts(text));
        values.retain(|fact| is_value(text, fact));
        values.extend(spans_without_number(text));
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
        let end = self.sentence.text.find('は').unwrap_or(0);
        let count = self.words().iter().take_while(|word| word.range.start < end).count();
        self.words().get(..count).unwrap_or_default()
    }

    /// Whether it has a condition that another one does not name: most words of it are not in the other. Single
    /// characters are stems of verbs, and do not count.
    pub fn has_own_condition(&self, other: &Self) -> bool {
        let words = self.words();
        let condition = words.get(condition(&self.sentence.text, words)).unwrap_or_default();
        let counts = |word: &&Word| word.text.chars().nth(1).is_some();
        let is_known = |word: &&Word| other.words().iter().any(|known| same_word(&known.text, &word.text));
        let known = condition.iter().filter(counts).filter(is_known).count();
        known * 2 < condition.iter().filter(counts).count()
    }

    /// Whether two sentences take different sides of a contrast: before and after, with and without.
    pub fn is_opposed_to(&self, other: &Self) -> bool {
        CONTRASTS.iter().enumerate().any(|(number, (_, against))| {
            let side = |statement: &Self| statement.cues.contrasts >> (2 * number) & 3;
            let (mine, theirs) = (side(self), side(other));
            if against.is_empty() { mine != theirs } else { mine | theirs == 3 }
        })
    }
}

/// The words of the condition of a sentence, as indexes.
fn condition(text: &str, words: &[Word]) -> Range<usize> {
    let index = |at: usize| words.iter().take_while(|word| word.range.start < at).count();
    if let Some(at) = JAPANESE_CONDITIONS.iter().filter_map(|word| text.find(word)).max() {
        return 0..index(at);
    }
    let starts = ENGLISH_CONDITIONS.iter().filter_map(|word| {
        let is_start = |at: &usize| {
            *at == 0 || (!matches!(*word, "for " | "after ") && text.as_bytes().get(at - 1) == Some(&b' '))
        };
        text.match_indices(word).map(|(at, _)| at).find(is_start).map(|at| at + word.len())
    });
    match starts.min() {
        Some(at) => {
            let length = text.get(at..).and_then(|rest| rest.find(',')).unwrap_or(text.len() - at);
            index(at)..index(at + length)
        }
        None => 0..0,
    }
}

#[cfg(test)]
#[path = "statements_tests.rs"]
mod tests;
