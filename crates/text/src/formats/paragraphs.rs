//! The files of the vault, whatever their format is: each line as it is written, divided into paragraphs.

use super::format::{Format, Structure};
use super::markdown::{Markdown, links};
use crate::document::Document;
use crate::lines::LineIndex;
use crate::rendering::Rendering;
use crate::sections::{Node, NodeKind, explicit_anchor, first_text_line, is_page_number, plain_title, slug};
use annai_core::cancellation::checkpoint;

/// A file of the vault.
pub struct Paragraphs {
    /// Whether it is read as Markdown with tags; otherwise it is plain text.
    pub has_tags: bool,
}

impl Format for Paragraphs {
    fn name(&self) -> &'static str {
        "note"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &[]
    }

    fn structure(&self) -> Structure {
        Structure::Paragraphs
    }

    fn parse(&self, original: String, name: &str) -> Document {
        let mut document = match self.has_tags {
            true => Markdown.parse(original, name),
            false => Document::whole(original, name),
        };
        let Document { title, text, lines, rendering, .. } = &document;
        document.nodes = paragraphs(text, lines, title, rendering);
        let links: Vec<_> = links(&document.text).collect();
        document.add_links(links);
        document
    }
}

/// The maximum number of lines in a paragraph of the vault, so that a hit in a file without blank lines still points at a
/// few lines; a longer paragraph is split.
const MAX_PARAGRAPH_LINES: usize = 40;

/// The heading of a paragraph.
#[derive(Clone)]
struct ParagraphHeading {
    title: String,
    kind: NodeKind,
    anchor: Option<Box<str>>,
    /// The first paragraph of the heading above it, as an index.
    parent: Option<usize>,
}

impl ParagraphHeading {
    /// The heading on a line. Where it is only the number of a page, the first line of text stands for it.
    fn at(text: &str, lines: &LineIndex, number: usize, rendering: &Rendering) -> Self {
        let line = lines.line(number).unwrap_or_default();
        let raw = lines.text_of(text, number);
        let rendered = rendering.render(text, line);
        let title = plain_title(rendered.trim_start().trim_start_matches('#'));
        let anchor = explicit_anchor(raw).map(Into::into);
        if !is_page_number(&title) {
            return Self { title, kind: NodeKind::Heading, anchor, parent: None };
        }
        let is_heading = |number: &usize| lines.text_of(text, *number).trim_start().starts_with('#');
        let last = (number + 1..=lines.count()).find(is_heading).map_or(lines.count(), |next| next - 1);
        let first = first_text_line(text, lines, rendering, number + 1..=last);
        let anchor = anchor.or_else(|| Some(slug(&title).into()));
        Self { title: first.unwrap_or(title), kind: NodeKind::PageBreak, anchor, parent: None }
    }
}

/// The paragraphs of a text, separated by blank lines and headings, each titled by the last heading; before the first one,
/// by the page. The parent of a paragraph is the first one of the heading above its own.
fn paragraphs(text: &str, lines: &LineIndex, page_title: &str, rendering: &Rendering) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut heading = ParagraphHeading {
        title: page_title.to_owned(),
        kind: NodeKind::Untitled,
        anchor: None,
        parent: None,
    };
    // The headings that have not ended yet, outermost first: the level, and the first paragraph.
    let mut above: Vec<(usize, usize)> = Vec::new();
    let mut open: Option<usize> = None;
    // Whether the open paragraph has only a heading so far, and whether a code block is open, whose lines are no headings.
    let (mut is_heading_only, mut is_code) = (false, false);
    let line = |number: usize| lines.text_of(text, number);
    let paragraph = |from: usize, to: usize, heading: &ParagraphHeading| {
        let ParagraphHeading { title, kind, anchor, parent } = heading.clone();
        let start = lines.line(from).map_or(text.len(), |line| line.start);
        let own = start..lines.line(to + 1).map_or(text.len(), |next| next.start);
        let (start_line, end_line, own_end_line) = (from, to, to);
        Node {
            title,
            level: 1,
            start_line,
            end_line,
            own_end_line,
            kind,
            anchor,
            parent,
            own,
            ..Node::default()
        }
    };
    for number in 1..=lines.count() {
        checkpoint();
        let words = line(number).trim();
        let is_fence = words.starts_with("```") || words.starts_with("~~~");
        is_code ^= is_fence;
        let is_heading = words.starts_with('#') && !is_code && words.trim_start_matches('#').starts_with(' ');
        let is_full = open.is_some_and(|from| number - from >= MAX_PARAGRAPH_LINES);
        // A heading belongs to the paragraph below it, also across a blank line.
        let is_end = words.is_empty() && !is_heading_only;
        if let Some(from) = open.filter(|_| is_end || is_heading || is_full) {
            nodes.push(paragraph(from, number - 1, &heading));
            open = None;
        }
        if is_heading {
            let level = words.len() - words.trim_start_matches('#').len();
            while above.pop_if(|(last, _)| *last >= level).is_some() {}
            let parent = above.last().map(|(_, first)| *first);
            above.push((level, nodes.len()));
            heading = ParagraphHeading { parent, ..ParagraphHeading::at(text, lines, number, rendering) };
        }
        if !words.is_empty() {
            is_heading_only = is_heading;
            open = open.or(Some(number));
        }
    }
    if let Some(from) = open {
        nodes.push(paragraph(from, lines.count(), &heading));
    }
    nodes
}
