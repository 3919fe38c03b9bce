//! The lines of a text. Line breaks are `\n`, `\r\n` and `\r`; lines count from 1.

use std::ops::Range;

use super::position::Position;

/// The positions of the lines of a text.
#[derive(Debug, Clone)]
pub struct LineIndex {
    /// The bytes of each line, without its break.
    lines: Vec<Range<usize>>,
}

impl LineIndex {
    /// Indexes a text. A line break at its end does not begin another line.
    pub fn new(text: &str) -> Self {
        Self { lines: line_ranges(text).collect() }
    }

    /// The lines of a reduced text: the ranges of the original's lines, in order and not overlapping. A line that nothing is
    /// left of is empty.
    pub const fn from_ranges(lines: Vec<Range<usize>>) -> Self {
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

    /// The text of a line without its break; empty where there is no such line.
    pub fn text_of<'a>(&self, text: &'a str, number: usize) -> &'a str {
        self.line(number).and_then(|line| text.get(line)).unwrap_or_default()
    }

    /// The bytes from the start of one line to the end of another, without the last break.
    pub fn range(&self, first: usize, last: usize) -> Option<Range<usize>> {
        Some(self.line(first)?.start..self.line(last)?.end)
    }

    /// The byte at which a line starts. Text before the first line belongs to it.
    fn start(&self, number: usize) -> Option<usize> {
        let line = self.lines.get(number.checked_sub(1)?);
        if number == 1 { Some(0) } else { line.map(|line| line.start) }
    }

    /// The position of a byte of the text, which must be between two characters.
    pub fn position(&self, text: &str, byte: usize) -> Position {
        let line = self.line_at(byte);
        let start = self.start(line).unwrap_or_default();
        Position::new(line, text.get(start..byte).map_or(0, |before| before.chars().count()))
    }

    /// The byte at a position of the text; `None` when the position is beyond the end of its line or of the text.
    pub fn byte_at(&self, text: &str, position: Position) -> Option<usize> {
        let number = position.line as usize;
        let start = self.start(number)?;
        let end = self.start(number + 1).unwrap_or(text.len());
        let line = text.get(start..end)?;
        match (position.char as usize).checked_sub(1) {
            None => Some(start),
            Some(last) => line.char_indices().nth(last).map(|(at, ch)| start + at + ch.len_utf8()),
        }
    }
}

/// The bytes of each line of a text, without its break. A line break at its end does not begin another line.
pub fn line_ranges(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut start = 0;
    std::iter::from_fn(move || {
        let line = (start < bytes.len()).then(|| start..line_end(bytes, start))?;
        start = next_line(bytes, line.end);
        Some(line)
    })
}

/// The end of the line that contains a byte, without its break.
fn line_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    memchr::memchr2(b'\n', b'\r', rest).map_or(bytes.len(), |length| at + length)
}

/// The start of the line after the break at this byte.
fn next_line(bytes: &[u8], end: usize) -> usize {
    let is_crlf = bytes.get(end) == Some(&b'\r') && bytes.get(end + 1) == Some(&b'\n');
    (end + if is_crlf { 2 } else { 1 }).min(bytes.len())
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
    fn a_position_counts_the_characters_of_its_line_with_its_break() {
        let text = "あ\r\nb\n";
        let index = LineIndex::new(text);
        for (byte, line, char) in [(0, 1, 0), (3, 1, 1), (4, 1, 2), (5, 2, 0), (6, 2, 1), (7, 2, 2)] {
            let position = Position { line, char };
            assert_eq!((index.position(text, byte), index.byte_at(text, position)), (position, Some(byte)));
        }
        // The end of a line is the start of the next one.
        assert_eq!(index.byte_at(text, Position { line: 1, char: 3 }), Some(5));
        for (line, char) in [(1, 4), (2, 3), (3, 0), (0, 0), (u32::MAX - 1, 0), (1, u32::MAX)] {
            assert_eq!(index.byte_at(text, Position { line, char }), None, "{line} {char}");
        }
        let empty = LineIndex::new("");
        assert_eq!(empty.position("", 0), Position { line: 1, char: 0 });
        assert_eq!(empty.byte_at("", Position { line: 1, char: 0 }), Some(0));
        assert_eq!(empty.byte_at("", Position { line: 1, char: 1 }), None);
    }

    #[test]
    fn truncation_counts_characters_and_reports_completeness() {
        assert_eq!(truncate_chars("あいう", 2), ("あい", false));
        assert_eq!(truncate_chars("あいう", 3), ("あいう", true));
        assert_eq!((truncate_chars("", 0), truncate_chars("a", 0)), (("", true), ("", false)));
    }
}
