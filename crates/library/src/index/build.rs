//! Builds a segment of the index from documents.

use super::doc::{Doc, Section};
use super::segment::{FileEntry, NodeEntry, Posting, Segment, write, write_posting};
use super::tokens::{self, Key, tokens};
use crate::text::{labels, normalize_line, normalize_text};

/// A text's keys are counted in batches of a million, so that a file of hundreds of megabytes takes no more memory than
/// that for its keys.
const BATCH_KEYS: usize = 1 << 20;

/// One key of one node, and how often it stands where, as `Counts` packs it.
type Entry = (Key, u32, u32);

/// Where a key stands, as the bits of an entry's counts: the body in the lower half, heading and path above it.
#[derive(Clone, Copy)]
enum Field {
    Body,
    Title,
    Path,
}

impl Field {
    fn pack(self, count: usize) -> u32 {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        match self {
            Self::Body => count.min(0xffff),
            Self::Title => count.min(0xff) << 16,
            Self::Path => count.min(0xff) << 24,
        }
    }
}

/// The counts of two entries together.
fn together(one: u32, other: u32) -> u32 {
    let body = ((one & 0xffff) + (other & 0xffff)).min(0xffff);
    let title = (((one >> 16) & 0xff) + ((other >> 16) & 0xff)).min(0xff);
    let path = ((one >> 24) + (other >> 24)).min(0xff);
    body | (title << 16) | (path << 24)
}

/// Indexes documents of the collection `name`.
pub fn build(name: &str, docs: Vec<Doc>) -> Segment {
    let mut builder = SegmentBuilder::default();
    for doc in docs {
        builder.add(name, doc);
    }
    builder.finish()
}

/// A segment in the making.
#[derive(Default)]
struct SegmentBuilder {
    segment: Segment,
    entries: Vec<Entry>,
    /// The keys of the text at hand; kept between texts so that nothing is allocated for each.
    keys: Vec<Key>,
}

/// What the sections of one file share.
struct FileContext {
    /// The file, as an index.
    file: u32,
    /// Its first node, as an index.
    first: u32,
    /// Where its text begins in the segment's text.
    base: usize,
    /// What its path says about it.
    path_words: String,
}

/// An index or a count as the segment holds it.
fn number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl SegmentBuilder {
    /// Adds a file with its sections.
    fn add(&mut self, name: &str, doc: Doc) {
        let context = FileContext {
            file: number(self.segment.files.len()),
            first: number(self.segment.nodes.len()),
            base: self.segment.text.len(),
            path_words: path_words(name, &doc.path),
        };
        let mut titles: Vec<String> = Vec::with_capacity(doc.nodes.len());
        for section in doc.nodes {
            let node = number(self.segment.nodes.len());
            let own = doc.text.get(section.text.clone()).unwrap_or_default();
            let length = self.index(body_of(own, section.heading_lines), node, Field::Body);
            let mut title = String::new();
            normalize_line(&section.node.title, &mut title);
            if section.heading_lines > 0 {
                self.index(&title, node, Field::Title);
                self.add_labels(&labels(&title), node);
            }
            if node == context.first {
                // A file may be called by the label of what it holds: `別表7.md`.
                self.add_labels(&stem_labels(&doc.path), node);
            }
            self.index(&context.path_words, node, Field::Path);
            self.index_headings_above(section.node.parent, &titles, node, &context);
            titles.push(title);
            self.segment.nodes.push(node_entry(section, length, &context));
        }
        self.segment.text.push_str(&doc.text);
        self.segment.files.push(FileEntry {
            path: doc.path,
            shape: doc.shape,
            sha256: doc.sha256,
            sound: doc.sound,
            nodes: context.first..number(self.segment.nodes.len()),
        });
    }

    /// Files a node under every key of a text, and returns how many keys that were.
    fn index(&mut self, text: &str, node: u32, field: Field) -> usize {
        file_under(text, node, field, &mut self.keys, &mut self.entries)
    }

    fn add_labels(&mut self, labels: &[String], node: u32) {
        let count = Field::Title.pack(1);
        self.entries.extend(labels.iter().map(|label| (tokens::label(label), node, count)));
    }

    /// Files a node under the headings that it stands below.
    fn index_headings_above(
        &mut self,
        parent: Option<usize>,
        titles: &[String],
        node: u32,
        context: &FileContext,
    ) {
        let mut above = parent;
        while let Some(index) = above {
            let Some(entry) = self.segment.nodes.get(context.first as usize + index) else { break };
            above = entry.parent.map(|parent| (parent - context.first) as usize);
            self.index(titles.get(index).map_or("", String::as_str), node, Field::Path);
        }
    }

    /// Counts the keys and writes their postings.
    fn finish(self) -> Segment {
        let Self { mut segment, mut entries, .. } = self;
        entries.sort_unstable_by_key(|(key, node, _)| (*key, *node));
        entries.dedup_by(|later, first| {
            let same = (later.0, later.1) == (first.0, first.1);
            if same {
                first.2 = together(first.2, later.2);
            }
            same
        });
        for list in entries.chunk_by(|one, other| one.0 == other.0) {
            segment.keys.extend(list.first().map(|(key, ..)| *key));
            segment.starts.push(number(segment.postings.len()));
            write(&mut segment.postings, number(list.len()));
            let mut last = 0;
            for (_, node, counts) in list {
                write_posting(&mut segment.postings, posting(*node, *counts), last);
                last = *node;
            }
        }
        segment.starts.push(number(segment.postings.len()));
        segment.keys.shrink_to_fit();
        segment.starts.shrink_to_fit();
        segment.postings.shrink_to_fit();
        segment.add_up()
    }
}

