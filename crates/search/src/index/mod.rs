//! The inverted index: postings of character pairs and words for every node of a folder, cached on disk and refreshed
//! when files change.

mod build;
mod cache;
mod catalog;
mod codec;
mod collection;
mod doc;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod number_list;
mod paragraphs;
mod passages;
mod segment;
mod segment_plan;
mod shape;
mod source;
mod stem;
mod tokens;

pub use catalog::IndexCatalog;
pub use collection::{CollectionSource, View};
pub use doc::has_markup;
pub use segment::{FileEntry, NodeEntry, Posting, Segment};
pub use shape::Shape;
pub use stem::stem;
pub use tokens::{Class, Key, all_of, class, exact, label, pair_of, tokens, word};
