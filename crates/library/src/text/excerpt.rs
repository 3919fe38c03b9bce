//! Excerpts: a range of lines from a text that arrives in pieces, with bounded memory; the other lines are only counted.

use super::lines::truncate_chars;

/// The lines to extract, and the maximum number of characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExcerptRequest {
    /// The first line, counted from 1.
    pub first_line: u64,
    /// The last line. A number beyond the end of the text means the last line.
    pub last_line: u64,
    /// The maximum number of characters.
    pub max_chars: usize,
}

/// The extracted lines: whole lines, or the beginning of a first line that alone exceeds the limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The text, without the last line break.
    pub text: String,
    /// The number of characters in `text`.
    pub chars: usize,
    /// The last line in `text`; the line before the first one when there is none.
    pub last_line: u64,
    /// Whether the character limit was reached: requested lines are missing, or the only line is truncated.
    pub is_limited: bool,
    /// The number of lines in the whole text.
    pub total_lines: u64,
}

/// Builds an excerpt from the pieces of a text.
pub struct ExcerptBuilder {
    request: ExcerptRequest,
    excerpt: Excerpt,
    /// The number of the current line, counted from 1.
    line: u64,
    /// Whether any part of the current line has arrived.
    line_has_content: bool,
    /// The text of the current line, as far as the limit allows.
    current: String,
    /// The number of characters in the whole current line.
    current_chars: usize,
    /// The line break before the current line.
    previous_break: &'static str,
    /// Whether the last piece ended with `\\r`, to which a `\\n` may belong.
    ends_with_cr: bool,
    /// Whether the limit was reached.
    is_full: bool,
}

impl ExcerptBuilder {
    /// A builder that has seen no text yet.
    pub fn new(request: ExcerptRequest) -> Self {
        let last_line = request.first_line.saturating_sub(1);
        let excerpt = Excerpt { text: String::new(), chars: 0, last_line, is_limited: false, total_lines: 0 };
        Self {
            request,
            excerpt,
            line: 1,
            line_has_content: false,
            current: String::new(),
            current_chars: 0,
            previous_break: "",
            ends_with_cr: false,
            is_full: false,
        }
    }

    /// Adds the next piece of the text.
    pub fn push(&mut self, mut piece: &str) {
        if piece.is_empty() {
            return;
        }
        if std::mem::take(&mut self.ends_with_cr) {
            match piece.strip_prefix('\n') {
                Some(rest) => {
                    self.end_line("\r\n");
                    piece = rest;
                }
                None => self.end_line("\r"),
            }
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', piece.as_bytes()) {
            let (line, rest) = piece.split_at(end);
            self.add_to_line(line);
            self.line_has_content = true;
            if rest.len() == 1 && rest == "\r" {
                // Only the next piece shows whether a line feed follows.
                self.ends_with_cr = true;
                return;
            }
            let line_break = match rest {
                rest if rest.starts_with("\r\n") => "\r\n",
                rest if rest.starts_with('\r') => "\r",
                _ => "\n",
            };
            self.end_line(line_break);
            piece = rest.get(line_break.len()..).unwrap_or_default();
        }
        if !piece.is_empty() {
            self.line_has_content = true;
            self.add_to_line(piece);
        }
    }

    /// The excerpt, after all pieces were added.
    pub fn finish(mut self) -> Excerpt {
        if self.ends_with_cr || self.line_has_content {
            self.end_line("");
        }
        self.excerpt.total_lines = self.line - 1;
        self.excerpt
    }

    fn is_requested(&self) -> bool {
        !self.is_full && self.line >= self.request.first_line && self.line <= self.request.last_line
    }

    fn add_to_line(&mut self, text: &str) {
        if !self.is_requested() {
            return;
        }
        let room = self.request.max_chars.saturating_sub(self.current_chars);
        self.current.push_str(truncate_chars(text, room).0);
        self.current_chars += text.chars().count();
    }

