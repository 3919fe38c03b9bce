//! The ways to split a file into nodes.

use serde::{Deserialize, Serialize};

/// How a file is split into nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shape {
    /// At its headings.
    Markdown,
    /// Not at all: the file is one node.
    Json,
    /// At its paragraphs.
    Paragraphs,
    /// Not at all: the file is one node of plain text.
    Text,
    /// At its headings, after it is reduced to text.
    Html,
}
