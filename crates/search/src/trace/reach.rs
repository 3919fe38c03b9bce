//! Which files of the manuals a find searched, so that a later read is credited to the right find.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The files that a find searched.
#[derive(Debug, Clone, Default)]
pub struct FindReach {
    /// The manuals.
    pub manuals: HashSet<String>,
    /// The hashes of the only files of them that it searched; `None` for all.
    pub only: Option<HashSet<u64>>,
    /// The hashes of the files of them that it did not search.
    pub except: HashSet<u64>,
}

impl FindReach {
    /// Whether the find searched a file.
    pub fn has(&self, manual_id: &str, path: &str) -> bool {
        let file = file_hash(manual_id, path);
        self.manuals.contains(manual_id)
            && self.only.as_ref().is_none_or(|only| only.contains(&file))
            && !self.except.contains(&file)
    }

    /// The approximate memory that it takes.
    pub fn estimated_bytes(&self) -> usize {
        let files = self.except.len() + self.only.as_ref().map_or(0, HashSet::len);
        files * 16 + self.manuals.iter().map(|id| id.len() + 40).sum::<usize>()
    }
}

/// A hash of a file. It stays in this process, so a fast one suffices.
pub fn file_hash(manual_id: &str, path: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (manual_id, path).hash(&mut hasher);
    hasher.finish()
}
