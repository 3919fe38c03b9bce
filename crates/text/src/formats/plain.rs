//! Plain text. It has no headings, so a file is one node.

use super::format::{Format, Structure};
use crate::document::Document;

/// Plain text.
pub struct Plain;

impl Format for Plain {
    fn name(&self) -> &'static str {
        "txt"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["txt"]
    }

    fn structure(&self) -> Structure {
        Structure::Text
    }

    fn parse(&self, original: String, name: &str) -> Document {
        Document::whole(original, name)
    }
}
