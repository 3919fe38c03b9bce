//! The terms of a question in lines as they are written, for people who look at results.

use std::ops::Range;

use annai_core::ToolError;

use super::dictionary::Dictionary;
use super::needle::Needle;
use super::query::Query;
use crate::text::{Normalized, normalize_text};

/// The terms of a question, to be looked for in lines as they are written.
pub struct LineHighlighter {
    terms: Vec<HighlightTerm>,
}

struct HighlightTerm {
    text: String,
    /// Long and telling terms make a line a better preview.
    weight: f32,
    /// One for each form of the term.
    needles: Vec<Needle>,
}

impl LineHighlighter {
    /// Reads a question.
    pub fn new(question: &str, dictionary: &Dictionary) -> Result<Self, ToolError> {
        let query = Query::new(question, None, dictionary)?;
        let terms = query.terms.iter().map(|term| HighlightTerm {
            text: term.text().to_owned(),
            weight: term.strength * term.text().chars().count() as f32,
            needles: term.forms.iter().map(|form| Needle::new(&form.text)).collect(),
        });
        Ok(Self { terms: terms.collect() })
    }

    /// The terms that stand in a line, each with its weight.
    pub fn terms_in(&self, line: &str) -> Vec<(String, f32)> {
        let normal = normalize_text(line);
        let held =
            self.terms.iter().filter(|term| term.needles.iter().any(|needle| needle.find(&normal).is_some()));
        held.map(|term| (term.text.clone(), term.weight)).collect()
    }

    /// Where the first term in a line begins, in bytes; an empty range where none does.
    pub fn first_match(&self, line: &str) -> Range<usize> {
        let normal = Normalized::new(line);
        let places =
            self.terms.iter().flat_map(|term| &term.needles).filter_map(|needle| needle.place(&normal.text));
        places.min().map_or(0..0, |at| normal.original(at..at + 1))
    }
}
