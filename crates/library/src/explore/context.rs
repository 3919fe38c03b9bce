//! What the finds need from the toolset.

use std::sync::Arc;
use std::time::Instant;

use annai_core::{ErrorKind, ToolError};

use super::dictionary::DictionaryCache;
use super::trace_store::TraceStore;
use crate::adaptive::Adaptive;
use crate::cancellation::Cancellation;
use crate::index::{CollectionSource, IndexCatalog, Shape, View};
use crate::manuals::{FileType, Manuals, is_part};
use crate::vault::{Vault, is_visible};

/// What the finds need from the toolset.
#[derive(Clone, Copy)]
pub struct ExploreContext<'a> {
    /// The manuals.
    pub manuals: &'a Manuals,
    /// The vault.
    pub vault: &'a Vault,
    /// The indexes of both.
    pub indexes: &'a IndexCatalog,
    /// The synonyms and the exception vocabulary.
    pub dictionaries: &'a DictionaryCache,
    /// The traces of earlier finds.
    pub traces: &'a TraceStore,
    /// The thresholds that adapt to use.
    pub adaptive: &'a Adaptive,
    /// The manual that a find searches first where the caller names none; none for all of them.
    pub default_manual_id: Option<&'a str>,
}

impl ExploreContext<'_> {
    /// The index of the vault as its files are now, or as much of it as is ready by the deadline.
    pub fn vault_view(&self, deadline: Instant, cancellation: &Cancellation) -> Result<View, ToolError> {
        let source = || CollectionSource {
            name: String::new(),
            enter: |path, _| is_visible(path),
            shape: |_| Shape::Paragraphs,
        };
        let root = self.vault.root()?;
        self.indexes.collection("vault", source).view(root, deadline, cancellation)
    }

    /// The indexes of these manuals as their files are now, or as much of them as is ready by the deadline, and the
    /// number of manuals that cannot be opened.
    pub fn manual_views(
        &self,
        ids: &[String],
        deadline: Instant,
        cancellation: &Cancellation,
    ) -> Result<(Vec<View>, usize), ToolError> {
        let (mut views, mut unopened) = (Vec::with_capacity(ids.len()), 0);
        for id in ids {
            match self.manual_view(id, deadline, cancellation) {
                Ok(view) => views.push(view),
                Err(error) if error.kind() == ErrorKind::Cancelled || ids.len() == 1 => return Err(error),
                // One manual that is gone or cannot be opened must not make the find fail for the others.
                Err(_) => unopened += 1,
            }
        }
        Ok((views, unopened))
    }

    fn manual_view(
        &self,
        id: &str,
        deadline: Instant,
        cancellation: &Cancellation,
    ) -> Result<View, ToolError> {
        let manual = self.manuals.get(id)?;
        let source = || CollectionSource {
            name: id.to_owned(),
            enter: is_part,
            shape: |path| match FileType::of(path) {
                Some(FileType::Json) => Shape::Json,
                _ => Shape::Markdown,
            },
        };
        let collection = self.indexes.collection(&format!("manual/{id}"), source);
        collection.view(Arc::new(manual.into_root()), deadline, cancellation)
    }
}
