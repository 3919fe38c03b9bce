//! Parses a file for the index: its normalized text, line by line, and the nodes that it is split into.

use std::ops::Range;

use super::passages::passages;
use super::shape::Shape;
use super::source::{Part, Source, json_source};
use annai_core::cancellation::checkpoint;
use annai_files::fs::Sha256;
use annai_text::{Encoding, Growth, Node, normalize_line_within, page_name, parse_html};

/// The maximum number of links of one section. A page with more is a list of links, which says little about any of them;
/// the rest is not followed.
const MAX_LINKS: usize = 2000;
/// The maximum length of a link. A longer one is usually embedded data; it is ignored.
const MAX_LINK_BYTES: usize = 500;

/// A parsed file, ready to be indexed.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedFile {
    /// The stored path.
    pub path: String,
    /// The title of the page.
    pub title: String,
    /// How it is split into nodes.
    pub shape: Shape,
    /// The SHA-256 of the file.
    pub sha256: Sha256,
    /// Whether the content is valid for the extension; invalid JSON is not.
    pub sound: bool,
    /// The encoding of the file.
    pub encoding: Encoding,
    /// The normalized text, with one line for each line of the original; for HTML, one for each row.
    pub text: String,
    /// For HTML, the original line on which each row began; otherwise empty.
    pub row_lines: Vec<u32>,
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
    pub text: Range<usize>,
    /// The size of its own text in the file, with markup.
    pub bytes: usize,
    /// The targets of its links, as written.
    pub links: Vec<String>,
    /// Whether it is a passage of a long section, after the first one. Its parent is the first passage.
    pub is_continuation: bool,
    /// The JSON Pointer of its value, in a JSON file.
    pub json_path: Option<Box<str>>,
}

impl ParsedFile {
    /// Parses a file of a collection.
    pub fn new(collection: &str, path: &str, shape: Shape, original: &str, sha256: Sha256) -> Self {
        let name = page_name(path, collection);
        let (sound, source) = match shape {
            Shape::Html => (true, Source::html(parse_html(original, name), name)),
            Shape::Json => json_source(original, name),
            Shape::Markdown => (true, Source::markdown(original, shape, name)),
            Shape::Paragraphs if has_markup(path) => (true, Source::markdown(original, shape, name)),
            Shape::Paragraphs | Shape::Text => (true, Source::text(original, shape, name)),
        };
        let mut parsed = Self {
            path: path.to_owned(),
            title: source.title.clone(),
            shape,
            sha256,
            sound,
            encoding: Encoding::Utf8,
            text: String::with_capacity(source.text.len()),
            row_lines: Vec::new(),
            nodes: Vec::with_capacity(source.parts.len()),
        };
        // The number of the first passage of each part, because a parent is a part and not a passage.
        let mut first_passages = Vec::with_capacity(source.parts.len());
        let mut counters = Counters { chars: CharCounter::default(), growth: Growth::of(source.text.len()) };
        for part in &source.parts {
            first_passages.push(parsed.nodes.len());
            parsed.add(&source, part, &first_passages, &mut counters);
        }
        parsed
    }

    /// Adds a section, split into passages if it is long.
    fn add(&mut self, source: &Source<'_>, part: &Part, first_passages: &[usize], counters: &mut Counters) {
        let Source { text, lines, .. } = source;
        let passages = passages(text, lines, part.own.clone());
        let first = self.nodes.len();
        let parent = part.node.parent.and_then(|parent| first_passages.get(parent)).copied();
        let is_split = passages.len() > 1;
        for (number, passage) in passages.into_iter().enumerate() {
            checkpoint();
            let is_continuation = number > 0;
            let start_line = lines.line_at(passage.start);
            let own_end_line = lines.line_at(passage.end.saturating_sub(1).max(passage.start));
            let line_start = lines.line(start_line).map_or(0, |line| line.start);
            let node = Node {
                title: part.node.title.clone(),
                level: part.node.level,
                start_line,
                start_char: counters.chars.count(text, line_start, passage.start),
                end_line: if is_continuation { own_end_line } else { part.node.end_line },
                own_end_line: if is_split { own_end_line } else { part.node.own_end_line },
                parent: if is_continuation { Some(first) } else { parent },
                kind: part.node.kind,
                anchor: part.node.anchor.clone().filter(|_| !is_continuation),
            };
            let start = self.text.len();
            let own = text.get(passage.clone()).unwrap_or_default();
            self.add_text(source, passage, &mut counters.growth);
            self.nodes.push(ParsedSection {
                heading_lines: if is_continuation { 0 } else { part.heading_lines },
                text: start..self.text.len(),
                bytes: own.len(),
                links: match self.shape {
                    Shape::Json | Shape::Text => Vec::new(),
                    Shape::Html if is_continuation => Vec::new(),
                    Shape::Html => part.links.clone(),
                    Shape::Markdown | Shape::Paragraphs => links(own),
                },
                is_continuation,
                json_path: part.json_path.clone(),
                node,
            });
        }
    }

    /// Adds the normalized text of a part as a reader sees it, with one line for each line of the original; for HTML, one
    /// for each row.
    fn add_text(&mut self, source: &Source<'_>, part: Range<usize>, growth: &mut Growth) {
        let Source { text, lines, .. } = source;
        if self.shape == Shape::Html {
            let mut at = part.start;
            for row in text.get(part).unwrap_or_default().split_inclusive('\n') {
                checkpoint();
                self.row_lines.push(u32::try_from(lines.line_at(at)).unwrap_or(u32::MAX));
                normalize_line_within(row.trim_end_matches('\n'), growth, &mut self.text);
                self.text.push('\n');
                at += row.len();
            }
            return;
        }
        let last = lines.line_at(part.end.saturating_sub(1).max(part.start));
        for line in (lines.line_at(part.start)..=last).filter_map(|number| lines.line(number)) {
            checkpoint();
            let line = line.start.max(part.start)..line.end.min(part.end).max(part.start);
            let line = source.rendering.render(text, line);
            match self.shape {
                Shape::Json if line.contains("\\u") => {
                    normalize_line_within(&unescaped(&line), growth, &mut self.text);
                }
                _ => normalize_line_within(&line, growth, &mut self.text),
            }
            self.text.push('\n');
        }
    }
}

/// Whether a file of the vault is written with markup, by its extension.
pub fn has_markup(path: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["md", "markdown", "mdx", "html", "htm"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// What is counted over all sections of a file.
struct Counters {
    chars: CharCounter,
    /// How much longer the normalized text may still become than the original.
    growth: Growth,
}

/// Counts the characters before places that come in order, so that a long line with many of them is read once.
#[derive(Default)]
struct CharCounter {
    line_start: usize,
    byte: usize,
    chars: usize,
}

impl CharCounter {
    /// The number of characters from the start of a line to a byte.
    fn count(&mut self, text: &str, line_start: usize, byte: usize) -> usize {
        if self.line_start != line_start || self.byte > byte {
            *self = Self { line_start, byte: line_start, chars: 0 };
        }
        self.chars += text.get(self.byte..byte).map_or(0, |before| before.chars().count());
        self.byte = byte.max(self.byte);
        self.chars
    }
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

#[cfg(test)]
#[path = "doc_tests.rs"]
mod tests;
