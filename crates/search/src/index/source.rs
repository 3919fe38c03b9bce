//! The sections of a file as they are found in its text, before they are split into passages.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::IgnoredAny;

use super::paragraphs::paragraphs;
use super::passages::MAX_NODE_CHARS;
use super::shape::Shape;
use annai_text::{
    HtmlText, LineIndex, MAX_TITLE_CHARS, MarkdownPage, Node, NodeKind, Rendering, json_node, json_passages,
    markdown_page, truncate_chars,
};

/// The text of a file, and the sections that it consists of.
pub struct Source<'a> {
    /// The text.
    pub text: Cow<'a, str>,
    /// Its lines.
    pub lines: LineIndex,
    /// The sections, in order.
    pub parts: Vec<Part>,
    /// The title of the page.
    pub title: String,
    /// The text as a reader sees it.
    pub rendering: Rendering,
}

impl<'a> Source<'a> {
    /// Splits a Markdown text at its headings, or at its paragraphs. A page is called `name` where nothing in it says so.
    pub fn markdown(text: &'a str, shape: Shape, name: &str) -> Self {
        let lines = LineIndex::new(text);
        let MarkdownPage { title, nodes, rendering } = markdown_page(text, &lines, name);
        let nodes = match shape {
            Shape::Paragraphs => paragraphs(text, &lines, &title, &rendering),
            _ => nodes,
        };
        let parts = node_parts(text, &lines, nodes, shape);
        Self { text: text.into(), lines, parts, title, rendering }
    }

    /// Splits a plain text at its paragraphs, or not at all.
    pub fn text(text: &'a str, shape: Shape, name: &str) -> Self {
        let (lines, rendering) = (LineIndex::new(text), Rendering::default());
        let nodes = match shape {
            Shape::Paragraphs => paragraphs(text, &lines, name, &rendering),
            _ => vec![json_node(&lines, name)],
        };
        let parts = node_parts(text, &lines, nodes, shape);
        Self { text: text.into(), lines, parts, title: name.to_owned(), rendering }
    }

    /// Splits a reduced HTML file at its headings.
    pub fn html(html: HtmlText, name: &str) -> Self {
        let HtmlText { text, lines, nodes, starts, has_preface, title, links } = html;
        let is_title =
            |node: &&Node| node.kind == NodeKind::Heading && node.level == 1 && !node.title.is_empty();
        let heading = nodes.iter().find(is_title).map(|node| node.title.clone());
        let title = heading.or(title).unwrap_or_else(|| name.to_owned());
        let end_of = |index: usize| starts.get(index + 1).copied().unwrap_or(text.len());
        let part = |(index, (node, start)): (usize, (Node, &usize))| Part {
            node,
            heading_lines: usize::from(index > 0 || !has_preface),
            own: *start..end_of(index),
            json_path: None,
            links: Vec::new(),
        };
        let mut parts: Vec<_> = nodes.into_iter().zip(&starts).enumerate().map(part).collect();
        for (node, link) in links {
            if let Some(part) = parts.get_mut(node).filter(|part| !part.links.contains(&link)) {
                part.links.push(link);
            }
        }
        Self { text: text.into(), lines, parts, title, rendering: Rendering::default() }
    }
}

/// A section of a file, before it is split into passages.
pub struct Part {
    /// The section.
    pub node: Node,
    /// How many of its first lines belong to the heading.
    pub heading_lines: usize,
    /// The bytes of its own text.
    pub own: Range<usize>,
    /// The JSON Pointer of its value, in a JSON file.
    pub json_path: Option<Box<str>>,
    /// The targets of its links, in HTML.
    pub links: Vec<String>,
}

/// The sections of a text. Those of Markdown begin with their headings, except what precedes the first heading, and pages
/// whose heading is only their number. Paragraphs are text from their first line on.
fn node_parts(text: &str, lines: &LineIndex, nodes: Vec<Node>, shape: Shape) -> Vec<Part> {
    let start_of = |node: &Node| {
        let line = lines.line(node.start_line).unwrap_or(text.len()..text.len());
        let before = text.get(line.clone()).unwrap_or_default().char_indices().nth(node.start_char);
        before.map_or(line.end, |(at, _)| line.start + at).max(line.start)
    };
    let starts: Vec<_> = nodes.iter().map(start_of).chain([text.len()]).collect();
    let part = |(index, node): (usize, Node)| {
        let start = starts.get(index).copied().unwrap_or(text.len());
        let next = starts.get(index + 1).copied().unwrap_or(text.len());
        let end = lines.line(node.own_end_line + 1).map_or(text.len(), |line| line.start);
        let own = start..end.min(next).max(start);
        let has_heading = shape == Shape::Markdown && node.kind == NodeKind::Heading;
        let heading_lines =
            if has_heading { heading_lines(text.get(own.clone()).unwrap_or_default()) } else { 0 };
        Part { node, heading_lines, own, json_path: None, links: Vec::new() }
    };
    nodes.into_iter().enumerate().map(part).collect()
}

/// The values of a JSON text, each short enough to be read at once, and whether the text is valid JSON.
pub fn json_source<'a>(text: &'a str, name: &str) -> (bool, Source<'a>) {
    let lines = LineIndex::new(text);
    let sound = serde_json::from_str::<IgnoredAny>(text.trim_start_matches('\u{feff}')).is_ok();
    let values = if sound { json_passages(text, MAX_NODE_CHARS) } else { Vec::new() };
    let whole = json_node(&lines, name);
    if values.is_empty() {
        let own = 0..text.len();
        let part = Part { node: whole, heading_lines: 0, own, json_path: None, links: Vec::new() };
        let (title, rendering) = (name.to_owned(), Rendering::default());
        return (sound, Source { text: text.into(), lines, parts: vec![part], title, rendering });
    }
    let mut start = 0;
    let count = values.len();
    let part = |(index, (pointer, value)): (usize, (String, Range<usize>))| {
        // The keys and brackets before a value belong to it, and those at the end to the last one.
        let own = start..if index + 1 == count { text.len() } else { value.end };
        start = own.end;
        let title = if pointer.is_empty() { name.to_owned() } else { pointer.clone() };
        let (start_line, end_line) = (lines.line_at(own.start), lines.line_at(own.end.saturating_sub(1)));
        let node = Node {
            title: truncate_chars(&title, MAX_TITLE_CHARS).0.to_owned(),
            start_line,
            end_line,
            own_end_line: end_line,
            ..whole.clone()
        };
        Part { node, heading_lines: 0, own, json_path: Some(pointer.into()), links: Vec::new() }
    };
    let parts = values.into_iter().enumerate().map(part).collect();
    let (title, rendering) = (name.to_owned(), Rendering::default());
    (sound, Source { text: text.into(), lines, parts, title, rendering })
}

/// The number of lines of the heading at the start of a text; 0 when it does not start with one.
fn heading_lines(text: &str) -> usize {
    let first = text.trim_start_matches('\u{feff}').trim_start();
    if first.starts_with('#') {
        return 1;
    }
    let underline = |line: &str| {
        let line = line.trim();
        !line.is_empty() && (line.bytes().all(|byte| byte == b'=') || line.bytes().all(|byte| byte == b'-'))
    };
    text.lines().take(5).position(underline).map_or(0, |line| line + 1)
}