/// The text of a section below its heading.
fn body_of(own: &str, heading_lines: usize) -> &str {
    let body = match heading_lines.checked_sub(1) {
        Some(last) => own.match_indices('\n').nth(last).and_then(|(end, _)| own.get(end + 1..)),
        None => Some(own),
    };
    body.unwrap_or_default()
}

fn node_entry(section: Section, length: usize, context: &FileContext) -> NodeEntry {
    NodeEntry {
        file: context.file,
        level: section.node.level,
        heading_lines: number(section.heading_lines),
        start_line: number(section.node.start_line),
        end_line: number(section.node.end_line),
        own_end_line: number(section.node.own_end_line),
        parent: section.node.parent.map(|parent| context.first + number(parent)),
        text: number(context.base + section.text.start)..number(context.base + section.text.end),
        length: number(length),
        title: section.node.title,
        links: section.links,
    }
}

const fn posting(node: u32, counts: u32) -> Posting {
    Posting { node, body: counts & 0xffff, title: (counts >> 16) & 0xff, path: counts >> 24 }
}

/// What the path of a file says about it: its names without the ending, and the collection's.
fn path_words(name: &str, path: &str) -> String {
    let path = path.rsplit_once('.').map_or(path, |(path, _)| path);
    let mut words = String::new();
    normalize_line(&format!("{name} | {}", path.replace('/', " | ")), &mut words);
    words
}

/// The labels that a file's name says.
fn stem_labels(path: &str) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    labels(&normalize_text(name.rsplit_once('.').map_or(name, |(stem, _)| stem)))
}

/// Files a node under every key of a text; gives how many that were.
fn file_under(text: &str, node: u32, field: Field, keys: &mut Vec<Key>, entries: &mut Vec<Entry>) -> usize {
    let mut total = 0;
    let mut count = |keys: &mut Vec<Key>| {
        keys.sort_unstable();
        total += keys.len();
        let groups = keys.chunk_by(|one, other| one == other);
        entries.extend(groups.filter_map(|same| Some((*same.first()?, node, field.pack(same.len())))));
        keys.clear();
    };
    tokens(text, &mut |key| {
        keys.push(key);
        if keys.len() >= BATCH_KEYS {
            count(keys);
        }
    });
    count(keys);
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::Sha256;
    use crate::index::doc::Shape;

    fn segment(files: &[(&str, &str)]) -> Segment {
        let docs = files
            .iter()
            .map(|(path, text)| Doc::new(path, Shape::Markdown, text, Sha256::of(text.as_bytes())));
        build("手引き", docs.collect())
    }

    #[test]
    fn nodes_are_filed_by_body_title_and_path() {
        let segment =
            segment(&[("a/guide.md", "# Limits\nlimit limits\n## Rate\nx\n"), ("b.md", "plain 給付金\n")]);
        let found: Vec<_> = segment.find(tokens::word("limit")).collect();
        let expected = [
            Posting { node: 0, body: 2, title: 1, path: 0 },
            Posting { node: 1, body: 0, title: 0, path: 1 },
        ];
        assert_eq!(found, expected);
        assert_eq!(segment.count(tokens::word("guide")), 2);
        assert_eq!(segment.find(tokens::pair('付', '金')).map(|found| found.node).collect::<Vec<_>>(), [2]);
        assert_eq!(segment.find_all(tokens::all_of('金')).count(), 1);
        assert_eq!(segment.find(tokens::word("none")).count(), 0);
    }

    #[test]
    fn what_was_filed_can_be_filed_again() {
        let files = [("a.md", "# A\nb\n## 第三条 C\nd [e](f.md)\n"), ("g.md", "no heading\n")];
        let first = segment(&files);
        let docs = first.files.iter().map(|file| first.doc(file)).collect();
        assert_eq!(build("手引き", docs), first);
        assert_eq!(first.count(tokens::label("第3条")), 1);
    }
}
