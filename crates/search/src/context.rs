//! What the finds need from the toolset.

use std::sync::Arc;
use std::time::Instant;

use annai_core::{ErrorKind, ToolError};
use serde::{Deserialize, Serialize};

use crate::index::{CollectionSource, IndexCatalog, NodeEntry, Segment, View};
use crate::query::dictionary::DictionaryCache;
use crate::trace::read_ledger::ReadLedger;
use crate::trace::trace_store::TraceStore;
use crate::trace::{TraceMatch, TraceRecord};
use annai_core::cancellation::Cancellation;
use annai_files::manuals::{Manual, Manuals, membership};
use annai_files::vault::{Vault, visibility};
use annai_text::{Plain, format_of, note_format_of};

/// The two thresholds of widening, which are tuned.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Thresholds {
    /// With fewer candidates, the find is widened to all manuals.
    #[serde(rename = "candidate_low_threshold")]
    pub candidate_low: usize,
    /// When one file has at least this share of the candidates, the find is widened to all manuals.
    #[serde(rename = "file_bias_threshold")]
    pub file_bias: f64,
}

/// What the finds need from the toolset.
#[derive(Clone, Copy)]
pub struct FindContext<'a> {
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
    /// What was handed out for them.
    pub ledger: &'a ReadLedger,
    /// When a find is widened to the other manuals.
    pub thresholds: Thresholds,
    /// The manual that a find searches first where the caller names none; none for all of them.
    pub default_manual_id: Option<&'a str>,
}

impl FindContext<'_> {
    /// The index of the vault as its files are now, or as much of it as is ready by the deadline.
    pub fn vault_view(&self, deadline: Instant, cancellation: &Cancellation) -> Result<View, ToolError> {
        let source = || CollectionSource {
            name: String::new(),
            enter: |path, _| visibility(path),
            format: note_format_of,
        };
        let root = self.vault.root()?;
        self.indexes.collection(VAULT_COLLECTION, source).view(root, deadline, cancellation)
    }

    /// The indexes of these manuals as their files are now, or as much of them as is ready by the deadline, and the
    /// number of manuals that cannot be opened.
    pub fn manual_views(
        &self,
        ids: &[String],
        deadline: Instant,
        cancellation: &Cancellation,
    ) -> Result<(Vec<View>, usize), ToolError> {
        self.indexes.remove_orphaned_caches();
        let (mut views, mut unopened) = (Vec::with_capacity(ids.len()), 0);
        for (id, manual) in ids.iter().zip(self.manuals.get_all(ids)?) {
            match manual.and_then(|manual| self.manual_view(id, manual, deadline, cancellation)) {
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
        manual: Manual,
        deadline: Instant,
        cancellation: &Cancellation,
    ) -> Result<View, ToolError> {
        let source = || CollectionSource {
            name: id.to_owned(),
            enter: membership,
            format: |path| format_of(path).unwrap_or(&Plain),
        };
        let collection = self.indexes.collection(&manual_collection(id), source);
        collection.view(Arc::new(manual.into_root()), deadline, cancellation)
    }

    /// The node of a match, with its segment, while the index has the version of the file that was searched.
    pub fn indexed_node(&self, record: &TraceRecord, found: &TraceMatch) -> Option<(Arc<Segment>, u32)> {
        let file = record.file_of(found)?;
        let name = file.manual_id.as_deref().map_or_else(|| VAULT_COLLECTION.to_owned(), manual_collection);
        let (segment, number) = self.indexes.known(&name)?.indexed(&file.path, &file.sha256)?;
        let start = found.span.start;
        let is_same = |node: &NodeEntry| (node.start_line, node.start_char) == (start.line, start.char);
        let (index, _) =
            segment.nodes_of(segment.files.get(number as usize)?).find(|(_, node)| is_same(node))?;
        Some((segment, index))
    }
}

/// The collection of the vault.
const VAULT_COLLECTION: &str = "vault";

/// The collection of a manual.
fn manual_collection(id: &str) -> String {
    format!("manual/{id}")
}
