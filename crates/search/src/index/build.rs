//! Builds a segment of the index from documents.

use super::entries::{FileEntry, ParsedFile, to_u32};
use super::segment::{Posting, Segment, write_posting, write_varint};
use super::tokens::{self, Key, tokens};
use annai_core::cancellation::{Ticks, checkpoint};
use annai_text::{NodeKind, normalize_line, normalize_text, title_labels};

/// The keys of a text are counted in batches of a million, which bounds the memory for the keys of a very large file.
const BATCH_KEYS: usize = 1 << 20;

/// A key that occurs in a node, with its counts per field as [`Field::pack`] packs them.
type Occurrence = (Key, u32, u32);

/// The field of a node in which a key occurs. Packed counts have the body in the lower 16 bits, then 8 bits for the
/// title and 8 for the path; larger counts saturate.
#[derive(Clone, Copy)]
enum Field {
    /// The text without the heading.
    Body,
    /// The heading.
    Title,
    /// The headings above, and the file name.
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

/// Adds two packed counts, field by field.
fn add_counts(one: u32, other: u32) -> u32 {
    let body = ((one & 0xffff) + (other & 0xffff)).min(0xffff);
    let title = (((one >> 16) & 0xff) + ((other >> 16) & 0xff)).min(0xff);
    let path = ((one >> 24) + (other >> 24)).min(0xff);
    body | (title << 16) | (path << 24)
}

/// Builds a segment from files of the collection `name`.
pub fn build(name: &str, docs: Vec<ParsedFile>) -> Segment {
    let mut builder = SegmentBuilder::default();
    for doc in docs {
        builder.add(name, doc);
    }
    builder.finish()
}

/// A segment under construction.
#[derive(Default)]
struct SegmentBuilder {
    segment: Segment,
    occurrences: Vec<Occurrence>,
    /// The keys of the current text; reused between texts to avoid allocations.
    keys: Vec<Key>,
}

/// What all sections of one file have in common.
struct FileContext {
    /// The index of the file.
    file: u32,
    /// The index of its first node.
    first: u32,
    /// The start of its text in the text of the segment.
    base: u32,
    /// The normalized words of its path.
    path_words: String,
}

impl SegmentBuilder {
    /// Adds a file with its sections.
    fn add(&mut self, name: &str, doc: ParsedFile) {
        let context = FileContext {
            file: to_u32(self.segment.files.len()),
            first: to_u32(self.segment.nodes.len()),
            base: to_u32(self.segment.text.len()),
            path_words: path_words(name, &doc.entry.path),
        };
        let mut titles: Vec<String> = Vec::with_capacity(doc.nodes.len());
        let mut open_table: Option<&str> = None;
        for mut section in doc.nodes {
            checkpoint();
            let node = to_u32(self.segment.nodes.len());
            let own =
                doc.text.get(section.text.start as usize..section.text.end as usize).unwrap_or_default();
            let length = self.index(body_of(own, section.heading_lines as usize), node, Field::Body);
            let mut title = String::new();
            normalize_line(&section.title, &mut title);
            if section.heading_lines > 0 || (section.kind == NodeKind::Page && !section.is_continuation) {
                self.index(&title, node, Field::Title);
                self.add_labels(&title_labels(&title), node);
            }
            if node == context.first {
                // The name of a file may be the label of its content (`別表7.md`), and so may the title of the page.
                self.add_labels(&file_name_labels(&doc.entry.path), node);
                self.add_labels(&title_labels(&title), node);
            }
            // The rows of a long table mean little without the names of its columns.
            if let Some(header) = open_table.filter(|_| section.is_continuation) {
                self.index(header, node, Field::Path);
            }
            open_table = table_at_end(own, open_table.filter(|_| section.is_continuation));
            self.index(&context.path_words, node, Field::Path);
            if let Some(pointer) = &section.json_path {
                let mut keys = String::new();
                normalize_line(&pointer.replace('/', " | "), &mut keys);
                self.index(&keys, node, Field::Path);
            }
            self.index_headings_above(section.parent, &titles, node, &context);
            titles.push(title);
            (section.file, section.length) = (context.file, to_u32(length));
            section.parent = section.parent.map(|parent| context.first + parent);
            section.text = context.base + section.text.start..context.base + section.text.end;
            self.segment.nodes.push(section);
        }
        self.segment.text.push_str(&doc.text);
        let nodes = context.first..to_u32(self.segment.nodes.len());
        self.segment.files.push(FileEntry { nodes, ..doc.entry });
    }

    /// Adds the keys of a text to a field of a node, and returns how many they are.
    fn index(&mut self, text: &str, node: u32, field: Field) -> usize {
        index_text(text, node, field, &mut self.keys, &mut self.occurrences)
    }

    fn add_labels(&mut self, labels: &[String], node: u32) {
        let count = Field::Title.pack(1);
        self.occurrences.extend(labels.iter().map(|label| (tokens::label(label), node, count)));
    }

