//! Finds the terms of a question in lines of the original text, for previews.

use std::collections::HashSet;
use std::ops::Range;

use annai_core::ToolError;

use crate::matching::needle::Needle;
use crate::query::Query;
use crate::query::dictionary::Dictionary;
use crate::query::terms::Term;
use crate::query::wordings::OtherWords;
use crate::query::wordings::wordings_of;
use annai_text::{Normalized, normalize_text};

/// The terms of a question or of its other wordings, to be found in lines of the original text.
pub struct LineHighlighter {
    terms: Vec<HighlightTerm>,
}

struct HighlightTerm {
    text: String,
    /// Its length times its strength: long and specific terms make a line a better preview.
    weight: f32,
    /// One needle for each form of the term.
    needles: Vec<Needle>,
}

impl LineHighlighter {
    /// The terms of a question.
    pub fn new(question: &str, dictionary: &Dictionary) -> Result<Self, ToolError> {
        Ok(Self::of_terms(&Query::new(question, None, dictionary)?.terms))
    }

    /// The terms of the other wordings of a question.
    pub fn of_other_words(
        other_words: &OtherWords,
        question: &str,
        dictionary: &Dictionary,
    ) -> Result<Self, ToolError> {
        let query = Query::new(question, None, dictionary)?;
        let wordings = wordings_of(other_words, question, &query, dictionary)?;
        Ok(Self::of_terms(wordings.iter().flat_map(|wording| &wording.query.terms)))
    }

    /// A term that several wordings have counts once.
    fn of_terms<'a>(terms: impl IntoIterator<Item = &'a Term>) -> Self {
        let mut seen = HashSet::new();
        let terms = terms.into_iter().filter(|term| seen.insert(term.text()));
        let terms = terms.map(|term| HighlightTerm {
            text: term.text().to_owned(),
            weight: term.strength * term.text().chars().count() as f32,
            needles: term.forms.iter().map(|form| Needle::new(&form.text)).collect(),
        });
        Self { terms: terms.collect() }
    }

    /// The terms that a line contains, each with its weight.
    pub fn terms_in(&self, line: &str) -> Vec<(String, f32)> {
        let normal = normalize_text(line);
        let contained =
            self.terms.iter().filter(|term| term.needles.iter().any(|needle| needle.find(&normal).is_some()));
        contained.map(|term| (term.text.clone(), term.weight)).collect()
    }

    /// All places of terms in a line, as byte ranges of it, in order and without overlaps.
    pub fn matches(&self, line: &str) -> Vec<Range<usize>> {
        let normal = Normalized::new(line);
        let needles = self.terms.iter().flat_map(|term| &term.needles);
        let mut places: Vec<Range<usize>> = needles
            .flat_map(|needle| needle.exact_positions(&normal.text).map(|at| at..at + needle.length()))
            .map(|place| normal.original(place))
            .collect();
        places.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
        let mut end = 0;
        places.retain(|place| {
            let is_free = place.start >= end && !place.is_empty();
            end = if is_free { place.end } else { end };
            is_free
        });
        places
    }

    /// The first character of the first term in a line, as a byte range of it; an empty range where there is none.
    pub fn first_match(&self, line: &str) -> Range<usize> {
        let normal = Normalized::new(line);
        let places = self
            .terms
            .iter()
            .flat_map(|term| &term.needles)
            .filter_map(|needle| needle.position(&normal.text));
        places.min().map_or(0..0, |at| normal.original(at..at + 1))
    }
}

#[cfg(test)]
#[path = "highlight_tests.rs"]
mod tests;
