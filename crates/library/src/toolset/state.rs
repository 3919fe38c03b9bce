//! The state that the tools share.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};

use annai_core::{Principal, ToolError};
use serde::Serialize;

use crate::config::LibrarySection;
use crate::coverage::{CoveredFile, ScanStore};
use crate::find_statistics::FindStatistics;
use crate::paging::Pager;
use crate::reading::{ReadPart, ReadScope};
use crate::resources::LibraryFiles;
use annai_files::manuals::Manuals;
use annai_files::vault::Vault;
use annai_search::index::IndexCatalog;
use annai_search::reference::Ref;
use annai_search::{DictionaryCache, FindContext, ReadLedger, TraceRecord, TraceStore};
use annai_text::{Format, Structure, format_of};

/// The state that the tools share with the threads that do their work.
pub(crate) struct LibraryState {
    pub(crate) settings: LibrarySection,
    pub(crate) manuals: Manuals,
    pub(crate) vault: Vault,
    pub(crate) scans: ScanStore,
    pub(crate) traces: TraceStore,
    pub(crate) ledger: ReadLedger,
    pub(crate) dictionaries: DictionaryCache,
    pub(crate) find_statistics: FindStatistics,
    pub(crate) indexes: IndexCatalog,
}

impl LibraryState {
    pub(crate) fn new(settings: &LibrarySection) -> Self {
        Self {
            manuals: Manuals::new(settings.manual_folders()),
            vault: settings.vault(),
            scans: ScanStore::default(),
            traces: TraceStore::new(settings.trace_max_keep, Duration::from_secs(settings.trace_ttl_sec)),
            ledger: ReadLedger::new(Duration::from_secs(settings.trace_ttl_sec)),
            dictionaries: DictionaryCache::default(),
            find_statistics: FindStatistics::new(settings),
            indexes: IndexCatalog::new(settings.cache_dir.as_ref().map(PathBuf::from)),
            settings: settings.clone(),
        }
    }

    /// The parts of the state that finds need.
    pub(crate) fn find_context(&self) -> FindContext<'_> {
        FindContext {
            manuals: &self.manuals,
            vault: &self.vault,
            indexes: &self.indexes,
            dictionaries: &self.dictionaries,
            traces: &self.traces,
            ledger: &self.ledger,
            thresholds: self.find_statistics.thresholds(),
            default_manual_id: self.settings.default_manual_id.as_deref(),
        }
    }

    /// A page of a list within the limits of a reply, for the arguments of a call.
    pub(crate) fn pager<K: Ord + Display + FromStr, T: Serialize>(
        &self,
        list: &[&str],
        cursor: Option<&str>,
        limit: Option<usize>,
    ) -> Result<Pager<K, T>, ToolError> {
        Pager::new(list, cursor, limit, self.settings.hard_max_chars)
    }

    pub(crate) const fn covered_file<'a>(
        &self,
        manual_id: Option<&'a str>,
        path: &'a str,
        total_lines: u64,
    ) -> CoveredFile<'a> {
        let max_chunk_lines = self.settings.vault_scan_max_chunk_lines;
        CoveredFile { manual_id, path, total_lines, max_chunk_lines }
    }

    pub(crate) const fn files(&self) -> LibraryFiles<'_> {
        LibraryFiles { manuals: &self.manuals, vault: &self.vault, settings: &self.settings }
    }

    /// Records that a part of a manual was read, for the statistics of the find that returned it.
    pub(crate) fn record_use(&self, owner: &Principal, place: &Ref, part: &ReadPart) {
        let Ok(manual_id) = place.manual_id() else { return };
        let has_searched = |trace: &TraceRecord| trace.has_searched(Some(manual_id), &part.path);
        if let Some((trace_id, trace)) = self.traces.newest(owner, has_searched, Instant::now()) {
            // A JSON file counts as one section.
            let has_values = |format: &dyn Format| format.structure() == Structure::Values;
            let is_whole = part.scope == ReadScope::File || format_of(&part.path).is_some_and(has_values);
            let found = trace.matches.iter().find(|found| {
                let file = trace.file_of(found).map(|file| (file.manual_id.as_deref(), file.path.as_str()));
                file == Some((Some(manual_id), part.path.as_str()))
                    && (is_whole || found.span.start.line as usize == part.node_line)
            });
            self.find_statistics.record_use(&trace_id, found);
        }
    }
}
