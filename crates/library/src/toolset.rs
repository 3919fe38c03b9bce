//! What the library's tools share.

use std::collections::HashMap;
use std::sync::Arc;

use annai_core::{ToolError, Toolset};
use tokio::sync::Semaphore;

use crate::config;
use crate::fs::{Kind, RelPath, fold_name};
use crate::manuals::Manuals;
use crate::scans::Scans;
use crate::vault::{Vault, is_open};

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

    async fn complete(&self, argument: &str, typed: &str, given: &HashMap<String, String>) -> Vec<String> {
        let (argument, typed) = (argument.to_owned(), typed.to_owned());
        let manual = given.get("manual_id").cloned();
        let offered = self.read(move |shelves| offer(shelves, &argument, &typed, manual.as_deref()));
        offered.await.unwrap_or_default()
    }
}

/// Manuals and paths that begin with what was typed.
fn offer(
    shelves: &Shelves,
    argument: &str,
    typed: &str,
    manual: Option<&str>,
) -> Result<Vec<String>, ToolError> {
    let mut offered: Vec<String> = match (argument, manual) {
        ("manual_id", _) => shelves.manuals.all()?.into_iter().map(|manual| manual.id).collect(),
        ("path" | "from_path", Some(manual)) => shelves.manuals.get(manual)?.files()?,
        ("path" | "to_path" | "relative_dir", _) => {
            // One level of the vault: the folder that is typed out, and what it holds.
            let folder = typed
                .rsplit_once('/')
                .map(|(folder, _)| RelPath::parse_folder(folder))
                .transpose()?
                .flatten();
            let folder = shelves.vault.root()?.folder(folder.as_ref())?;
            let named = folder.entries()?.into_iter().map(|entry| {
                let ending = if entry.kind == Kind::Folder { "/" } else { "" };
                format!("{}{ending}", folder.join(&entry.name))
            });
            named.filter(|path| is_open(path)).collect()
        }
        _ => Vec::new(),
    };
    let typed = fold_name(typed);
    offered.retain(|value| fold_name(value).starts_with(&typed));
    Ok(offered)
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