    fn end_line(&mut self, line_break: &'static str) {
        if self.is_requested() {
            let first = self.line == self.request.first_line;
            let before = if first { "" } else { self.previous_break };
            let chars = before.len() + self.current_chars;
            if self.excerpt.chars + chars <= self.request.max_chars {
                self.excerpt.text.push_str(before);
                self.excerpt.text.push_str(&self.current);
                self.excerpt.chars += chars;
                self.excerpt.last_line = self.line;
            } else {
                if first {
                    // The first line alone exceeds the limit: without its beginning, a reader could never get past it.
                    self.excerpt.text.push_str(&self.current);
                    self.excerpt.chars = self.request.max_chars;
                    self.excerpt.last_line = self.line;
                }
                self.excerpt.is_limited = true;
                self.is_full = true;
            }
        }
        self.current.clear();
        self.current_chars = 0;
        self.previous_break = line_break;
        self.line_has_content = false;
        self.line += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::LineIndex;

    fn excerpt(pieces: &[&str], first: u64, last: u64, max_chars: usize) -> Excerpt {
        let mut builder =
            ExcerptBuilder::new(ExcerptRequest { first_line: first, last_line: last, max_chars });
        pieces.iter().for_each(|piece| builder.push(piece));
        builder.finish()
    }

    #[test]
    fn whole_lines_are_returned_up_to_the_limit() {
        let taken = excerpt(&["a\r\nbb\n", "ccc"], 1, 9, 100);
        assert_eq!(
            (taken.text.as_str(), taken.last_line, taken.is_limited, taken.total_lines),
            ("a\r\nbb\nccc", 3, false, 3)
        );
        let taken = excerpt(&["a\nbb\nccc"], 1, 9, 5);
        assert_eq!(
            (taken.text.as_str(), taken.last_line, taken.is_limited, taken.total_lines),
            ("a\nbb", 2, true, 3)
        );
        let taken = excerpt(&["a\nbb\nccc"], 2, 2, 5);
        assert_eq!(
            (taken.text.as_str(), taken.last_line, taken.is_limited, taken.total_lines),
            ("bb", 2, false, 3)
        );
        let taken = excerpt(&["あいうえ\nb"], 1, 9, 2);
        assert_eq!(
            (taken.text.as_str(), taken.chars, taken.last_line, taken.is_limited, taken.total_lines),
            ("あい", 2, 1, true, 2)
        );
        let taken = excerpt(&["a\n"], 5, 9, 9);
        assert_eq!((taken.text.as_str(), taken.last_line, taken.total_lines), ("", 4, 1));
        assert_eq!(excerpt(&[""], 1, 9, 9).total_lines, 0);
    }

    proptest! {
        #[test]
        fn consecutive_excerpts_contain_every_line_exactly_once(
            text in "[ab\u{3042}\r\n]{0,60}",
            chunk in 1_u64..5,
            max_chars in 1_usize..9,
            cuts in proptest::collection::vec(0_usize..80, 0..6),
        ) {
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| {
                let mut cut = cut.min(text.len());
                while !text.is_char_boundary(cut) { cut -= 1; }
                cut
            }).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect();
            let index = LineIndex::new(&text);
            let (mut next, mut seen) = (1, Vec::new());
            loop {
                let taken = excerpt(&pieces, next, next + chunk - 1, max_chars);
                prop_assert_eq!(taken.total_lines as usize, index.count());
                prop_assert!(taken.text.chars().count() == taken.chars && taken.chars <= max_chars);
                if next > taken.total_lines { break; }
                prop_assert!(taken.last_line >= next, "every excerpt advances");
                if !(taken.is_limited && taken.last_line == next) {
                    let range = index.range(next as usize, taken.last_line as usize).unwrap();
                    prop_assert_eq!(&text[range], taken.text.as_str());
                }
                seen.extend(next..=taken.last_line);
                next = taken.last_line + 1;
            }
            prop_assert_eq!(seen, (1..=index.count() as u64).collect::<Vec<_>>());
        }
    }
}
