//! The text that a reader of a file sees: a list of edits of the text, so that any part of it can be rendered, and every line
//! stays a line of its own.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::{Range, RangeInclusive};

use crate::lines::LineIndex;

/// A part of a text that a reader does not see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edit {
    /// The first byte of the part. Files are smaller than 4 GiB, and a file may have very many edits.
    pub start: u32,
    /// The byte after the part.
    pub end: u32,
    /// The character that stands there instead; none where the words before and after it are joined.
    pub replacement: Option<char>,
}

impl Edit {
    /// Replaces the bytes of a range.
    pub fn new(range: Range<usize>, replacement: Option<char>) -> Self {
        let number = |byte: usize| u32::try_from(byte).unwrap_or(u32::MAX);
        Self { start: number(range.start), end: number(range.end), replacement }
    }

    /// The bytes that are replaced.
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// What is left out of a text for its reader. The default leaves out nothing.
#[derive(Debug, Clone, Default)]
pub struct Rendering {
    /// The edits, in order and without overlaps.
    edits: Vec<Edit>,
}

impl Rendering {
    /// A rendering by edits in any order. Of those that overlap, the first replaces all of them.
    pub fn new(mut edits: Vec<Edit>) -> Self {
        edits.sort_unstable_by_key(|edit| (edit.start, Reverse(edit.end)));
        edits.dedup_by(|edit, first| {
            let overlaps = edit.start < first.end;
            first.end = if overlaps { first.end.max(edit.end) } else { first.end };
            overlaps
        });
        edits.shrink_to_fit();
        Self { edits }
    }

    /// Whether the reader sees the text as it is written.
    pub const fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Some lines of the text as a reader sees them.
    pub fn render_lines(&self, text: &str, lines: &LineIndex, numbers: RangeInclusive<usize>) -> String {
        let all = numbers.map_while(|number| lines.line(number));
        all.map(|line| self.render(text, line)).collect::<Vec<_>>().join("\n")
    }

    /// A part of the text as a reader sees it.
    pub fn render<'a>(&self, text: &'a str, part: Range<usize>) -> Cow<'a, str> {
        let first = self.edits.partition_point(|edit| edit.end as usize <= part.start);
        let is_inside = |edit: &&Edit| (edit.start as usize) < part.end;
        let mut edits = self.edits.iter().skip(first).take_while(is_inside).peekable();
        let whole = text.get(part.clone()).unwrap_or_default();
        if edits.peek().is_none() {
            return Cow::Borrowed(whole);
        }
        let mut rendered = String::with_capacity(whole.len());
        let mut at = part.start;
        for edit in edits {
            let Range { start, end } = edit.range();
            rendered.push_str(text.get(at..start.max(at)).unwrap_or_default());
            // The replacement of a part that began before belongs to what is before.
            rendered.extend(edit.replacement.filter(|_| start >= part.start));
            at = end;
        }
        rendered.push_str(text.get(at.min(part.end)..part.end).unwrap_or_default());
        Cow::Owned(rendered)
    }
}
