//! Search patterns: regular expressions, literal text, or loose text whose separators are ignored.

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
/// The maximum length of a loose query, because the pattern grows with every character; a longer query is refused.
const MAX_LOOSE_CHARS: usize = 1000;

/// How a query is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchMode {
    Regex,
    Plain,
    Loose,
}

/// A compiled query.
pub enum Pattern {
    /// Literal bytes.
    Literal(Box<Finder<'static>>),
    /// A regular expression.
    Regex(Regex),
}

impl Pattern {
    /// Compiles a query. An invalid regular expression is searched as literal text.
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

    /// The start and end of the first match at or after a byte.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str, mode: SearchMode, text: &str) -> Option<(usize, usize)> {
        Pattern::new(query, mode).unwrap().find_at(text.as_bytes(), 0)
    }

    #[test]
    fn each_mode_matches_in_its_own_way() {
        assert_eq!(found("^B.", SearchMode::Regex, "a\r\nbc"), Some((3, 5)));
        assert_eq!(found("a(", SearchMode::Regex, "b a( c"), Some((2, 4)), "an invalid pattern is literal");
        assert_eq!(found("B.", SearchMode::Plain, "bc B."), Some((3, 5)));
        assert_eq!(found("userid", SearchMode::Loose, "the User-ID"), Some((4, 11)));
        assert_eq!(Pattern::new("a", SearchMode::Plain).unwrap().find_at(b"aa", 1), Some((1, 2)));
    }

    #[test]
    fn queries_that_cannot_be_searched_are_refused() {
        for (query, mode) in [
            ("・-", SearchMode::Loose),
            ("a{1000}{1000}{1000}", SearchMode::Regex),
            (&"a".repeat(1001), SearchMode::Loose),
        ] {
            assert!(Pattern::new(query, mode).is_err(), "{query}");
        }
    }
}
