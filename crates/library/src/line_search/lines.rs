//! Lines in raw bytes: their bounds, their number, and the snippet that is shown of them.

use annai_text::cut_around;

/// The maximum length of a snippet, about three lines of a terminal; a longer line is shown around the match.
const MAX_SNIPPET_CHARS: usize = 240;

/// Whether bytes are UTF-8 text, which has no NUL. Unless they are complete, their last character may be cut.
pub(super) fn is_utf8(bytes: &[u8], is_complete: bool) -> bool {
    if bytes.contains(&0) {
        return false;
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => !is_complete && error.error_len().is_none(),
    }
}

/// The last position at or before a byte at which a window can end: after a line break, or else between two characters.
pub(super) fn window_end(bytes: &[u8], at: usize) -> usize {
    let before = bytes.get(..at).unwrap_or_default();
    if let Some(end) = memchr::memrchr(b'\n', before) {
        return end + 1;
    }
    let starts = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xc0 != 0x80 && *byte != b'\n');
    (at.saturating_sub(8)..=at).rev().find(starts).unwrap_or(at)
}

/// The bounds of the line that contains a byte, without its break.
pub(super) fn line_bounds(bytes: &[u8], at: usize) -> std::ops::Range<usize> {
    // The `\n` of a `\r\n` belongs to the line before it.
    let is_crlf = bytes.get(at) == Some(&b'\n')
        && at.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b'\r');
    let at = if is_crlf { at - 1 } else { at };
    let start = memchr::memrchr2(b'\n', b'\r', bytes.get(..at).unwrap_or_default()).map_or(0, |end| end + 1);
    let rest = bytes.get(at..).unwrap_or_default();
    let end = memchr::memchr2(b'\n', b'\r', rest).map_or(bytes.len(), |end| at + end);
    start.min(end)..end
}

/// The position after the line break at a byte.
pub(super) fn after_break(bytes: &[u8], end: usize) -> usize {
    match (bytes.get(end), bytes.get(end + 1)) {
        (Some(b'\r'), Some(b'\n')) => end + 2,
        _ => end + 1,
    }
}

/// The number of line breaks.
pub(super) fn count_breaks(bytes: &[u8]) -> usize {
    let feeds = memchr::memchr_iter(b'\n', bytes).count();
    let lone = memchr::memchr_iter(b'\r', bytes).filter(|at| bytes.get(at + 1) != Some(&b'\n')).count();
    feeds + lone
}

/// The snippet of a line: the line itself, or the part of a long one around the match, between ellipses.
pub(crate) fn snippet(line: &str, start: usize, stop: usize) -> String {
    if line.chars().nth(MAX_SNIPPET_CHARS).is_none() {
        return line.trim().to_owned();
    }
    let matched = line.get(start..stop.max(start)).map_or(0, |matched| matched.chars().count());
    let lead = MAX_SNIPPET_CHARS.saturating_sub(matched) / 2;
    cut_around(line, start, lead, MAX_SNIPPET_CHARS).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_end_between_characters() {
        let text = "あ".repeat(10);
        for at in 9..30 {
            assert!(text.is_char_boundary(window_end(text.as_bytes(), at)), "{at}");
        }
        assert_eq!((window_end(b"ab\ncd", 4), window_end(b"abc\r\nd", 4)), (3, 3));
    }

    #[test]
    fn every_kind_of_line_break_counts_once() {
        assert_eq!(count_breaks(b"a\r\nb\nc\rd"), 3);
        assert_eq!((line_bounds(b"a\r\nbc\r\n", 4), line_bounds(b"a\r\nbc\r\n", 0)), (3..5, 0..1));
        assert_eq!((line_bounds(b"a\r\nbc\r\n", 2), line_bounds(b"a\r\nbc\r\n", 6)), (0..1, 3..5));
    }

    #[test]
    fn long_lines_are_shown_around_the_match() {
        let line = format!("{}needle{}", "あ".repeat(500), "い".repeat(500));
        let start = line.find("needle").unwrap();
        let shown = snippet(&line, start, start + 6);
        assert!(shown.contains("needle") && shown.chars().count() == MAX_SNIPPET_CHARS, "{shown}");
        assert!(shown.starts_with("…あ") && shown.ends_with("い…"), "{shown}");
        let line = format!("{} 12,500 needle {}", "word".repeat(60), "next ".repeat(60));
        let start = line.find("needle").unwrap();
        let shown = snippet(&line, start, start + 6);
        assert!(shown.starts_with("… 12,500 needle next ") && shown.ends_with("next …"), "{shown}");
        assert_eq!(snippet("  short  ", 2, 7), "short");
    }
}
