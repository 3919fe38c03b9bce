//! The indexes of all collections, created on first use.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::collection::{Collection, CollectionSource, IndexingProgress};

/// The indexes of all collections, by name.
pub struct IndexCatalog {
    /// The folder of the disk cache; `None` keeps segments in memory only.
    cache_dir: Option<PathBuf>,
    progress: Arc<IndexingProgress>,
    collections: Mutex<HashMap<String, Arc<Collection>>>,
}

impl IndexCatalog {
    /// A catalog without collections.
    pub fn new(cache_dir: Option<PathBuf>) -> Self {
        Self { cache_dir, progress: Arc::default(), collections: Mutex::default() }
    }

    /// Removes the disk caches of folders that no longer exist.
    pub fn remove_orphaned_caches(&self) {
        if let Some(folder) = &self.cache_dir {
            annai_files::fs::remove_orphaned_caches(folder);
        }
    }

    /// The progress of indexing in all collections together.
    pub fn progress(&self) -> &IndexingProgress {
        &self.progress
    }

    /// The collection with this name, if it was used before.
    pub fn known(&self, name: &str) -> Option<Arc<Collection>> {
        self.collections.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// The collection with this name, which is created from its source on first use.
    pub fn collection(&self, name: &str, source: impl FnOnce() -> CollectionSource) -> Arc<Collection> {
        let mut collections = self.collections.lock().unwrap_or_else(PoisonError::into_inner);
        let create = || Arc::new(Collection::new(source(), self.cache_dir.clone(), self.progress.clone()));
        collections.entry(name.to_owned()).or_insert_with(create).clone()
    }
}
