//! Markdown, and MDX.

mod front_matter;
mod links;
mod pieces;
mod reader;
mod templates;

pub use self::links::links;

use self::front_matter::front_matter;
use self::reader::read;
use super::format::Format;
use crate::document::Document;
use crate::lines::LineIndex;
use crate::rendering::Rendering;
use crate::sections::{Heading, Node, NodeKind, first_text_line, is_page_number, outline, plain_title, slug};

/// Markdown.
pub struct Markdown;

impl Format for Markdown {
    fn name(&self) -> &'static str {
        "md"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["md", "markdown", "mdx"]
    }

    fn media_type(&self) -> &'static str {
        "text/markdown"
    }

    fn has_tags(&self) -> bool {
        true
    }

    /// The title is that of the front matter, else the first heading of level 1, else the name. Text before the first
    /// heading, or a text without headings, is a node with the title of the page.
    fn parse(&self, original: String, name: &str) -> Document {
        let lines = LineIndex::new(&original);
        let front_matter = front_matter(&original, &lines);
        let (rendering, headings) = read(&original, &lines, front_matter.end);
        let written = front_matter.title.map(|title| written_title(&title)).filter(|title| !title.is_empty());
        // A page whose title is written, and that has no other of its level, is the root of its sections.
        let is_root = written.is_some() && headings.iter().all(|heading| heading.level > 1);
        let title = written.or_else(|| first_title(&headings)).unwrap_or_else(|| name.to_owned());
        let before = headings.first().and_then(|first| original.get(..first.start));
        let has_preface =
            before.is_none_or(|before| !before.trim_start_matches('\u{feff}').trim().is_empty());
        let kind = if is_root { NodeKind::Page } else { NodeKind::Untitled };
        let nodes = outline(&original, &lines, headings, has_preface.then_some((&title, kind)));
        let nodes =
            nodes.into_iter().map(|node| with_page_title(node, &original, &lines, &rendering)).collect();
        let mut document = Document { title, text: original, lines, nodes, rendering, is_sound: true };
        let links: Vec<_> = links(&document.text).collect();
        document.add_links(links);
        document
    }
}

/// A title from metadata, without markup.
pub fn written_title(title: &str) -> String {
    let (rendering, _) = read(title, &LineIndex::new(title), 0);
    plain_title(&rendering.render(title, 0..title.len()))
}

/// The first heading of level 1 that names the page.
fn first_title(headings: &[Heading]) -> Option<String> {
    let is_title = |heading: &&Heading| {
        heading.level == 1 && !heading.title.is_empty() && !is_page_number(&heading.title)
    };
    headings.iter().find(is_title).map(|heading| heading.title.clone())
}

/// The first line of text as the title of a page whose heading is only its number.
fn with_page_title(node: Node, text: &str, lines: &LineIndex, rendering: &Rendering) -> Node {
    if node.kind != NodeKind::Heading || !is_page_number(&node.title) {
        return node;
    }
    let first = first_text_line(text, lines, rendering, node.start_line + 1..=node.own_end_line);
    let anchor = node.anchor.or_else(|| Some(slug(&node.title).into()));
    Node { title: first.unwrap_or(node.title), kind: NodeKind::PageBreak, anchor, heading_lines: 0, ..node }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod reader_tests;
