//! The lines of a text. Line breaks are `\n`, `\r\n` and `\r`; lines count from 1.

use std::ops::Range;

/// The positions of the lines of a text.
#[derive(Debug, Clone)]
pub struct LineIndex {
    /// The bytes of each line, without its break.
    lines: Vec<Range<usize>>,
}

impl LineIndex {
    /// Indexes a text. A line break at its end does not begin another line.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut lines = Vec::new();
        let mut start = 0;
        while start < bytes.len() {
            let rest = bytes.get(start..).unwrap_or_default();
            let Some(length) = memchr::memchr2(b'\n', b'\r', rest) else {
                lines.push(start..bytes.len());
                break;
            };
            let end = start + length;
            lines.push(start..end);
            let is_crlf = bytes.get(end) == Some(&b'\r') && bytes.get(end + 1) == Some(&b'\n');
            start = end + if is_crlf { 2 } else { 1 };
        }
        Self { lines }
    }

    /// The number of lines.
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// The number of the line that contains a byte, counted from 1.
    pub fn line_at(&self, byte: usize) -> usize {
        self.lines.partition_point(|line| line.start <= byte).max(1)
    }

    /// The bytes of a line without its break.
    pub fn line(&self, number: usize) -> Option<Range<usize>> {
        self.lines.get(number.checked_sub(1)?).cloned()
    }

    /// The bytes from the start of one line to the end of another, without the last break.
    pub fn range(&self, first: usize, last: usize) -> Option<Range<usize>> {
        Some(self.line(first)?.start..self.line(last)?.end)
    }
}

/// The first `max_chars` characters of a text, and whether that is all of it.
pub fn truncate_chars(text: &str, max_chars: usize) -> (&str, bool) {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => (text.get(..end).unwrap_or_default(), false),
        None => (text, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_break_counts_once() {
        let lines = |text: &str| {
            let index = LineIndex::new(text);
            (1..=index.count()).map(|line| text[index.line(line).unwrap()].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(lines("a\nb\r\nc\rd"), ["a", "b", "c", "d"]);
        assert_eq!(lines("a\n\n"), ["a", ""]);
        assert_eq!(lines("\r\r\n"), ["", ""]);
        assert_eq!(lines(""), Vec::<String>::new());
        let index = LineIndex::new("a\nbc\n");
        assert_eq!((index.line_at(0), index.line_at(1), index.line_at(2), index.line_at(9)), (1, 1, 2, 2));
        assert_eq!((index.range(1, 2), index.range(2, 3), index.line(0)), (Some(0..4), None, None));
    }

    #[test]
    fn truncation_counts_characters_and_reports_completeness() {
        assert_eq!(truncate_chars("あいう", 2), ("あい", false));
        assert_eq!(truncate_chars("あいう", 3), ("あいう", true));
        assert_eq!((truncate_chars("", 0), truncate_chars("a", 0)), (("", true), ("", false)));
    }
}
