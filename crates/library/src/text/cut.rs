//! Where a text that is longer than a limit is cut: at the end of a line if one is near, never inside a character, and
//! if possible not inside what a reader sees as one character.

use unicode_normalization::char::is_combining_mark;

/// A line end counts as near the limit when at least three quarters of the limit come before it; otherwise too much of the
/// limit would be wasted on a long line.
const NEAR_NUMERATOR: usize = 3;
const NEAR_DENOMINATOR: usize = 4;
/// How many characters a cut moves back at most, so that it does not separate combining characters. Real sequences are
/// shorter; a longer one is cut all the same.
const MAX_STEPS_BACK: usize = 32;

/// The length in bytes of the first part of a text, which has at most `max_chars` characters. It is the whole text, or
/// ends after a line break near the limit, or ends at the limit.
pub fn cut_length(text: &str, max_chars: usize) -> usize {
    let Some((limit, _)) = text.char_indices().nth(max_chars) else { return text.len() };
    let near = max_chars.saturating_mul(NEAR_NUMERATOR).div_ceil(NEAR_DENOMINATOR);
    let near = text.char_indices().nth(near).map_or(limit, |(near, _)| near);
    let bytes = text.as_bytes();
    let line_end = (near.max(1)..=limit).rev().find(|end| match bytes.get(end - 1) {
        Some(b'\n') => true,
        Some(b'\r') => bytes.get(*end) != Some(&b'\n'),
        _ => false,
    });
    line_end.unwrap_or_else(|| before_combining(text, limit))
}

/// The same inside a line: the length of the first `max_chars` characters, or a little less.
pub fn cut_length_within_line(text: &str, max_chars: usize) -> usize {
    let limit = text.char_indices().nth(max_chars).map(|(limit, _)| limit);
    limit.map_or(text.len(), |limit| before_combining(text, limit))
}

/// The last place at or before a byte that does not separate characters which belong together; the byte itself when there
/// is none near it.
fn before_combining(text: &str, at: usize) -> usize {
    let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at..).unwrap_or_default());
    let (mut place, mut next) = (at, after.chars().next());
    for ch in before.chars().rev().take(MAX_STEPS_BACK) {
        if !next.is_some_and(|next| belong_together(ch, next)) {
            return place;
        }
        place -= ch.len_utf8();
        next = Some(ch);
    }
    at
}

fn belong_together(before: char, after: char) -> bool {
    const ZERO_WIDTH_JOINER: char = '\u{200d}';
    before == ZERO_WIDTH_JOINER
        || matches!(after, ZERO_WIDTH_JOINER | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}')
        || (before == '\r' && after == '\n')
        || is_combining_mark(after)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cut_prefers_a_line_end_near_the_limit() {
        for (text, max_chars, expected) in [
            ("abc", 3, "abc"),
            ("abc", 2, "ab"),
            ("abcdef\ngh", 8, "abcdef\n"),
            ("a\nbcdefgh", 8, "a\nbcdefg"),
            ("abcdef\r\ngh", 8, "abcdef\r\n"),
            ("abcdef\rgh", 8, "abcdef\r"),
            ("abcd\r\ngh", 5, "abcd"),
            ("\r\n", 1, "\r"),
            ("か\u{3099}き", 1, "か"),
            ("xか\u{3099}き", 2, "x"),
            ("x👩\u{200d}👧y", 2, "x"),
            ("x👩\u{200d}👧y", 3, "x"),
            ("あいう", 0, ""),
        ] {
            assert_eq!(&text[..cut_length(text, max_chars)], expected, "{text:?} {max_chars}");
        }
        let marks = "\u{301}".repeat(100);
        assert_eq!(cut_length(&marks, 50), 100);
    }

    proptest! {
        #[test]
        fn a_cut_advances_and_keeps_the_limit(text in "[a\u{3042}\u{3099}\u{200d}\u{1f469}\r\n]{1,40}", max_chars in 1_usize..20) {
            for length in [cut_length(&text, max_chars), cut_length_within_line(&text, max_chars)] {
                prop_assert!(length > 0);
                let chars = text[..length].chars().count();
                prop_assert!(chars <= max_chars && (chars == max_chars || length == text.len() || chars > 0));
            }
        }
    }
}
