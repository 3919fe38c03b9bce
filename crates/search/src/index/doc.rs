//! Prepares a file for the index: its normalized text, line by line, and the passages that its sections are split into.

use std::ops::Range;

use super::entries::{FileEntry, NodeEntry, ParsedFile, to_u32};
use super::passages::passages;
use annai_core::cancellation::checkpoint;
use annai_files::fs::TextFile;
use annai_text::{Document, Format, Growth, Link, Node, line_ranges, normalize_line_within, page_name};

impl ParsedFile {
    /// Parses a file of a collection.
    pub fn new(collection: &str, path: &str, format: &dyn Format, file: TextFile) -> Self {
        let TextFile { text, sha256, encoding, .. } = file;
        let document = format.parse(text, page_name(path, collection));
        let entry = FileEntry {
            path: path.to_owned(),
            title: document.title.clone(),
            structure: format.structure(),
            sha256,
            sound: document.is_sound,
            nodes: 0..0,
            sections: 0,
            encoding,
            row_lines: Vec::new(),
        };
        let nodes = format.ranked_nodes(&document);
        let counters = Counters { chars: CharCounter::default(), growth: Growth::of(document.text.len()) };
        let parsed = Self {
            entry,
            text: String::with_capacity(document.text.len()),
            nodes: Vec::with_capacity(nodes.len()),
        };
        let mut preparation = Preparation { format, document: &document, parsed, counters };
        // The number of the first passage of each node, because a parent is a whole section and not a passage.
        let mut first_passages = Vec::with_capacity(nodes.len());
        for node in nodes.iter() {
            first_passages.push(preparation.parsed.nodes.len());
            preparation.add(node, &first_passages);
        }
        preparation.finish()
    }
}

#[cfg(any(test, feature = "fuzzing"))]
impl ParsedFile {
    /// Parses a text as a file of a collection.
    pub fn of_text(collection: &str, path: &str, format: &dyn Format, text: &str) -> Self {
        let sha256 = annai_files::fs::Sha256::of(text.as_bytes());
        let encoding = annai_text::Encoding::Utf8;
        let file = TextFile { text: text.to_owned(), sha256, encoding, has_bom: false };
        Self::new(collection, path, format, file)
    }
}

/// A file that is being prepared.
struct Preparation<'a> {
    format: &'a dyn Format,
    document: &'a Document,
    parsed: ParsedFile,
    counters: Counters,
}

impl Preparation<'_> {
    /// Adds a section, split into passages if it is long.
    fn add(&mut self, node: &Node, first_passages: &[usize]) {
        let Document { text, lines, .. } = self.document;
        let passages = passages(text, lines, node.own.clone());
        let first = self.parsed.nodes.len();
        let parent = node.parent.and_then(|parent| first_passages.get(parent)).copied();
        let is_split = passages.len() > 1;
        for (number, passage) in passages.into_iter().enumerate() {
            checkpoint();
            let is_continuation = number > 0;
            let start_line = lines.line_at(passage.start);
            let own_end_line = lines.line_at(passage.end.saturating_sub(1).max(passage.start));
            let line_start = lines.line(start_line).map_or(0, |line| line.start);
            let start = self.parsed.text.len();
            self.add_text(passage.clone());
            self.parsed.nodes.push(NodeEntry {
                file: 0,
                title: node.title.clone(),
                kind: node.kind,
                anchor: node.anchor.clone().filter(|_| !is_continuation),
                level: node.level,
                heading_lines: if is_continuation { 0 } else { to_u32(node.heading_lines) },
                start_line: to_u32(start_line),
                start_char: to_u32(self.counters.chars.count(text, line_start, passage.start)),
                end_line: to_u32(if is_continuation { own_end_line } else { node.end_line }),
                own_end_line: to_u32(if is_split { own_end_line } else { node.own_end_line }),
                parent: if is_continuation { Some(first) } else { parent }.map(to_u32),
                text: to_u32(start)..to_u32(self.parsed.text.len()),
                bytes: to_u32(passage.len()),
                length: 0,
                links: targets(&node.links, &passage),
                is_continuation,
                json_path: node.json_path.clone(),
            });
        }
    }

    /// Adds the normalized text of a passage as a reader sees it, line by line.
    fn add_text(&mut self, passage: Range<usize>) {
        let Document { text, lines, rendering, .. } = self.document;
        for line in line_ranges(text.get(passage.clone()).unwrap_or_default()) {
            checkpoint();
            let line = passage.start + line.start..passage.start + line.end;
            self.parsed.entry.row_lines.push(to_u32(lines.line_at(line.start)));
            let line = self.format.searched_line(rendering.render(text, line));
            normalize_line_within(&line, &mut self.counters.growth, &mut self.parsed.text);
            self.parsed.text.push('\n');
        }
    }

    /// The prepared file. The lines of its rows are only kept where they cannot be counted.
    fn finish(self) -> ParsedFile {
        let mut parsed = self.parsed;
        let rows = |node: &NodeEntry| {
            let text = parsed.text.get(node.text.start as usize..node.text.end as usize);
            text.map_or(0, |text| to_u32(memchr::memchr_iter(b'\n', text.as_bytes()).count()))
        };
        let counted = parsed.nodes.iter().flat_map(|node| (node.start_line..).take(rows(node) as usize));
        if counted.eq(parsed.entry.row_lines.iter().copied()) {
            parsed.entry.row_lines = Vec::new();
        }
        parsed
    }
}

/// The targets of the links in a passage, each once.
fn targets(links: &[Link], passage: &Range<usize>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for link in links.iter().filter(|link| passage.contains(&link.at)) {
        if !found.contains(&link.target) {
            found.push(link.target.clone());
        }
    }
    found
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

#[cfg(test)]
#[path = "doc_tests.rs"]
mod tests;
