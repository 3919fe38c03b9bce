//! Queries as patterns: regular expressions, literal text, or text whose separators do not count.

use annai_core::ToolError;
use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::LibraryError;
use crate::text::loose_pattern;

/// The maximum size of a compiled pattern: 4 MiB hold any pattern that a person writes, and every thread has its own
/// copy of the lazy automaton. A larger one is refused.
const MAX_PATTERN_BYTES: usize = 4 << 20;
/// The maximum length of a loose query. Every character of it becomes a part of a pattern, and a loose query is a few
/// words; a longer one is refused.
const MAX_LOOSE_CHARS: usize = 1000;

/// How a query is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchMode {
    Regex,
    Plain,
    Loose,
}

/// A query, ready to be looked for.
pub enum Pattern {
    /// These bytes.
    Literal(Box<Finder<'static>>),
    /// What this describes.
    Regex(Regex),
}

impl Pattern {
    /// Reads a query. A regular expression that is none is looked for as it stands.
    pub fn new(query: &str, mode: SearchMode) -> Result<Self, ToolError> {
        let literal = || Self::Literal(Box::new(Finder::new(query.as_bytes()).into_owned()));
        let pattern = match mode {
            SearchMode::Plain => return Ok(literal()),
            SearchMode::Regex => query.to_owned(),
            SearchMode::Loose if query.chars().count() > MAX_LOOSE_CHARS => {
                let problem = format!("expected at most {MAX_LOOSE_CHARS} characters in mode loose");
                return Err(LibraryError::invalid("query", problem).into());
            }
            SearchMode::Loose => match loose_pattern(query) {
                Some(pattern) => pattern,
                None => {
                    let problem = "expected letters or digits, got only separators";
                    return Err(LibraryError::invalid("query", problem).into());
                }
            },
        };
        let mut builder = RegexBuilder::new(&pattern);
        builder.case_insensitive(true).multi_line(true).crlf(true);
        match builder.size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_BYTES).build() {
            Ok(regex) => Ok(Self::Regex(regex)),
            Err(regex::Error::CompiledTooBig(_)) => {
                let problem = "the pattern is too large; make it shorter, or use mode plain";
                Err(LibraryError::invalid("query", problem).into())
            }
            Err(_) => Ok(literal()),
        }
    }

    /// The first match from a byte on, as its start and end.
    pub fn find_at(&self, bytes: &[u8], start: usize) -> Option<(usize, usize)> {
        match self {
            Self::Literal(finder) => {
                let at = finder.find(bytes.get(start..)?)? + start;
                Some((at, at + finder.needle().len()))
            }
            Self::Regex(regex) => regex.find_at(bytes, start).map(|found| (found.start(), found.end())),
        }
    }
}
