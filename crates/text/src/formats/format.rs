//! What a file format is.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::document::Document;
use crate::sections::Node;

/// How the text of a format is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Structure {
    /// Into sections, by headings.
    Headings,
    /// Into values, which JSON Pointers name.
    Values,
    /// Into paragraphs, each with the heading above it.
    Paragraphs,
    /// Not at all.
    Text,
}

/// Why a pointer has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PointerError {
    /// The text is not a JSON Pointer.
    NotAPointer,
    /// The file is not valid; what the parser says.
    Invalid(String),
    /// There is no such value; the longest part of the pointer that exists.
    NotFound(String),
}

/// A file format.
pub trait Format: Sync {
    /// The name that results show as the type of a file.
    fn name(&self) -> &'static str;

    /// The extensions of its files, in lower case and without a dot.
    fn extensions(&self) -> &'static [&'static str];

    /// Parses a file. `name` is what its page is called where nothing in it says so.
    fn parse(&self, original: String, name: &str) -> Document;

    /// How its text is divided.
    fn structure(&self) -> Structure {
        Structure::Headings
    }

    /// The media type of the text that reading a file returns, which may be reduced.
    fn media_type(&self) -> &'static str {
        "text/plain"
    }

    /// Whether its files in the vault, of which every line is shown, are read as Markdown with tags.
    fn has_tags(&self) -> bool {
        false
    }

    /// Whether it has sections, and sites are made from its files, so that a link names a file and not a page of the site.
    fn is_source_of_pages(&self) -> bool {
        self.structure() == Structure::Headings
    }

    /// The nodes that the index ranks: the sections, unless there is something smaller to read on its own.
    fn ranked_nodes<'a>(&self, document: &'a Document) -> Cow<'a, [Node]> {
        Cow::Borrowed(&document.nodes)
    }

    /// A line as it is searched, given the line as a reader sees it.
    fn searched_line<'a>(&self, line: Cow<'a, str>) -> Cow<'a, str> {
        line
    }

    /// The bytes of the value that a JSON Pointer names.
    fn value_at(&self, _document: &Document, _pointer: &str) -> Result<Range<usize>, PointerError> {
        Err(PointerError::NotFound(String::new()))
    }
}
