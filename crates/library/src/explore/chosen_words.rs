//! The words that are suggested: each occurs in the searched text, says something, and is not in the question already.

use std::collections::HashSet;

use super::absent_terms::AbsentTerms;
use super::dictionary::{Dictionary, is_whole_word};
use super::near_headings::MIN_FORM_WEIGHT;
use super::needle::Needle;
use super::place::NodePlace;
use super::query::Query;
use super::terms::{Goal, lookup_keys};
use crate::index::Key;
use crate::text::is_separator;

/// The maximum number of words that are suggested.
const MAX_VOCABULARY: usize = 8;
/// The number of characters of a word that is worth suggesting. Longer ones are whole titles or encoded data.
const WORD_CHARS: std::ops::RangeInclusive<usize> = 2..=30;

/// The words that were chosen so far.
pub struct ChosenWords<'a> {
    search: &'a AbsentTerms<'a>,
    /// The words, in the order in which they were chosen.
    pub words: Vec<String>,
    /// The words of the question, and what the index looks them up by.
    asked: HashSet<&'a str>,
    known_keys: HashSet<Vec<Key>>,
}

impl<'a> ChosenWords<'a> {
    /// Nothing is chosen yet.
    pub fn new(search: &'a AbsentTerms<'a>) -> Self {
        let forms = || {
            let forms = search.outcome.query.terms.iter().flat_map(|term| &term.forms);
            forms.filter(|form| form.weight >= MIN_FORM_WEIGHT)
        };
        Self {
            search,
            words: Vec::new(),
            asked: forms().map(|form| form.text.as_str()).collect(),
            known_keys: forms().map(|form| form.keys.clone()).collect(),
        }
    }

    /// Adds a word unless there is no room, the question has it already, it says nothing, or a find with it would be
    /// empty. Returns whether it was added.
    pub fn add(&mut self, word: &str, place: NodePlace) -> bool {
        let keys = lookup_keys(word);
        let fits = self.words.len() < MAX_VOCABULARY
            && !self.asked.contains(word)
            && !self.known_keys.contains(&keys)
            && is_askable(word)
            && self
                .search
                .section_at(place)
                .is_some_and(|(segment, node)| occurs(word, segment.text_of(node)));
        if fits {
            self.known_keys.insert(keys);
            self.words.push(word.to_owned());
        }
        fits
    }

    /// Adds a word unless a chosen word or a term that occurs contains it or is contained in it.
    pub fn add_distinct(&mut self, word: &str, place: NodePlace) {
        let overlaps = |other: &str| other.contains(word) || word.contains(other);
        let is_used = self.search.found_terms().any(|term| term.text().contains(word));
        if !is_used && !self.words.iter().any(|other| overlaps(other)) {
            self.add(word, place);
        }
    }
}

/// Whether a text contains a word as a whole.
fn occurs(word: &str, text: &str) -> bool {
    let needle = Needle::new(word);
    needle.exact_positions(text).any(|start| is_whole_word(text, start, start + word.len()))
}

/// Whether a word is a question of one term that says something.
fn is_askable(word: &str) -> bool {
    let starts_with_letter = word.chars().next().is_some_and(|first| first.is_ascii_alphabetic());
    let is_one_word = starts_with_letter && !word.contains(is_separator);
    let has_number = word.chars().any(|character| character.is_ascii_digit()) && !is_one_word;
    let Ok(query) = Query::new(word, None, &Dictionary::empty()) else { return false };
    let [term] = query.terms.as_slice() else { return false };
    !has_number
        && WORD_CHARS.contains(&word.chars().count())
        && query.goal == Goal::Answer
        && query.negatives.is_empty()
        && term.strength >= 1.0
        && term.forms.first().is_some_and(|form| form.text == word)
}
