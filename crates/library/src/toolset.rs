//! What the library's tools share.

use std::sync::Arc;

use annai_core::{ToolError, Toolset};
use tokio::sync::Semaphore;

use crate::config;
use crate::manuals::Manuals;
use crate::scans::Scans;
use crate::vault::Vault;

/// The family `library`.
pub struct Library {
    pub(crate) shelves: Arc<Shelves>,
    /// Writers wait here rather than on threads.
    writing: Semaphore,
}

/// Everything that work on a thread of its own needs.
pub(crate) struct Shelves {
    pub settings: config::Library,
    pub manuals: Manuals,
    pub vault: Vault,
    pub scans: Scans,
}

impl Toolset for Library {
    const NAME: &'static str = "library";
    type Config = config::Library;

    async fn open(config: &config::Library) -> Result<Self, ToolError> {
        let shelves = Shelves {
            manuals: Manuals::new(config.manual_folders()),
            vault: Vault::new(config.vault_folder()),
            scans: Scans::default(),
            settings: config.clone(),
        };
        Ok(Self { shelves: Arc::new(shelves), writing: Semaphore::new(1) })
    }
}

impl Library {
    /// Runs work that reads the disk on a thread where it may wait.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shelves) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let shelves = self.shelves.clone();
        let done = tokio::task::spawn_blocking(move || work(&shelves)).await;
        done.unwrap_or_else(|_| Err(ToolError::internal("the work on the disk panicked")))
    }

    /// The same for work that writes: one at a time.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shelves) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let _turn = self.writing.acquire().await.map_err(ToolError::internal)?;
        self.read(work).await
    }
}
