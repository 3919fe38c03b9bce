//! A parsed file: what the index, reading, the table of contents and the resources have in common.

use std::borrow::Cow;
use std::ops::Range;

use crate::lines::{LineIndex, Position};
use crate::rendering::Rendering;
use crate::sections::{Heading, Link, Node, NodeKind, outline};

/// A parsed file.
#[derive(Debug, Clone)]
pub struct Document {
    /// What its page is called.
    pub title: String,
    /// The text that is read. It is the original, or what is left of it without markup, as of HTML.
    pub text: String,
    /// The lines of the original. Where the text is reduced, each has the rows that began on it.
    pub lines: LineIndex,
    /// The sections, in order, at least one.
    pub nodes: Vec<Node>,
    /// The text as a reader sees it.
    pub rendering: Rendering,
    /// Whether the content is valid for the format; invalid JSON is not.
    pub is_sound: bool,
}

impl Document {
    /// A text without sections of its own, which is one node.
    pub fn whole(text: String, title: &str) -> Self {
        Self::with_headings(text, title, Vec::new())
    }

    /// A text whose headings are its sections, in its own lines. It is called like its first heading of level 1, or else
    /// `name`; and so is the text before the first heading, if there is any.
    pub fn with_headings(text: String, name: &str, headings: Vec<Heading>) -> Self {
        let lines = LineIndex::new(&text);
        let is_title = |heading: &&Heading| heading.level == 1 && !heading.title.is_empty();
        let title = headings.iter().find(is_title).map_or(name, |heading| &heading.title).to_owned();
        let before = headings.first().and_then(|first| text.get(..first.start));
        let has_preface = before.is_none_or(|before| !before.trim_matches('\u{feff}').trim().is_empty());
        let preface = has_preface.then_some((title.as_str(), NodeKind::Untitled));
        let nodes = outline(&text, &lines, headings, preface);
        Self { title, text, lines, nodes, rendering: Rendering::default(), is_sound: true }
    }

    /// Gives the sections their links, which are in the order of the text. Further ones of a section with many are left out.
    pub fn add_links(&mut self, links: impl IntoIterator<Item = Link>) {
        for link in links.into_iter().filter(|link| link.target.len() <= Link::MAX_BYTES) {
            let node = self.nodes.partition_point(|node| node.own.start <= link.at).saturating_sub(1);
            if let Some(node) = self.nodes.get_mut(node).filter(|node| node.links.len() < Link::MAX_COUNT) {
                node.links.push(link);
            }
        }
    }

    /// The index of the innermost node that contains a line.
    pub fn node_at(&self, line: usize) -> usize {
        self.nodes.partition_point(|node| node.start_line <= line).saturating_sub(1)
    }

    /// The titles from the top of the file down to a node.
    pub fn heading_path(&self, index: usize) -> Vec<String> {
        let node = |index: usize| self.nodes.get(index);
        let upwards = std::iter::successors(node(index), |inner| node(inner.parent?));
        let mut titles: Vec<_> = upwards.map(|node| node.title.clone()).collect();
        titles.reverse();
        titles
    }

    /// The first node after a node and its subsections.
    pub fn next_section(&self, index: usize) -> Option<usize> {
        let mut following = self.nodes.iter().enumerate().skip(index + 1);
        // The sections below it follow it directly, and each has a parent that is not before it.
        following.find(|(_, next)| next.parent.is_none_or(|parent| parent < index)).map(|(next, _)| next)
    }

    /// The bytes of a node with its subsections, without the last line break.
    pub fn section_range(&self, index: usize) -> Range<usize> {
        let start = self.nodes.get(index).map_or(0, |node| node.own.start);
        let next = self.next_section(index).and_then(|next| self.nodes.get(next));
        self.without_last_break(start..next.map_or(self.text.len(), |next| next.own.start))
    }

    /// A part of the text without the line break at its end.
    pub fn without_last_break(&self, part: Range<usize>) -> Range<usize> {
        let text = self.text.get(part.clone()).unwrap_or_default();
        let short = text.strip_suffix("\r\n").or_else(|| text.strip_suffix(['\n', '\r']));
        part.start..part.start + short.unwrap_or(text).len()
    }

    /// The text of a node up to the next heading of any level, without the last line break.
    pub fn own_text(&self, node: &Node) -> &str {
        self.text.get(self.without_last_break(node.own.clone())).unwrap_or_default()
    }

    /// The position of a byte of the text, which must be between two characters.
    pub fn position(&self, byte: usize) -> Position {
        self.lines.position(&self.text, byte)
    }

    /// A line from a character on, as a reader sees it.
    pub fn rendered_line(&self, number: usize, first_char: usize) -> Cow<'_, str> {
        let line = self.lines.line(number).unwrap_or_default();
        let text = self.text.get(line.clone()).unwrap_or_default();
        let start = text.char_indices().nth(first_char).map_or(line.start, |(at, _)| line.start + at);
        self.rendering.render(&self.text, start..line.end)
    }

    /// The text from one line to another, as a reader sees it.
    pub fn rendered_lines(&self, first: usize, last: usize) -> Cow<'_, str> {
        match self.rendering.is_empty() {
            true => self.text_of(first, last).into(),
            false => self.rendering.render_lines(&self.text, &self.lines, first..=last).into(),
        }
    }

    /// The text from one line to another, without the last line break.
    pub fn text_of(&self, first: usize, last: usize) -> &str {
        let range = self.lines.range(first, last.min(self.lines.count()));
        range.and_then(|range| self.text.get(range)).unwrap_or_default()
    }
}
