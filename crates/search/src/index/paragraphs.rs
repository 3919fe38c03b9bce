//! Splits a file of the vault into its paragraphs.

use annai_core::cancellation::checkpoint;
use annai_text::{
    LineIndex, Node, NodeKind, Rendering, explicit_anchor, first_text_line, is_page_number, json_node,
    plain_title, slug,
};

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
        let raw = text.get(line.clone()).unwrap_or_default();
        let rendered = rendering.render(text, line);
        let title = plain_title(rendered.trim_start().trim_start_matches('#'));
        let anchor = explicit_anchor(raw).map(Into::into);
        if !is_page_number(&title) {
            return Self { title, kind: NodeKind::Heading, anchor, parent: None };
        }
        let is_heading = |number: &usize| {
            lines
                .line(*number)
                .and_then(|line| text.get(line))
                .is_some_and(|line| line.trim_start().starts_with('#'))
        };
        let last = (number + 1..=lines.count()).find(is_heading).map_or(lines.count(), |next| next - 1);
        let first = first_text_line(text, lines, rendering, number + 1..=last);
        let anchor = anchor.or_else(|| Some(slug(&title).into()));
        Self { title: first.unwrap_or(title), kind: NodeKind::PageBreak, anchor, parent: None }
    }
}

/// The paragraphs of a text, separated by blank lines and headings, each titled by the last heading; before the first one,
/// by the page. The parent of a paragraph is the first one of the heading above its own.
pub fn paragraphs(text: &str, lines: &LineIndex, page_title: &str, rendering: &Rendering) -> Vec<Node> {
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
    let line = |number: usize| lines.line(number).and_then(|line| text.get(line)).unwrap_or_default();
    let paragraph = |from: usize, to: usize, heading: &ParagraphHeading| {
        let ParagraphHeading { title, kind, anchor, parent } = heading.clone();
        let whole = json_node(lines, "");
        Node { title, start_line: from, end_line: to, own_end_line: to, kind, anchor, parent, ..whole }
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
