//! The sections of a file as they are found in its text, before they are split into passages.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::IgnoredAny;

use super::passages::MAX_NODE_CHARS;
use super::shape::Shape;
use crate::text::{
    HtmlText, LineIndex, MAX_TITLE_CHARS, Node, json_node, json_passages, markdown_nodes, truncate_chars,
};

/// The maximum number of lines in a paragraph of the vault, so that a hit in a file without blank lines still points at a
/// few lines; a longer paragraph is split.
const MAX_PARAGRAPH_LINES: usize = 40;
/// The text of a file, and the sections that it consists of.
pub struct Source<'a> {
    /// The text.
    pub text: Cow<'a, str>,
    /// Its lines.
    pub lines: LineIndex,
    /// The sections, in order.
    pub parts: Vec<Part>,
}

impl<'a> Source<'a> {
    /// Splits a text at its headings, at its paragraphs, or not at all.
    pub fn text(text: &'a str, shape: Shape, name: &str) -> Self {
        let lines = LineIndex::new(text);
        let parts = match shape {
            Shape::Markdown => node_parts(text, &lines, markdown_nodes(text, &lines, name), Some(name)),
            Shape::Paragraphs => node_parts(text, &lines, paragraphs(text, &lines, name), None),
            _ => node_parts(text, &lines, vec![json_node(&lines, name)], None),
        };
        Self { text: text.into(), lines, parts }
    }

    /// Splits a reduced HTML file at its headings.
    pub fn html(html: HtmlText) -> Self {
        let HtmlText { text, lines, nodes, starts, has_preface, links, .. } = html;
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
        Self { text: text.into(), lines, parts }
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

/// The sections of a text. Those of Markdown begin with their headings, except what precedes the first heading: it is
/// named after the file. Paragraphs, which have no file name here, are text from their first line on.
fn node_parts(text: &str, lines: &LineIndex, nodes: Vec<Node>, file_name: Option<&str>) -> Vec<Part> {
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
        let own_text = text.get(own.clone()).unwrap_or_default();
        let first = own_text.trim_start_matches('\u{feff}').trim_start();
        let is_preface = file_name.is_none_or(|name| node.title == name && !first.starts_with('#'));
        let heading_lines = if is_preface { 0 } else { heading_lines(own_text) };
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
        return (sound, Source { text: text.into(), lines, parts: vec![part] });
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
    (sound, Source { text: text.into(), lines, parts })
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

/// The paragraphs of a text, separated by blank lines and headings, each titled by the last heading.
fn paragraphs(text: &str, lines: &LineIndex, name: &str) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut title = name.to_owned();
    let mut open: Option<usize> = None;
    // Whether the open paragraph has only a heading so far, and whether a code block is open, whose lines are no headings.
    let (mut is_heading_only, mut is_code) = (false, false);
    let line = |number: usize| lines.line(number).and_then(|line| text.get(line)).unwrap_or_default();
    let mut close = |from: usize, to: usize, title: &str| {
        let node = Node {
            title: title.to_owned(),
            level: 1,
            start_line: from,
            start_char: 0,
            end_line: to,
            own_end_line: to,
            parent: None,
        };
        nodes.push(node);
    };
    for number in 1..=lines.count() {
        let words = line(number).trim();
        let is_fence = words.starts_with("```") || words.starts_with("~~~");
        is_code ^= is_fence;
        let heading = words
            .starts_with('#')
            .then(|| words.trim_start_matches('#'))
            .filter(|rest| rest.starts_with(' ') && !is_code);
        let is_full = open.is_some_and(|from| number - from >= MAX_PARAGRAPH_LINES);
        // A heading belongs to the paragraph below it, also across a blank line.
        let is_end = words.is_empty() && !is_heading_only;
        if let Some(from) = open.filter(|_| is_end || heading.is_some() || is_full) {
            close(from, number - 1, &title);
            open = None;
        }
        if let Some(heading) = heading {
            title = truncate_chars(heading.trim(), MAX_TITLE_CHARS).0.to_owned();
        }
        if !words.is_empty() {
            is_heading_only = heading.is_some();
            open = open.or(Some(number));
        }
    }
    if let Some(from) = open {
        close(from, lines.count(), &title);
    }
    nodes
}
