//! The index: which nodes hold which letters and words, in memory, on disk, and in step with the files.

mod build;
mod cache;
mod catalog;
mod collection;
mod doc;
mod segment;
mod stem;
mod tokens;

pub use catalog::IndexCatalog;
pub use collection::{CollectionSource, View};
pub use doc::Shape;
pub use segment::{FileEntry, NodeEntry, Posting, Segment};
pub use tokens::{Class, Key, all_of, class, exact, label, tokens, word};
