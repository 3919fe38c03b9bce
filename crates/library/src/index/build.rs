//! Files documents under their keys.

use super::doc::Doc;
use super::segment::{FileEntry, NodeEntry, Posting, Segment, write, write_posting};
use super::tokens::{self, Key, tokens};
use crate::text::{labels, normalize_line, normalize_text};

/// So many keys are gathered before they are counted.
const BATCH: usize = 1 << 20;

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

/// Files documents of the collection `name`.
pub fn build(name: &str, docs: Vec<Doc>) -> Segment {
    let mut segment = Segment::default();
    let mut entries: Vec<Entry> = Vec::new();
    let mut keys: Vec<Key> = Vec::new();
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    for doc in docs {
        let (file, first, base) =
            (number(segment.files.len()), number(segment.nodes.len()), segment.text.len());
        let place = path_words(name, &doc.path);
        let mut titles: Vec<String> = Vec::with_capacity(doc.nodes.len());
        for section in doc.nodes {
            let node = number(segment.nodes.len());
            let own = doc.text.get(section.text.clone()).unwrap_or_default();
            let body = match section.heading_lines.checked_sub(1) {
                Some(last) => own.match_indices('\n').nth(last).and_then(|(end, _)| own.get(end + 1..)),
                None => Some(own),
            };
            let length = file_under(body.unwrap_or_default(), node, Field::Body, &mut keys, &mut entries);
            let mut title = String::new();
            normalize_line(&section.node.title, &mut title);
            if section.heading_lines > 0 {
                file_under(&title, node, Field::Title, &mut keys, &mut entries);
                entries.extend(
                    labels(&title).iter().map(|label| (tokens::label(label), node, Field::Title.pack(1))),
                );
            }
            if node == first {
                // A file may be called by the label of what it holds: `別表7.md`.
                entries.extend(
                    stem_labels(&doc.path)
                        .iter()
                        .map(|label| (tokens::label(label), node, Field::Title.pack(1))),
                );
            }
            file_under(&place, node, Field::Path, &mut keys, &mut entries);
            let mut above = section.node.parent;
            while let Some(index) = above {
                let Some(parent) = segment.nodes.get(first as usize + index) else { break };
                file_under(
                    titles.get(index).map_or("", String::as_str),
                    node,
                    Field::Path,
                    &mut keys,
                    &mut entries,
                );
                above = parent.parent.map(|parent| (parent - first) as usize);
            }
            titles.push(title);
            segment.nodes.push(NodeEntry {
                file,
                level: section.node.level,
                heading_lines: number(section.heading_lines),
                start_line: number(section.node.start_line),
                end_line: number(section.node.end_line),
                own_end_line: number(section.node.own_end_line),
                parent: section.node.parent.map(|parent| first + number(parent)),
                text: number(base + section.text.start)..number(base + section.text.end),
                length: number(length),
                title: section.node.title,
                links: section.links,
            });
        }
        segment.text.push_str(&doc.text);
        segment.files.push(FileEntry {
            path: doc.path,
            shape: doc.shape,
            sha256: doc.sha256,
            sound: doc.sound,
            nodes: first..number(segment.nodes.len()),
        });
    }
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
            let posting = Posting {
                node: *node,
                body: counts & 0xffff,
                title: (counts >> 16) & 0xff,
                path: counts >> 24,
            };
            write_posting(&mut segment.postings, posting, last);
            last = *node;
        }
    }
    segment.starts.push(number(segment.postings.len()));
    segment.keys.shrink_to_fit();
    segment.starts.shrink_to_fit();
    segment.postings.shrink_to_fit();
    segment.add_up()
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
        if keys.len() >= BATCH {
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
