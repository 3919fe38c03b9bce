//! The text that a reader of a Markdown file sees: without emphasis, link targets, tags, comments and shortcodes, which
//! neither separate nor hide words. Code stays as it is, and so do the marks that tell lines apart: those of headings, list
//! items, tables and code.
//!
//! The rendering of a file is a list of edits of its text, so that any part of it can be rendered, and every line stays a
//! line of its own.

mod blocks;
mod definitions;
mod edit;
mod emphasis;
mod ending;
mod entities;
mod front_matter;
pub mod html_elements;
mod lengths;
mod links;
mod scanner;
mod tags;

use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};

use edit::Edit;
use scanner::Scanner;

use crate::lines::LineIndex;

pub use front_matter::front_matter;

/// What is left out of a text for its reader. The default leaves out nothing.
#[derive(Debug, Clone, Default)]
pub struct Rendering {
    /// The edits, in order and without overlaps.
    edits: Vec<Edit>,
}

impl Rendering {
    /// Renders a Markdown text from a byte on: what is before it, the front matter, stays as it is.
    pub fn new(text: &str, start: usize) -> Self {
        let mut edits = Scanner::new(text, start).edits();
        edits.sort_unstable_by_key(|edit| edit.start);
        edits.shrink_to_fit();
        Self { edits }
    }

    /// Renders a Markdown file.
    pub fn of_file(text: &str, lines: &LineIndex) -> Self {
        Self::new(text, front_matter(text, lines).end)
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
            let (start, end) = (edit.start as usize, edit.end as usize);
            rendered.push_str(text.get(at..start.max(at)).unwrap_or_default());
            // The replacement of a part that began before belongs to what is before.
            rendered.extend(edit.replacement.filter(|_| start >= part.start));
            at = end;
        }
        rendered.push_str(text.get(at.min(part.end)..part.end).unwrap_or_default());
        Cow::Owned(rendered)
    }
}

#[cfg(test)]
mod tests;
