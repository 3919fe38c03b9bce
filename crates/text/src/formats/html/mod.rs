//! HTML.

mod elements;
mod feeder;
mod finish;
mod reducer;
mod rows;

pub use self::elements::separates_words;

use self::reducer::reduce;
use super::format::Format;
use crate::document::Document;

/// HTML. A file is reduced to headings and rows of text; its lines are those of the original.
pub struct Html;

impl Format for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["html", "htm"]
    }

    fn has_tags(&self) -> bool {
        true
    }

    fn is_source_of_pages(&self) -> bool {
        false
    }

    fn parse(&self, original: String, name: &str) -> Document {
        reduce(&original, name)
    }
}
