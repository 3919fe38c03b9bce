//! Pages of lists, within the limits of a reply.

mod keys;
mod pager;
mod skipped_files;

pub(crate) use keys::{FileKey, LineKey};
pub(crate) use pager::{Page, Pager, fitting};
pub(crate) use skipped_files::{SkippedFile, SkippedFiles};
