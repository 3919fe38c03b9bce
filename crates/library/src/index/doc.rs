//! Parses a file for the index: its normalized text, line by line, and the nodes that it is split into.

use serde::de::IgnoredAny;

use crate::fs::Sha256;
use crate::text::{
    LineIndex, MAX_TITLE_CHARS, Node, json_node, markdown_nodes, normalize_line, truncate_chars,
};

/// The maximum number of lines in a paragraph of the vault, so that a hit in a file without blank lines still points at a
/// few lines; a longer paragraph is split.
const MAX_PARAGRAPH_LINES: usize = 40;
/// The maximum number of links of one section. A page with more is a list of links, which says little about any of them;
/// the rest is not followed.
const MAX_LINKS: usize = 2000;
/// The maximum length of a link. A longer one is usually embedded data; it is ignored.
const MAX_LINK_BYTES: usize = 500;

/// How a file is split into nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// At its headings.
    Markdown,
    /// Not at all: the file is one node.
    Json,
    /// At its paragraphs.
    Paragraphs,
}

/// A parsed file, ready to be indexed.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedFile {
    /// The stored path.
    pub path: String,
    /// How it is split into nodes.
    pub shape: Shape,
    /// The SHA-256 of the file.
    pub sha256: Sha256,
    /// Whether the content is valid for the extension; invalid JSON is not.
    pub sound: bool,
    /// The normalized text, with one line for each line of the original.
    pub text: String,
    /// The nodes, in order.
    pub nodes: Vec<ParsedSection>,
}

/// A parsed node, ready to be indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedSection {
    /// The node.
    pub node: Node,
    /// How many of its first lines belong to the heading.
    pub heading_lines: usize,
    /// The bytes of its own lines in the normalized text of the file.
    pub text: std::ops::Range<usize>,
    /// The targets of its links, as written.
    pub links: Vec<String>,
}

impl ParsedFile {
    /// Parses a file.
    pub fn new(path: &str, shape: Shape, original: &str, sha256: Sha256) -> Self {
        let lines = LineIndex::new(original);
        let name = path.rsplit('/').next().unwrap_or(path);
        let sound = shape != Shape::Json
            || serde_json::from_str::<IgnoredAny>(original.trim_start_matches('\u{feff}')).is_ok();
        let nodes = match shape {
            Shape::Markdown => markdown_nodes(original, &lines, name),
            Shape::Json => vec![json_node(&lines, name)],
            Shape::Paragraphs => paragraphs(original, &lines, name),
        };
        let mut text = String::with_capacity(original.len());
        let mut starts = Vec::with_capacity(lines.count() + 1);
        for line in (1..=lines.count()).filter_map(|number| original.get(lines.line(number)?)) {
            starts.push(text.len());
            match shape {
                Shape::Json if line.contains("\\u") => normalize_line(&unescaped(line), &mut text),
                _ => normalize_line(line, &mut text),
            }
            text.push('\n');
        }
        starts.push(text.len());
        let byte = |line: usize| starts.get(line.saturating_sub(1)).copied().unwrap_or(text.len());
        let section = |node: Node| {
            let own = lines.range(node.start_line, node.own_end_line).and_then(|range| original.get(range));
            let own = own.unwrap_or_default();
            // The text before the first heading is named after the file and does not start with `#`.
            let is_preface =
                node.title == name && !own.trim_start_matches('\u{feff}').trim_start().starts_with('#');
            let is_heading = shape == Shape::Markdown && !is_preface;
            ParsedSection {
                heading_lines: if is_heading { heading_lines(own) } else { 0 },
                text: byte(node.start_line)..byte(node.own_end_line + 1),
                links: if shape == Shape::Json { Vec::new() } else { links(own) },
                node,
            }
        };
        let nodes = nodes.into_iter().map(section).collect();
        Self { path: path.to_owned(), shape, sha256, sound, text, nodes }
    }
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

/// The targets of the links of a Markdown text, without URLs.
fn links(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let inline = text.split("](").skip(1);
    let defined = text.lines().filter_map(|line| {
        let line = line.trim_start();
        line.starts_with('[').then(|| line.split_once("]: ")).flatten().map(|(_, target)| target)
    });
    for target in inline.chain(defined) {
        let target = target.trim_start();
        // A path in angle brackets may contain spaces.
        let (target, end) = match target.strip_prefix('<') {
            Some(target) => (target, target.find(['>', '\n', '\r'])),
            None => (target, target.find([')', ' ', '\n', '\r', '"'])),
        };
        let end = end.unwrap_or(target.len());
        let target = target.get(..end).unwrap_or_default();
        let is_external = target.contains("://") || target.starts_with("mailto:");
        if !target.is_empty()
            && target.len() <= MAX_LINK_BYTES
            && !is_external
            && !found.iter().any(|link| link == target)
        {
            found.push(target.to_owned());
        }
        if found.len() == MAX_LINKS {
            break;
        }
    }
    found
}

/// A line of JSON with its `\uXXXX` escapes decoded; invalid escapes are kept.
fn unescaped(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut units: Vec<u16> = Vec::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\\u") {
        if !before.is_empty() {
            out.extend(char::decode_utf16(units.drain(..)).map(|ch| ch.unwrap_or('\u{fffd}')));
            out.push_str(before);
        }
        match after.get(..4).and_then(|digits| u16::from_str_radix(digits, 16).ok()) {
            Some(unit) => {
                units.push(unit);
                rest = after.get(4..).unwrap_or_default();
            }
            None => {
                out.push_str("\\u");
                rest = after;
            }
        }
    }
    out.extend(char::decode_utf16(units.drain(..)).map(|ch| ch.unwrap_or('\u{fffd}')));
    out.push_str(rest);
    out
}

