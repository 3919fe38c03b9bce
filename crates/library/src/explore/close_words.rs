//! The words of the searched text that are close to terms that stand nowhere.

use std::collections::HashMap;

use super::absent_terms::AbsentTerms;
use super::place::NodePlace;
use super::similarity::{CLOSE, ComparedTerm, RELATED};
use crate::text::is_separator;

/// The maximum number of missing terms, and of terms that occur, that words are compared with: each is compared with every
/// word.
pub const MAX_COMPARED_TERMS: usize = 5;
/// The maximum number of words that are kept.
const MAX_CLOSE_WORDS: usize = 200;
/// The minimum number of letters of a word of a missing phrase that is worth asking with.
const MIN_PART_LETTERS: usize = 4;

/// A word that is close to a missing term.
pub struct CloseWord {
    /// How similar it is, from 0 to 1.
    pub similarity: f32,
    /// The missing term, as an index.
    pub term: usize,
    /// A section that contains the word.
    pub place: NodePlace,
}

/// The words that are close to the terms that stand nowhere.
pub struct CloseWords {
    terms: Vec<(usize, ComparedTerm)>,
    /// The words of missing terms of several words. Each may occur where the whole term does not.
    parts: HashMap<String, usize>,
    words: HashMap<String, CloseWord>,
}

impl CloseWords {
    /// Prepares the missing terms.
    pub fn new(search: &AbsentTerms<'_>) -> Self {
        let (mut terms, mut parts) = (Vec::new(), HashMap::new());
        for (index, term) in search.missing_terms().take(MAX_COMPARED_TERMS) {
            let words: Vec<_> = term.text().split(is_separator).filter(|word| !word.is_empty()).collect();
            if words.len() > 1 && term.text().is_ascii() {
                let words = words.into_iter().filter(|word| word.len() >= MIN_PART_LETTERS);
                parts.extend(words.map(|word| (word.to_owned(), index)));
            } else {
                terms.extend(ComparedTerm::new(term.text()).map(|term| (index, term)));
            }
        }
        Self { terms, parts, words: HashMap::new() }
    }

    /// Whether there is nothing to compare with.
    pub fn is_idle(&self) -> bool {
        self.terms.is_empty() && self.parts.is_empty()
    }

    /// Compares a word of a section with the missing terms, and keeps it if it is related. Returns how similar it is to
    /// one of them; a word that is a part of one is not similar to it.
    pub fn compare(&mut self, word: &str, place: NodePlace) -> f32 {
        let part = self.parts.get(word).map(|term| (*term, CLOSE));
        let terms = self.terms.iter().map(|(index, term)| (*index, term.similarity(word)));
        let best = terms.max_by(|one, other| one.1.total_cmp(&other.1));
        let best = best.filter(|(_, similarity)| *similarity >= RELATED).or(part);
        let Some((term, similarity)) = best else { return 0.0 };
        self.keep(word, term, similarity, place);
        if part.is_some() { 0.0 } else { similarity }
    }

    /// Keeps a word of a section that is close to a missing term.
    pub fn keep(&mut self, word: &str, term: usize, similarity: f32, place: NodePlace) {
        // Words that are merely related leave room for close ones.
        let max = if similarity >= CLOSE { MAX_CLOSE_WORDS } else { MAX_CLOSE_WORDS / 2 };
        if !self.words.contains_key(word) && self.words.len() < max {
            self.words.insert(word.to_owned(), CloseWord { similarity, term, place });
        }
    }

    /// The kept words, the most similar first.
    pub fn ranked(self) -> Vec<(String, CloseWord)> {
        let mut words: Vec<_> = self.words.into_iter().collect();
        words.sort_by(|one, other| {
            other.1.similarity.total_cmp(&one.1.similarity).then_with(|| one.0.cmp(&other.0))
        });
        words
    }
}
