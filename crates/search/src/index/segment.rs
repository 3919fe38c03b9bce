//! Segments: immutable parts of an index, with some files, their nodes, and the postings of every key.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::entries::{FileEntry, NodeEntry, ParsedFile};
use super::number_list;
use super::tokens::Key;

/// A posting: how often a key occurs in each field of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// The index of the node.
    pub node: u32,
    /// The count in its own text, without the heading.
    pub body: u32,
    /// The count in its heading.
    pub title: u32,
    /// The count in the headings above it and the file name.
    pub path: u32,
}

/// An immutable part of an index.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// Its files.
    pub files: Vec<FileEntry>,
    /// Their nodes, file by file, in order.
    pub nodes: Vec<NodeEntry>,
    /// The normalized texts of the files, concatenated.
    pub(super) text: String,
    /// The keys, sorted.
    #[serde(with = "number_list")]
    pub(super) keys: Vec<Key>,
    /// The start of the postings of each key, and the end of the last ones.
    #[serde(with = "number_list")]
    pub(super) starts: Vec<u32>,
    /// The postings of all keys, delta-encoded as variable-length integers.
    #[serde(with = "number_list")]
    pub(super) postings: Vec<u8>,
    /// The sum of the lengths of its nodes.
    #[serde(skip)]
    pub(super) length: u64,
}

impl Segment {
    /// The normalized text of a node, without its subsections.
    pub fn text_of(&self, node: &NodeEntry) -> &str {
        self.text.get(node.text.start as usize..node.text.end as usize).unwrap_or_default()
    }

    /// The file that contains a node.
    pub fn file_of(&self, node: &NodeEntry) -> Option<&FileEntry> {
        self.files.get(node.file as usize)
    }

    /// The node with this index.
    pub fn node(&self, index: u32) -> Option<&NodeEntry> {
        self.nodes.get(index as usize)
    }

    /// The nodes of a file from an index on, with their indexes.
    pub fn nodes_from(&self, file: &FileEntry, first: u32) -> impl Iterator<Item = (u32, &NodeEntry)> {
        let first = first.max(file.nodes.start);
        let nodes = self.nodes.get(first as usize..file.nodes.end as usize).unwrap_or_default();
        (first..).zip(nodes)
    }

    /// The nodes of a file, with their indexes.
    pub fn nodes_of(&self, file: &FileEntry) -> impl Iterator<Item = (u32, &NodeEntry)> {
        let nodes = self.nodes.get(file.nodes.start as usize..file.nodes.end as usize).unwrap_or_default();
        (file.nodes.start..).zip(nodes)
    }

    /// The original line of a byte of the normalized text of a node.
    pub fn line_at(&self, node: &NodeEntry, byte: usize) -> u32 {
        let breaks = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let before = self.text_of(node).get(..byte).unwrap_or_default();
        let row_lines = self.file_of(node).filter(|file| !file.row_lines.is_empty());
        let Some(file) = row_lines else {
            return node.start_line.saturating_add(u32::try_from(breaks(before)).unwrap_or(u32::MAX));
        };
        let first = self.node(file.nodes.start).map_or(node.text.start, |first| first.text.start);
        let above = self.text.get(first as usize..node.text.start as usize).unwrap_or_default();
        file.row_lines.get(breaks(above) + breaks(before)).copied().unwrap_or(node.start_line)
    }

    /// The size of the normalized text of a file.
    pub fn bytes_of(&self, file: &FileEntry) -> u64 {
        self.nodes_of(file).map(|(_, node)| u64::from(node.text.end - node.text.start)).sum()
    }

    /// The sum of the lengths of its nodes, for the average of BM25.
    pub const fn total_length(&self) -> u64 {
        self.length
    }

    /// Computes the sum of the lengths, and the number of sections of each file, after all nodes were added.
    pub(super) fn with_total_length(mut self) -> Self {
        self.length = self.nodes.iter().map(|node| u64::from(node.length)).sum();
        for file in &mut self.files {
            let nodes =
                self.nodes.get(file.nodes.start as usize..file.nodes.end as usize).unwrap_or_default();
            let sections = nodes.iter().filter(|node| !node.is_continuation).count();
            file.sections = u32::try_from(sections).unwrap_or(u32::MAX);
        }
        self
    }

