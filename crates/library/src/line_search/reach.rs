//! How far a regular expression can look, and how much work it is: a search takes one bounded window of text after another,
//! so that it can be stopped at any time, also inside a long match.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// The maximum number of positions of a pattern. A position is a place in the pattern that a character can match, after
/// repetitions are written out: `a{3}` has three. The engine may visit every position for each byte of the text; twenty
/// thousand hold any pattern that a person writes. A larger pattern is refused.
const MAX_POSITIONS: u64 = 20_000;
/// What a class with characters beyond ASCII counts as.
const STATES_OF_A_CHARACTER: u64 = 4;
/// How many visits of positions one window may take: at most a tenth of a second, on a slow machine too.
const MAX_VISITS: u64 = 10_000_000;
/// The smallest window. With the largest pattern it stays within twice the time above.
const MIN_WINDOW_BYTES: u64 = 1 << 10;
/// The largest window, which the simplest patterns search within milliseconds.
const MAX_WINDOW_BYTES: u64 = 1 << 20;
/// How many bytes after a match its end can depend on: a line break, or a character for a word boundary.
const LOOK_AHEAD_BYTES: usize = 8;

/// How far a match of a pattern can reach beyond its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// At most so many bytes.
    Bytes(usize),
    /// To the end of its line.
    Line,
    /// Anywhere.
    Text,
}

/// The windows in which a pattern is searched. They depend on the pattern and the text alone, not on the speed of the
/// machine, so that a search always finds the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Matches begin in so many bytes.
    window: usize,
    extent: Extent,
}

/// A pattern that has too many positions.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PatternTooLarge;

impl Reach {
    /// The reach of a pattern as searches compile it; that of any text when it cannot be parsed.
    pub(crate) fn of(pattern: &str) -> Result<Self, PatternTooLarge> {
        let mut parser = ParserBuilder::new();
        parser.case_insensitive(true).multi_line(true).crlf(true).utf8(false);
        let Ok(hir) = parser.build().parse(pattern) else {
            return Ok(Self { window: MIN_WINDOW_BYTES as usize, extent: Extent::Text });
        };
        let positions = positions(&hir);
        if positions > MAX_POSITIONS {
            return Err(PatternTooLarge);
        }
        let window = (MAX_VISITS / positions.max(1)).clamp(MIN_WINDOW_BYTES, MAX_WINDOW_BYTES) as usize;
        let extent = match hir.properties().maximum_len() {
            Some(bytes) if bytes <= window => Extent::Bytes(bytes),
            _ if !matches_line_break(&hir) => Extent::Line,
            _ => Extent::Text,
        };
        Ok(Self { window, extent })
    }

    /// The same with smaller windows; none where a match may be larger than that.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn with_window(self, window: usize) -> Option<Self> {
        matches!(self.extent, Extent::Bytes(bytes) if bytes <= window).then_some(Self { window, ..self })
    }

    /// The end of the window that begins at a byte, and the end of what a match that begins in it can reach. A match that
    /// is not bounded by the pattern or its line reaches as far again as the window; a longer one is missed.
    pub(crate) fn window(&self, bytes: &[u8], start: usize) -> (usize, usize) {
        let end = start.saturating_add(self.window).min(bytes.len());
        let limit = end.saturating_add(self.window);
        let reach = match self.extent {
            Extent::Bytes(bytes) => end.saturating_add(bytes + LOOK_AHEAD_BYTES),
            Extent::Line => {
                let rest = bytes.get(end..limit.min(bytes.len())).unwrap_or_default();
                // The break itself, and the second half of `\r\n`.
                memchr::memchr2(b'\n', b'\r', rest).map_or(limit, |at| end + at + 2)
            }
            Extent::Text => limit,
        };
        (end, reach.min(bytes.len()))
    }
}

/// The number of positions of a pattern.
fn positions(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        // A character beyond ASCII has several bytes, and each of them is a state of the engine.
        HirKind::Class(Class::Unicode(class)) if !class.is_ascii() => STATES_OF_A_CHARACTER,
        HirKind::Class(_) => 1,
        HirKind::Repetition(repeated) => {
            let times = repeated.max.unwrap_or(repeated.min.saturating_add(1)).max(1);
            positions(&repeated.sub).saturating_mul(times.into())
        }
        HirKind::Capture(group) => positions(&group.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(positions).fold(1, u64::saturating_add)
        }
    }
}

/// Whether a match can contain a line break.
fn matches_line_break(hir: &Hir) -> bool {
    let is_break = |byte: u8| matches!(byte, b'\n' | b'\r');
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => false,
        HirKind::Literal(literal) => literal.0.iter().copied().any(is_break),
        HirKind::Class(Class::Unicode(class)) => {
            class.iter().any(|range| ['\n', '\r'].iter().any(|ch| (range.start()..=range.end()).contains(ch)))
        }
        HirKind::Class(Class::Bytes(class)) => {
            class.iter().any(|range| (range.start()..=range.end()).any(is_break))
        }
        HirKind::Repetition(repeated) => matches_line_break(&repeated.sub),
        HirKind::Capture(group) => matches_line_break(&group.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(matches_line_break),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extent_follows_from_the_pattern() {
        for (pattern, extent) in [
            ("abc", Extent::Bytes(3)),
            ("1[01]{500}2", Extent::Bytes(502)),
            ("a.*b", Extent::Line),
            (r"^\w+$", Extent::Line),
            (r"a\s+b", Extent::Text),
            ("(?s)a.*b", Extent::Text),
            (r"[^x]*", Extent::Text),
        ] {
            assert_eq!(Reach::of(pattern).unwrap().extent, extent, "{pattern}");
        }
    }

    #[test]
    fn large_patterns_have_small_windows_and_larger_ones_are_refused() {
        let window = |pattern: &str| Reach::of(pattern).unwrap().window as u64;
        assert_eq!(window("a"), MAX_WINDOW_BYTES);
        assert_eq!(window("1[01]{500}2"), MAX_VISITS / 503);
        assert_eq!(window("[01]{19999}"), MIN_WINDOW_BYTES);
        for pattern in ["[01]{20001}", "(?:[01]{100}){201}", "(?:a{1000}|b{1000}){11}", ".{5001}"] {
            assert_eq!(Reach::of(pattern), Err(PatternTooLarge), "{pattern}");
        }
    }

    #[test]
    fn a_window_ends_where_a_match_must_end() {
        let text = [vec![b'x'; 3 << 20], b"\nrest".to_vec()].concat();
        let window = MAX_WINDOW_BYTES as usize;
        assert_eq!(Reach::of("ab").unwrap().window(&text, 0), (window, window + 10));
        assert_eq!(Reach::of("a.*b").unwrap().window(&text, 0), (window, 2 * window));
        assert_eq!(Reach::of("a.*b").unwrap().window(&text, 2 * window), (3 * window, 3 * window + 2));
        assert_eq!(Reach::of("ab").unwrap().window(&text, 3 * window), (text.len(), text.len()));
    }
}
