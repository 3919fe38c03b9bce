//! A question's terms in lines as they are written, for people who look at results.

use std::ops::Range;

use annai_core::ToolError;

use super::dictionary::Dictionary;
use super::loosely::Needle;
use super::query::Query;
use crate::text::{Normalized, normalize_text};

/// The terms of a question, to be looked for in lines as they are written.
pub struct Looking {
    terms: Vec<(String, f32, Vec<Needle>)>,
}

impl Looking {
    /// Reads a question.
    pub fn new(question: &str, dictionary: &Dictionary) -> Result<Self, ToolError> {
        let query = Query::new(question, None, dictionary)?;
        let terms = query.terms.iter().map(|term| {
            let needles = term.forms.iter().map(|form| Needle::new(&form.text)).collect();
            (term.text().to_owned(), term.strength * term.text().chars().count() as f32, needles)
        });
        Ok(Self { terms: terms.collect() })
    }

    /// The terms that stand in a line, and what each is worth.
    pub fn held(&self, line: &str) -> Vec<(String, f32)> {
        let normal = normalize_text(line);
        let held = self
            .terms
            .iter()
            .filter(|(.., needles)| needles.iter().any(|needle| needle.find(&normal).is_some()));
        held.map(|(term, worth, _)| (term.clone(), *worth)).collect()
    }

    /// Where the first of them stands in a line, in bytes.
    pub fn place(&self, line: &str) -> Range<usize> {
        let normal = Normalized::new(line);
        let places = self
            .terms
            .iter()
            .flat_map(|(.., needles)| needles)
            .filter_map(|needle| needle.place(&normal.text));
        places.min().map_or(0..0, |at| normal.original(at..at + 1))
    }
}
