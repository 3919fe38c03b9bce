//! Search patterns: regular expressions, literal text, or loose text whose separators are ignored.

use annai_core::ToolError;
use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reach::{PatternTooLarge, Reach};
use annai_files::LibraryError;
use annai_text::{loose_pattern, truncate_chars};

/// The maximum size of a compiled pattern: 4 MiB hold any pattern that a person writes, and every thread has its own
/// copy of the lazy automaton. A larger one is refused.
const MAX_PATTERN_BYTES: usize = 4 << 20;
/// The maximum length of a loose query, because the pattern grows with every character; a longer query is refused.
const MAX_LOOSE_CHARS: usize = 1000;

/// The maximum length of a parser's message, which repeats the pattern; of a longer one only the last line is kept.
const MAX_ERROR_CHARS: usize = 500;

/// How a query is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SearchMode {
    Regex,
    Plain,
    Loose,
}

/// A compiled query.
pub(crate) enum Pattern {
    /// Literal bytes.
    Literal(Box<Finder<'static>>),
    /// A regular expression, and the windows in which it is searched.
    Regex(Regex, Reach),
}

/// A compiled query, and how it was read.
pub(crate) struct CompiledQuery {
    /// The pattern.
    pub(crate) pattern: Pattern,
    /// The mode that was applied.
    pub(crate) mode: SearchMode,
    /// Why the query is not a regular expression, when it was asked for and plain text is searched instead.
    pub(crate) error: Option<String>,
}

impl CompiledQuery {
    /// Compiles a query. An invalid regular expression is searched as literal text.
    pub(crate) fn new(query: &str, mode: SearchMode) -> Result<Self, ToolError> {
        let literal = || Pattern::Literal(Box::new(Finder::new(query.as_bytes()).into_owned()));
        let pattern = match mode {
            SearchMode::Plain => return Ok(Self { pattern: literal(), mode, error: None }),
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
        let too_large =
            || LibraryError::invalid("query", "the pattern is too large; make it shorter, or use mode plain");
        // Before it is compiled, because that takes time, too.
        let reach = Reach::of(&pattern).map_err(|PatternTooLarge| too_large())?;
        let mut builder = RegexBuilder::new(&pattern);
        builder.case_insensitive(true).multi_line(true).crlf(true);
        match builder.size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_BYTES).build() {
            Ok(regex) => Ok(Self { pattern: Pattern::Regex(regex, reach), mode, error: None }),
            Err(regex::Error::CompiledTooBig(_)) => Err(too_large().into()),
            Err(error) => {
                let error = short_message(&error.to_string());
                Ok(Self { pattern: literal(), mode: SearchMode::Plain, error: Some(error) })
            }
        }
    }
}

/// The message of the parser, or the last line of a long one.
fn short_message(message: &str) -> String {
    if message.chars().nth(MAX_ERROR_CHARS).is_none() {
        return message.to_owned();
    }
    truncate_chars(message.lines().next_back().unwrap_or_default(), MAX_ERROR_CHARS).0.to_owned()
}

impl Pattern {
    /// The start and end of the first match at or after a byte; `None` also when `should_continue` says to stop, which is
    /// asked before every window of the text.
    pub(crate) fn find_at(
        &self,
        bytes: &[u8],
        mut start: usize,
        should_continue: &dyn Fn() -> bool,
    ) -> Option<(usize, usize)> {
        match self {
            Self::Literal(finder) => {
                let at = finder.find(bytes.get(start..)?)? + start;
                Some((at, at + finder.needle().len()))
            }
            Self::Regex(regex, reach) => loop {
                let (end, seen) = reach.window(bytes, start);
                if let Some(found) = regex.find_at(bytes.get(..seen)?, start)
                    && (found.start() < end || end == bytes.len())
                {
                    return Some((found.start(), found.end()));
                }
                if end == bytes.len() || !should_continue() {
                    return None;
                }
                start = end;
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str, mode: SearchMode, text: &str) -> Option<(usize, usize)> {
        CompiledQuery::new(query, mode).unwrap().pattern.find_at(text.as_bytes(), 0, &|| true)
    }

    #[test]
    fn each_mode_matches_in_its_own_way() {
        assert_eq!(found("^B.", SearchMode::Regex, "a\r\nbc"), Some((3, 5)));
        assert_eq!(found("a(", SearchMode::Regex, "b a( c"), Some((2, 4)), "an invalid pattern is literal");
        assert_eq!(found("B.", SearchMode::Plain, "bc B."), Some((3, 5)));
        assert_eq!(found("userid", SearchMode::Loose, "the User-ID"), Some((4, 11)));
        let plain = CompiledQuery::new("a", SearchMode::Plain).unwrap();
        assert_eq!(plain.pattern.find_at(b"aa", 1, &|| true), Some((1, 2)));
    }

    #[test]
    fn a_query_that_is_no_regular_expression_says_why() {
        let invalid = CompiledQuery::new("a(", SearchMode::Regex).unwrap();
        assert_eq!(invalid.mode, SearchMode::Plain);
        assert!(invalid.error.unwrap().ends_with("error: unclosed group"));
        let long = CompiledQuery::new(&format!("{}(", "a".repeat(9000)), SearchMode::Regex).unwrap();
        assert_eq!(long.error.as_deref(), Some("error: unclosed group"));
        let valid = CompiledQuery::new("a", SearchMode::Regex).unwrap();
        assert_eq!((valid.mode, valid.error), (SearchMode::Regex, None));
    }

    #[test]
    fn matches_are_found_across_the_ends_of_windows() {
        // Every window boundary of a long line, and of many lines, has a match around it.
        for pattern in ["a[b\n]{0,600}c", "(?:q{900}|a).*?c", "(?s)a.{300}c", "(?:q{900}|a)[^c]*c"] {
            let query = CompiledQuery::new(pattern, SearchMode::Regex).unwrap();
            let Pattern::Regex(regex, _) = &query.pattern else { panic!("{pattern}") };
            for filler in ["b", "bbbbbb\n"] {
                let middle: String = filler.chars().cycle().take(300).collect();
                let text = format!("{middle}a{middle}c").repeat(300);
                let (mut at, mut found) = (0, Vec::new());
                while let Some((start, stop)) = query.pattern.find_at(text.as_bytes(), at, &|| true) {
                    found.push(start..stop);
                    at = stop;
                }
                let expected: Vec<_> = regex.find_iter(text.as_bytes()).map(|found| found.range()).collect();
                assert_eq!(found.len(), expected.len(), "{pattern} {filler:?}");
                assert_eq!(found, expected, "{pattern} {filler:?}");
            }
        }
    }

    #[test]
    fn a_search_stops_between_two_windows() {
        let query = CompiledQuery::new("1[01]{500}2", SearchMode::Regex).unwrap();
        let text = "10".repeat(100_000);
        let windows = std::cell::Cell::new(0);
        let should_continue = || {
            windows.set(windows.get() + 1);
            windows.get() < 3
        };
        assert_eq!(query.pattern.find_at(text.as_bytes(), 0, &should_continue), None);
        assert_eq!(windows.get(), 3);
    }

    #[test]
    fn queries_that_cannot_be_searched_are_refused() {
        for (query, mode) in [
            ("・-", SearchMode::Loose),
            ("a{1000}{1000}{1000}", SearchMode::Regex),
            (&"a".repeat(1001), SearchMode::Loose),
        ] {
            assert!(CompiledQuery::new(query, mode).is_err(), "{query}");
        }
    }
}
