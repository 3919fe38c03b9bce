//! Makes a document of a reduced HTML file from its rows, once all of them are read.

use super::rows::HtmlRows;
use crate::document::Document;
use crate::lines::{LineIndex, truncate_chars};
use crate::rendering::Rendering;
use crate::sections::{Heading, Link, MAX_TITLE_CHARS, NodeKind, outline};

impl HtmlRows {
    /// The reduced file, whose original has this many lines. It is called like its first heading of level 1, else like its
    /// title, else `name`.
    pub fn finish(mut self, line_count: usize, name: &str) -> Document {
        self.end_heading();
        if let Some(last) = self.lines.last_mut() {
            last.end = self.text.len();
        }
        let written = self.title.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        let written = Some(truncate_chars(&written, MAX_TITLE_CHARS).0).filter(|title| !title.is_empty());
        if self.headings.is_empty() {
            self.insert_title(written);
        }
        self.lines.truncate(line_count);
        let end = self.text.len();
        if let Some(last) = self.lines.last_mut() {
            last.end = end;
        }
        self.lines.resize(line_count, end..end);
        let lines = LineIndex::from_ranges(self.lines);
        let has_preface = self.headings.first().is_none_or(|first| first.start > 0);
        let name = written.unwrap_or(name);
        let is_title = |heading: &&Heading| heading.level == 1 && !heading.title.is_empty();
        let title = self.headings.iter().find(is_title).map_or(name, |heading| &heading.title).to_owned();
        let preface = has_preface.then_some((name, NodeKind::Untitled));
        let mut nodes = outline(&self.text, &lines, self.headings, preface);
        let last = nodes.len().saturating_sub(1);
        for (headings, target) in self.links {
            let node = nodes.get_mut((headings + usize::from(has_preface)).saturating_sub(1).min(last));
            node.into_iter()
                .for_each(|node| node.links.push(Link { at: node.own.start, target: target.clone() }));
        }
        Document { title, text: self.text, lines, nodes, rendering: Rendering::default(), is_sound: true }
    }

    /// Makes the title of the page the heading of a page without headings.
    fn insert_title(&mut self, title: Option<&str>) {
        let first_row = self.lines.iter().position(|line| line.start < line.end);
        let is_before = first_row.is_none_or(|index| self.title_line <= index + 1);
        let Some(title) = title.filter(|_| is_before && self.title_line > 0) else { return };
        let separator = if self.text.is_empty() { "" } else { "\n" };
        let row = format!("# {title}{separator}");
        self.text.insert_str(0, &row);
        while self.lines.len() < self.title_line {
            self.lines.push(0..0);
        }
        for (number, line) in (1..).zip(&mut self.lines) {
            *line = match number {
                _ if number < self.title_line => 0..0,
                // Rows that began on the same line follow in it.
                _ if number == self.title_line && line.end == 0 => 0..row.len() - separator.len(),
                _ if number == self.title_line => 0..line.end + row.len(),
                _ => line.start + row.len()..line.end + row.len(),
            };
        }
        let heading = Heading { level: 1, title: title.to_owned(), lines: 1, ..Heading::default() };
        self.headings.push(heading);
    }
}
