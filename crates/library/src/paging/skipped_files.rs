//! The files that a list or a search left out, of which a reply names the first ones.

use annai_core::ToolError;
use schemars::JsonSchema;
use serde::Serialize;

use super::pager::fitting;

/// The maximum number of skipped files that are named; all of them are counted.
const MAX_NAMED_SKIPS: usize = 20;
/// The maximum size of their names and reasons, because the items of the list may fill the reply; further files are only
/// counted.
const MAX_NAMED_CHARS: usize = 2000;

/// A file that a list or a search left out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub(crate) struct SkippedFile {
    /// The file's path, relative to its manual or to the vault.
    pub(crate) path: String,
    /// Why it was left out.
    pub(crate) reason: String,
}

/// The files that a list or a search left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SkippedFiles {
    /// The first of them, by path.
    named: Vec<SkippedFile>,
    pub(crate) count: usize,
}

impl SkippedFiles {
    /// Files that are counted and not named.
    pub(crate) const fn unnamed(count: usize) -> Self {
        Self { named: Vec::new(), count }
    }

    pub(crate) fn add(&mut self, path: &str, error: &ToolError) {
        let reason = error.message();
        self.name(path, reason.strip_prefix(path).unwrap_or(reason).trim_start());
    }

    pub(crate) fn name(&mut self, path: &str, reason: &str) {
        self.count += 1;
        let skipped = SkippedFile { path: path.to_owned(), reason: reason.to_owned() };
        let place = self.named.partition_point(|known| *known < skipped);
        if place < MAX_NAMED_SKIPS {
            self.named.insert(place, skipped);
            self.named.truncate(MAX_NAMED_SKIPS);
        }
    }

    /// The files to name in a reply.
    pub(crate) fn into_named(self) -> Vec<SkippedFile> {
        fitting(self.named, MAX_NAMED_CHARS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use annai_files::LibraryError;

    #[test]
    fn the_first_skipped_files_are_named_and_all_are_counted() {
        let mut skipped = SkippedFiles::default();
        for number in (0..30).rev() {
            let path = format!("{number:02}.md");
            let error = LibraryError::forbidden(path.as_str(), "is not UTF-8 text").into();
            skipped.add(&path, &error);
        }
        assert_eq!((skipped.count, skipped.named.len()), (30, MAX_NAMED_SKIPS));
        assert_eq!(
            skipped.named[19],
            SkippedFile { path: "19.md".into(), reason: "is not UTF-8 text".into() }
        );
    }
}
