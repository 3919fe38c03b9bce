//! Takes lines out of a text that comes in pieces, with bounded memory, and counts the rest.

/// Which lines are wanted, and how many characters at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// The first line, from 1.
    pub first: u64,
    /// The last line; beyond the end is the end.
    pub last: u64,
    /// The maximum number of characters (default 8000; the server's HARD_MAX_CHARS still applies).
    pub max_chars: usize,
}

/// The lines that were taken: whole ones, or the beginning of one that is longer than the limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// Their text as it stands, without the last line's break.
    pub text: String,
    /// How many characters that is.
    pub chars: usize,
    /// The last line of them; one before the first when there is none.
    pub last: u64,
    /// Whether the limit ended it: lines that were wanted are missing, or the only one is cut.
    pub limited: bool,
    /// How many lines the whole text has.
    pub total: u64,
}

/// Takes an excerpt from pieces.
pub struct Cutter {
    wanted: Lines,
    taken: Excerpt,
    /// The line that is being read, from 1.
    line: u64,
    /// Whether anything of it has come.
    begun: bool,
    /// Its text as far as it may be taken, and its characters altogether.
    current: String,
    current_chars: usize,
    /// The break before it.
    before: &'static str,
    after_cr: bool,
    done: bool,
}

impl Cutter {
    /// For the lines that are wanted.
    pub fn new(wanted: Lines) -> Self {
        let last = wanted.first.saturating_sub(1);
        let taken = Excerpt { text: String::new(), chars: 0, last, limited: false, total: 0 };
        Self {
            wanted,
            taken,
            line: 1,
            begun: false,
            current: String::new(),
            current_chars: 0,
            before: "",
            after_cr: false,
            done: false,
        }
    }

    /// Takes the next piece.
    pub fn push(&mut self, mut piece: &str) {
        if piece.is_empty() {
            return;
        }
        if std::mem::take(&mut self.after_cr) {
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
            self.add(line);
            self.begun = true;
            if rest.len() == 1 && rest == "\r" {
                // The next piece tells whether a line feed belongs to it.
                self.after_cr = true;
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
            self.begun = true;
            self.add(piece);
        }
    }

    /// The excerpt, when all pieces have come.
    pub fn finish(mut self) -> Excerpt {
        if self.after_cr || self.begun {
            self.end_line("");
        }
        self.taken.total = self.line - 1;
        self.taken
    }

    fn is_wanted(&self) -> bool {
        !self.done && self.line >= self.wanted.first && self.line <= self.wanted.last
    }

    fn add(&mut self, text: &str) {
        if !self.is_wanted() {
            return;
        }
        let room = self.wanted.max_chars.saturating_sub(self.current_chars);
        self.current.push_str(super::cut(text, room).0);
        self.current_chars += text.chars().count();
    }

    fn end_line(&mut self, line_break: &'static str) {
        if self.is_wanted() {
            let first = self.line == self.wanted.first;
            let before = if first { "" } else { self.before };
            let chars = before.len() + self.current_chars;
            if self.taken.chars + chars <= self.wanted.max_chars {
                self.taken.text.push_str(before);
                self.taken.text.push_str(&self.current);
                self.taken.chars += chars;
                self.taken.last = self.line;
            } else {
                if first {
                    // One line alone is too long: its beginning is all there is to have.
                    self.taken.text.push_str(&self.current);
                    self.taken.chars = self.wanted.max_chars;
                    self.taken.last = self.line;
                }
                self.taken.limited = true;
                self.done = true;
            }
        }
        self.current.clear();
        self.current_chars = 0;
        self.before = line_break;
        self.begun = false;
        self.line += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::LineIndex;

    fn excerpt(pieces: &[&str], first: u64, last: u64, max_chars: usize) -> Excerpt {
        let mut cutter = Cutter::new(Lines { first, last, max_chars });
        pieces.iter().for_each(|piece| cutter.push(piece));
        cutter.finish()
    }

    #[test]
    fn whole_lines_are_taken_up_to_the_limit() {
        let taken = excerpt(&["a\r\nbb\n", "ccc"], 1, 9, 100);
        assert_eq!(
            (taken.text.as_str(), taken.last, taken.limited, taken.total),
            ("a\r\nbb\nccc", 3, false, 3)
        );
        let taken = excerpt(&["a\nbb\nccc"], 1, 9, 5);
        assert_eq!((taken.text.as_str(), taken.last, taken.limited, taken.total), ("a\nbb", 2, true, 3));
        let taken = excerpt(&["a\nbb\nccc"], 2, 2, 5);
        assert_eq!((taken.text.as_str(), taken.last, taken.limited, taken.total), ("bb", 2, false, 3));
        let taken = excerpt(&["あいうえ\nb"], 1, 9, 2);
        assert_eq!(
            (taken.text.as_str(), taken.chars, taken.last, taken.limited, taken.total),
            ("あい", 2, 1, true, 2)
        );
        let taken = excerpt(&["a\n"], 5, 9, 9);
        assert_eq!((taken.text.as_str(), taken.last, taken.total), ("", 4, 1));
        assert_eq!(excerpt(&[""], 1, 9, 9).total, 0);
    }

    proptest! {
        #[test]
        fn reading_on_visits_every_line_once(
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
                prop_assert_eq!(taken.total as usize, index.count());
                prop_assert!(taken.text.chars().count() == taken.chars && taken.chars <= max_chars);
                if next > taken.total { break; }
                prop_assert!(taken.last >= next, "it moves on");
                if !(taken.limited && taken.last == next) {
                    let range = index.range(next as usize, taken.last as usize).unwrap();
                    prop_assert_eq!(&text[range], taken.text.as_str());
                }
                seen.extend(next..=taken.last);
                next = taken.last + 1;
            }
            prop_assert_eq!(seen, (1..=index.count() as u64).collect::<Vec<_>>());
        }
    }
}
