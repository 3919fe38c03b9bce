//! Where the lines of a text are. Line breaks are `\n`, `\r\n` and `\r`; lines count from 1.

use std::ops::Range;

/// The lines of a text that is at hand as a whole.
#[derive(Debug, Clone)]
pub struct LineIndex {
    /// Where each line starts, and where its text ends, in bytes.
    lines: Vec<Range<usize>>,
}

impl LineIndex {
    /// Finds the lines of a text. A break at its very end starts no further line.
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
            let pair = bytes.get(end) == Some(&b'\r') && bytes.get(end + 1) == Some(&b'\n');
            start = end + if pair { 2 } else { 1 };
        }
        Self { lines }
    }

    /// How many lines there are.
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// The line that holds a byte, from 1.
    pub fn line_at(&self, byte: usize) -> usize {
        self.lines.partition_point(|line| line.start <= byte).max(1)
    }

    /// The bytes of a line without its break.
    pub fn line(&self, number: usize) -> Option<Range<usize>> {
        self.lines.get(number.checked_sub(1)?).cloned()
    }

    /// The bytes from the start of one line to the end of another, without its break.
    pub fn range(&self, first: usize, last: usize) -> Option<Range<usize>> {
        Some(self.line(first)?.start..self.line(last)?.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_break_counts_once() {
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
}