/// The paragraphs of a text, separated by blank lines and headings, each titled by the last heading.
fn paragraphs(text: &str, lines: &LineIndex, name: &str) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut title = name.to_owned();
    let mut open: Option<usize> = None;
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
        let heading = words
            .starts_with('#')
            .then(|| words.trim_start_matches('#'))
            .filter(|rest| rest.starts_with(' '));
        let is_full = open.is_some_and(|from| number - from >= MAX_PARAGRAPH_LINES);
        if let Some(from) = open.filter(|_| words.is_empty() || heading.is_some() || is_full) {
            close(from, number - 1, &title);
            open = None;
        }
        if let Some(heading) = heading {
            title = truncate_chars(heading.trim(), MAX_TITLE_CHARS).0.to_owned();
        }
        if !words.is_empty() {
            open = open.or(Some(number));
        }
    }
    if let Some(from) = open {
        close(from, lines.count(), &title);
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doc(shape: Shape, text: &str) -> ParsedFile {
        ParsedFile::new("a/b.md", shape, text, Sha256::of(text.as_bytes()))
    }

    #[test]
    fn each_node_has_its_own_normalized_lines_and_links() {
        let doc = doc(Shape::Markdown, "Ｐre\n\n# One [x](y.md#z)\nＡ\n\nTwo\n---\nB [q](http://x)\n");
        let own: Vec<_> = doc
            .nodes
            .iter()
            .map(|section| {
                (section.node.title.as_str(), section.heading_lines, &doc.text[section.text.clone()])
            })
            .collect();
        let expected = [
            ("b.md", 0, "pre\n\n"),
            ("One x", 1, "# one [x](y.md#z)\na\n\n"),
            ("Two", 2, "two\n---\nb [q](http://x)\n"),
        ];
        assert_eq!(own, expected);
        assert_eq!(doc.nodes[1].links, ["y.md#z"]);
        assert!(doc.nodes[2].links.is_empty());
    }

    #[test]
    fn json_escapes_are_decoded_before_normalizing() {
        let doc = doc(Shape::Json, "{\"a\": \"\\u4fdd\\u967a\\u91d1 \\ud83d\\ude00 \\uZ\"}");
        assert_eq!((doc.sound, doc.text.as_str()), (false, "{\"a\": \"保険金 😀 \\uz\"}\n"));
    }

    #[test]
    fn paragraphs_are_split_at_blank_lines_and_titled_by_headings() {
        let doc = doc(Shape::Paragraphs, "a\nb\n\n# T\nc\n\nd");
        let own: Vec<_> = doc
            .nodes
            .iter()
            .map(|section| (section.node.title.as_str(), section.node.start_line, section.node.end_line))
            .collect();
        assert_eq!(own, [("b.md", 1, 2), ("T", 4, 5), ("T", 7, 7)]);
    }
}
