//! A part of an index: some files, their nodes, and under which keys each node is filed. It never changes.

use std::ops::Range;

use super::doc::{Doc, Section, Shape};
use super::tokens::Key;
use crate::fs::Sha256;
use crate::text::Node;

/// A file in a segment.
#[derive(Debug, Clone, PartialEq)]
pub struct FileEntry {
    /// The stored path.
    pub path: String,
    /// How it falls into nodes.
    pub shape: Shape,
    /// The hash of its bytes.
    pub sha256: Sha256,
    /// Whether it is what its ending says.
    pub sound: bool,
    /// Its nodes.
    pub nodes: Range<u32>,
}

/// A node in a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeEntry {
    /// Its file, as an index.
    pub file: u32,
    /// The heading's text.
    pub title: String,
    /// The level of the heading, from 1 to 6.
    pub level: u8,
    /// How many of its first lines are the heading.
    pub heading_lines: u32,
    /// The heading's line, from 1.
    pub start_line: u32,
    /// The last line of its section, descendants included.
    pub end_line: u32,
    /// The last line before the next heading.
    pub own_end_line: u32,
    /// The node around it, as an index into the segment.
    pub parent: Option<u32>,
    /// Its own lines in the segment's text.
    pub text: Range<u32>,
    /// Under how many keys its body is filed.
    pub length: u32,
    /// Where its links lead.
    pub links: Vec<String>,
}

/// How often a key stands where in a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// The node, as an index into the segment.
    pub node: u32,
    /// In its own text, without the heading.
    pub body: u32,
    /// In its heading.
    pub title: u32,
    /// In the headings above it and the file's name.
    pub path: u32,
}

/// A part of an index.
#[derive(Debug, Default, PartialEq)]
pub struct Segment {
    /// Its files.
    pub files: Vec<FileEntry>,
    /// Their nodes, file by file, in order.
    pub nodes: Vec<NodeEntry>,
    /// The files' normal forms, one behind the other.
    pub(super) text: String,
    /// The keys, sorted.
    pub(super) keys: Vec<Key>,
    /// Where each key's postings begin; one more for the end.
    pub(super) starts: Vec<u32>,
    pub(super) postings: Vec<u8>,
    /// Under how many keys its nodes' bodies are filed together.
    pub(super) length: u64,
}

impl Segment {
    /// A node's own lines in normal form.
    pub fn text_of(&self, node: &NodeEntry) -> &str {
        self.text.get(node.text.start as usize..node.text.end as usize).unwrap_or_default()
    }

    /// The file that a node stands in.
    pub fn file_of(&self, node: &NodeEntry) -> Option<&FileEntry> {
        self.files.get(node.file as usize)
    }

    /// A node.
    pub fn node(&self, index: u32) -> Option<&NodeEntry> {
        self.nodes.get(index as usize)
    }

    /// The nodes of a file, with their indexes.
    pub fn nodes_of(&self, file: &FileEntry) -> impl Iterator<Item = (u32, &NodeEntry)> {
        let nodes = self.nodes.get(file.nodes.start as usize..file.nodes.end as usize).unwrap_or_default();
        (file.nodes.start..).zip(nodes)
    }

    /// How long a file's text is.
    pub fn bytes_of(&self, file: &FileEntry) -> u64 {
        self.nodes_of(file).map(|(_, node)| u64::from(node.text.end - node.text.start)).sum()
    }

    /// Under how many keys its nodes' bodies are filed together.
    pub const fn total_length(&self) -> u64 {
        self.length
    }

    /// Adds that up, once all nodes are there.
    pub(super) fn add_up(mut self) -> Self {
        self.length = self.nodes.iter().map(|node| u64::from(node.length)).sum();
        self
    }

    /// How many nodes are filed under a key.
    pub fn count(&self, key: Key) -> usize {
        let Ok(place) = self.keys.binary_search(&key) else { return 0 };
        read(&mut self.list(place)) as usize
    }

    /// The nodes that are filed under a key, in order.
    pub fn find(&self, key: Key) -> Postings<'_> {
        match self.keys.binary_search(&key) {
            Ok(place) => self.postings_at(place),
            Err(_) => Postings { bytes: &[], left: 0, node: 0 },
        }
    }

    /// The nodes that are filed under any key of a range, list by list.
    pub fn find_all(&self, keys: Range<Key>) -> impl Iterator<Item = Posting> {
        let first = self.keys.partition_point(|key| *key < keys.start);
        let end = self.keys.partition_point(|key| *key < keys.end);
        (first..end).flat_map(|place| self.postings_at(place))
    }

    fn postings_at(&self, place: usize) -> Postings<'_> {
        let mut bytes = self.list(place);
        let left = read(&mut bytes);
        Postings { bytes, left, node: 0 }
    }

    fn list(&self, place: usize) -> &[u8] {
        let start = self.starts.get(place).copied().unwrap_or_default() as usize;
        let end = self.starts.get(place + 1).copied().unwrap_or_default() as usize;
        self.postings.get(start..end).unwrap_or_default()
    }

    /// A file as it was filed, to be filed again with others.
    pub fn doc(&self, file: &FileEntry) -> Doc {
        let first = self.node(file.nodes.start).map_or(0, |node| node.text.start);
        let last = file.nodes.end.checked_sub(1).and_then(|last| self.node(last));
        let end = last.map_or(first, |node| node.text.end);
        let nodes = self.nodes_of(file).map(|(_, entry)| Section {
            node: Node {
                title: entry.title.clone(),
                level: entry.level,
                start_line: entry.start_line as usize,
                end_line: entry.end_line as usize,
                own_end_line: entry.own_end_line as usize,
                parent: entry.parent.map(|parent| (parent - file.nodes.start) as usize),
            },
            heading_lines: entry.heading_lines as usize,
            text: (entry.text.start - first) as usize..(entry.text.end - first) as usize,
            links: entry.links.clone(),
        });
        Doc {
            path: file.path.clone(),
            shape: file.shape,
            sha256: file.sha256,
            sound: file.sound,
            nodes: nodes.collect(),
            text: self.text.get(first as usize..end as usize).unwrap_or_default().to_owned(),
        }
    }
}

/// The nodes of one list.
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
        let head = read(&mut self.bytes);
        self.node = self.node.wrapping_add(head >> 3);
        let mut count = |bit: u32, usual: u32| match head & bit {
            0 => usual,
            _ => read(&mut self.bytes),
        };
        // Most often a key stands once in the body, and nowhere else.
        let (body, title, path) = (count(1, 1), count(2, 0), count(4, 0));
        Some(Posting { node: self.node, body, title, path })
    }
}

/// Adds a posting to a list; `last` is the node of the one before.
pub(super) fn write_posting(out: &mut Vec<u8>, posting: Posting, last: u32) {
    let bit = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
    let bits = bit(posting.body != 1, 1) | bit(posting.title > 0, 2) | bit(posting.path > 0, 4);
    write(out, ((posting.node - last) << 3) | bits);
    for (count, usual) in [(posting.body, 1), (posting.title, 0), (posting.path, 0)] {
        if count != usual {
            write(out, count);
        }
    }
}

/// Seven bits a byte, the lowest first.
pub(super) fn write(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn read(bytes: &mut &[u8]) -> u32 {
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
