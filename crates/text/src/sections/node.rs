//! A section of a file.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::lines::Position;

/// What a node is, and where its title comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeKind {
    /// A heading.
    #[default]
    Heading,
    /// A heading that is only the number of a page; the title is the first line of text below it.
    PageBreak,
    /// The beginning of a page whose title stands in its front matter instead of a heading of level 1. All other sections
    /// belong to it.
    Page,
    /// Text without a heading: before the first one, or a whole file.
    Untitled,
}

impl NodeKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Heading, Self::PageBreak, Self::Page, Self::Untitled];
}

/// A heading and its section, which ends before the next heading of the same or a higher level.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node {
    /// The text of the heading without markup.
    pub title: String,
    /// The level of the heading, from 1 to 6.
    pub level: u8,
    /// The line of the heading, counted from 1.
    pub start_line: usize,
    /// How many characters of that line come before the heading. It is 0 except in HTML, where several headings may stand
    /// on one line.
    pub start_char: usize,
    /// The last line of the section, including its subsections.
    pub end_line: usize,
    /// The last line before the next heading of any level.
    pub own_end_line: usize,
    /// The index of the enclosing node.
    pub parent: Option<usize>,
    /// What it is.
    pub kind: NodeKind,
    /// The id of the heading that is not part of its title, by which links name it.
    pub anchor: Option<Box<str>>,
    /// How many of its first lines belong to the heading.
    pub heading_lines: usize,
    /// The bytes of its own text, which ends before the next heading of any level.
    pub own: Range<usize>,
    /// The JSON Pointer of its value, in a file of values.
    pub json_path: Option<Box<str>>,
    /// The links in its own text, without URLs.
    pub links: Vec<Link>,
}

/// A link to another file, or to a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The byte of the text at which it stands, so that it can be told which part of a long section has it.
    pub at: usize,
    /// Its target, as written.
    pub target: String,
}

impl Link {
    /// The maximum number of links of one section. A page with more is a list of links, which says little about any of
    /// them; the rest is not followed.
    pub const MAX_COUNT: usize = 2000;
    /// The maximum length of a target. A longer one is usually embedded data; it is ignored.
    pub const MAX_BYTES: usize = 500;
}

impl Node {
    /// Where it begins.
    pub fn start(&self) -> Position {
        Position::new(self.start_line, self.start_char)
    }

    /// The id of the node: the path of its file and its line, and its character where several headings stand on one line.
    pub fn id(&self, path: &str) -> String {
        node_id(path, self.start_line, self.start_char)
    }
}

/// The id of the node that begins at a place.
pub fn node_id(path: &str, line: usize, char: usize) -> String {
    if char == 0 { format!("{path}#L{line}") } else { format!("{path}#L{line}.{char}") }
}
