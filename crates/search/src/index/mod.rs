//! The inverted index: postings of character pairs and words for every node of a folder, cached on disk and refreshed
//! when files change.

mod build;
mod cache;
mod catalog;
mod codec;
mod collection;
mod doc;
mod entries;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod number_list;
mod passages;
mod segment;
mod segment_plan;
mod stem;
mod tokens;

pub use catalog::IndexCatalog;
pub use collection::{CollectionSource, View};
pub use entries::{FileEntry, NodeEntry};
pub use segment::{Posting, Segment};
pub use stem::stem;
pub use tokens::{Class, Key, all_of, class, exact, label, pair_of, tokens, word};