    /// The number of nodes that contain a key (its document frequency).
    pub fn count(&self, key: Key) -> usize {
        let Ok(place) = self.keys.binary_search(&key) else { return 0 };
        read_varint(&mut self.list(place)) as usize
    }

    /// The postings of a key, in the order of nodes.
    pub fn find(&self, key: Key) -> Postings<'_> {
        match self.keys.binary_search(&key) {
            Ok(place) => self.postings_at(place),
            Err(_) => Postings { bytes: &[], left: 0, node: 0 },
        }
    }

    /// The postings of all keys in a range, key by key.
    pub fn find_all(&self, keys: Range<Key>) -> impl Iterator<Item = Posting> {
        let first = self.keys.partition_point(|key| *key < keys.start);
        let end = self.keys.partition_point(|key| *key < keys.end);
        (first..end).flat_map(|place| self.postings_at(place))
    }

    /// The number of postings that the list at a place says it has.
    pub(super) fn declared_count(&self, place: usize) -> usize {
        read_varint(&mut self.list(place)) as usize
    }

    fn postings_at(&self, place: usize) -> Postings<'_> {
        let mut bytes = self.list(place);
        let left = read_varint(&mut bytes);
        Postings { bytes, left, node: 0 }
    }

    fn list(&self, place: usize) -> &[u8] {
        let start = self.starts.get(place).copied().unwrap_or_default() as usize;
        let end = self.starts.get(place + 1).copied().unwrap_or_default() as usize;
        self.postings.get(start..end).unwrap_or_default()
    }

    /// A file as it was parsed, to be built into another segment.
    pub fn doc(&self, file: &FileEntry) -> ParsedFile {
        let first = self.node(file.nodes.start).map_or(0, |node| node.text.start);
        let last = file.nodes.end.checked_sub(1).and_then(|last| self.node(last));
        let end = last.map_or(first, |node| node.text.end);
        let nodes = self.nodes_of(file).map(|(_, entry)| NodeEntry {
            file: 0,
            length: 0,
            parent: entry.parent.map(|parent| parent - file.nodes.start),
            text: entry.text.start - first..entry.text.end - first,
            ..entry.clone()
        });
        ParsedFile {
            nodes: nodes.collect(),
            text: self.text.get(first as usize..end as usize).unwrap_or_default().to_owned(),
            entry: FileEntry { nodes: 0..0, sections: 0, ..file.clone() },
        }
    }
}

/// An iterator over the postings of one key.
#[derive(Debug, Clone)]
pub struct Postings<'a> {
    bytes: &'a [u8],
    left: u32,
    node: u32,
}

impl Iterator for Postings<'_> {
    type Item = Posting;

    fn next(&mut self) -> Option<Posting> {
        self.left = self.left.checked_sub(1)?;
        let head = read_varint(&mut self.bytes);
        self.node = self.node.wrapping_add(head >> 3);
        let mut count = |bit: u32, usual: u32| match head & bit {
            0 => usual,
            _ => read_varint(&mut self.bytes),
        };
        // The most common posting, one occurrence in the body alone, is encoded by its header only.
        let (body, title, path) = (count(1, 1), count(2, 0), count(4, 0));
        Some(Posting { node: self.node, body, title, path })
    }
}

/// Appends a posting. The node is stored as the difference to `last`, the node of the posting before.
pub(super) fn write_posting(out: &mut Vec<u8>, posting: Posting, last: u32) {
    let bit = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
    let bits = bit(posting.body != 1, 1) | bit(posting.title > 0, 2) | bit(posting.path > 0, 4);
    write_varint(out, ((posting.node - last) << 3) | bits);
    for (count, usual) in [(posting.body, 1), (posting.title, 0), (posting.path, 0)] {
        if count != usual {
            write_varint(out, count);
        }
    }
}

/// Appends a variable-length integer (LEB128): seven bits per byte, the lowest first.
pub(super) fn write_varint(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a variable-length integer from the front of a slice.
fn read_varint(bytes: &mut &[u8]) -> u32 {
    let (mut number, mut shift) = (0, 0);
    while let Some((byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= u32::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 || shift > 28 {
            break;
        }
    }
    number
}
