//! What the index has of a file and of its nodes.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::number_list;
use annai_files::fs::Sha256;
use annai_text::{Encoding, NodeKind, Structure};

/// A file in a segment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileEntry {
    /// The stored path.
    pub path: String,
    /// The title of the page: that of its front matter, else its first heading of level 1, else its name.
    pub title: String,
    /// How it is divided into nodes.
    pub structure: Structure,
    /// The SHA-256 of the file.
    pub sha256: Sha256,
    /// Whether the content is valid for the format; invalid JSON is not.
    pub sound: bool,
    /// The indexes of its nodes.
    pub nodes: Range<u32>,
    /// The number of its sections: the nodes without the later passages of long sections.
    #[serde(skip)]
    pub sections: u32,
    /// The encoding of the file.
    pub encoding: Encoding,
    /// The original line on which each line of the normalized text began, for a reduced text such as that of HTML;
    /// otherwise empty, because they are the same lines.
    #[serde(with = "number_list")]
    pub row_lines: Vec<u32>,
}

/// A node in a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeEntry {
    /// The index of its file.
    pub file: u32,
    /// The text of the heading without markup.
    pub title: String,
    /// What it is.
    pub kind: NodeKind,
    /// The id of the heading that is not part of its title, by which links name it.
    pub anchor: Option<Box<str>>,
    /// The level of the heading, from 1 to 6.
    pub level: u8,
    /// How many of its first lines belong to the heading.
    pub heading_lines: u32,
    /// The line of the heading, counted from 1.
    pub start_line: u32,
    /// How many characters of that line come before the node: in HTML, and in passages of long lines.
    pub start_char: u32,
    /// The last line of the section, including its subsections.
    pub end_line: u32,
    /// The last line before the next heading.
    pub own_end_line: u32,
    /// The index of the enclosing node.
    pub parent: Option<u32>,
    /// The bytes of its own lines in the text of the segment.
    pub text: Range<u32>,
    /// The size of its own text in the file, with markup.
    pub bytes: u32,
    /// The length of its body in keys, for BM25.
    pub length: u32,
    /// The targets of its links, as written.
    pub links: Vec<String>,
    /// Whether it is a passage of a long section, after the first one. Its parent is the first passage.
    pub is_continuation: bool,
    /// The JSON Pointer of its value, in a JSON file.
    pub json_path: Option<Box<str>>,
}

/// A file that is ready to be indexed.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedFile {
    /// The file, without what depends on the other files of a segment.
    pub entry: FileEntry,
    /// The normalized text, with one line for each line of the text that is read.
    pub text: String,
    /// The nodes, in order. What they refer to is counted from the start of the file.
    pub nodes: Vec<NodeEntry>,
}

/// An index or a count as a segment stores it.
pub fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
