//! The indexes of all collections, made when they are first asked for.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::collection::{Collection, CollectionSource, IndexingProgress};

/// The indexes, by the names of their collections.
pub struct IndexCatalog {
    /// Where segments are kept on disk; none keeps them in memory only.
    cache_dir: Option<PathBuf>,
    progress: Arc<IndexingProgress>,
    collections: Mutex<HashMap<String, Arc<Collection>>>,
}

impl IndexCatalog {
    /// A catalogue without any collection yet.
    pub fn new(cache_dir: Option<PathBuf>) -> Self {
        Self { cache_dir, progress: Arc::default(), collections: Mutex::default() }
    }

    /// How far the reading of files is, in all collections together.
    pub fn progress(&self) -> &IndexingProgress {
        &self.progress
    }

    /// The collection of this name, made from its source where it is not known yet.
    pub fn collection(&self, name: &str, source: impl FnOnce() -> CollectionSource) -> Arc<Collection> {
        let mut collections = self.collections.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || Arc::new(Collection::new(source(), self.cache_dir.clone(), self.progress.clone()));
        collections.entry(name.to_owned()).or_insert_with(make).clone()
    }
}