    /// Adds the headings above a node to its path field.
    fn index_headings_above(
        &mut self,
        parent: Option<u32>,
        titles: &[String],
        node: u32,
        context: &FileContext,
    ) {
        let mut above = parent;
        while let Some(index) = above {
            let Some(entry) = self.segment.node(context.first + index) else { break };
            above = entry.parent.map(|parent| parent - context.first);
            self.index(titles.get(index as usize).map_or("", String::as_str), node, Field::Path);
        }
    }

    /// Sorts and merges the occurrences, and writes the postings of each key.
    fn finish(self) -> Segment {
        let Self { mut segment, mut occurrences, .. } = self;
        // There may be tens of millions.
        let mut ticks = Ticks::default();
        occurrences.sort_unstable_by_key(|(key, node, _)| {
            ticks.tick();
            (*key, *node)
        });
        occurrences.dedup_by(|later, first| {
            ticks.tick();
            let same = (later.0, later.1) == (first.0, first.1);
            if same {
                first.2 = add_counts(first.2, later.2);
            }
            same
        });
        for list in occurrences.chunk_by(|one, other| one.0 == other.0) {
            ticks.tick();
            segment.keys.extend(list.first().map(|(key, ..)| *key));
            segment.starts.push(to_u32(segment.postings.len()));
            write_varint(&mut segment.postings, to_u32(list.len()));
            let mut last = 0;
            for (_, node, counts) in list {
                write_posting(&mut segment.postings, posting(*node, *counts), last);
                last = *node;
            }
        }
        segment.starts.push(to_u32(segment.postings.len()));
        segment.keys.shrink_to_fit();
        segment.starts.shrink_to_fit();
        segment.postings.shrink_to_fit();
        segment.with_total_length()
    }
}

/// The header row of the table that a text ends in; none where it does not end in one. A table may be open at its start.
fn table_at_end<'a>(text: &'a str, open: Option<&'a str>) -> Option<&'a str> {
    let (mut header, mut before) = (open, None);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if !line.starts_with('|') {
            header = None;
        } else if line.contains('-') && line.chars().all(|character| "|-: ".contains(character)) {
            header = before;
        }
        before = Some(line).filter(|line| line.starts_with('|'));
    }
    header
}

/// The text of a section without its heading.
fn body_of(own: &str, heading_lines: usize) -> &str {
    let body = match heading_lines.checked_sub(1) {
        Some(last) => own.match_indices('\n').nth(last).and_then(|(end, _)| own.get(end + 1..)),
        None => Some(own),
    };
    body.unwrap_or_default()
}

const fn posting(node: u32, counts: u32) -> Posting {
    Posting { node, body: counts & 0xffff, title: (counts >> 16) & 0xff, path: counts >> 24 }
}

/// The normalized words of a file's path: the name of the collection, and the path without its extension.
fn path_words(name: &str, path: &str) -> String {
    let path = path.rsplit_once('.').map_or(path, |(path, _)| path);
    let mut words = String::new();
    normalize_line(&format!("{name} | {}", path.replace('/', " | ")), &mut words);
    words
}

/// The labels in the name of a file.
fn file_name_labels(path: &str) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    title_labels(&normalize_text(name.rsplit_once('.').map_or(name, |(stem, _)| stem)))
}

/// Adds the keys of a text to a field of a node, and returns how many they are.
fn index_text(
    text: &str,
    node: u32,
    field: Field,
    keys: &mut Vec<Key>,
    occurrences: &mut Vec<Occurrence>,
) -> usize {
    let mut total = 0;
    let mut count = |keys: &mut Vec<Key>| {
        keys.sort_unstable();
        total += keys.len();
        let groups = keys.chunk_by(|one, other| one == other);
        occurrences.extend(groups.filter_map(|same| Some((*same.first()?, node, field.pack(same.len())))));
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
    use annai_text::Markdown;

    fn segment(files: &[(&str, &str)]) -> Segment {
        let docs = files.iter().map(|(path, text)| ParsedFile::of_text("手引き", path, &Markdown, text));
        build("手引き", docs.collect())
    }

    #[test]
    fn postings_count_keys_by_body_title_and_path() {
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
    fn the_later_rows_of_a_long_table_are_found_by_its_columns() {
        let rows: String =
            (0..200).map(|number| format!("| item{number} | {number} kilograms of cargo |\n")).collect();
        let text = format!("# Loads\n| Name | Payload |\n|---|---:|\n{rows}\nAfter the table.\n# Other\nx\n");
        let segment = segment(&[("a.md", &text)]);
        let passages = segment.nodes.iter().filter(|node| node.title == "Loads").count();
        assert!(passages > 1);
        assert_eq!(segment.count(tokens::word("payload")), passages);
        assert_eq!(table_at_end("| a |\n|---|\n| b |\ntext\n", None), None);
        assert_eq!(table_at_end("| c |\n", Some("| a |")), Some("| a |"));
    }

    #[test]
    fn a_segment_rebuilt_from_its_own_files_is_equal() {
        let files = [("a.md", "# A\nb\n## 第三条 C\nd [e](f.md)\n"), ("g.md", "no heading\n")];
        let first = segment(&files);
        let docs = first.files.iter().map(|file| first.doc(file)).collect();
        assert_eq!(build("手引き", docs), first);
        assert_eq!(first.count(tokens::label("第3条")), 1);
    }
}
