//! The toolset: the state that its tools share, and how they run on blocking threads.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use annai_core::{
    Access, Call, Identity, Principal, Prompt, Registry, ResourcePage, ResourceTemplate, ResourceText,
    ToolError, Toolset, ToolsetState,
};
use tokio::signal::unix::SignalKind;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::adaptive::Adaptive;
use crate::config;
use crate::prompts::PROMPTS;
use crate::reading::{ReadPart, ReadScope};
use crate::resources::{self, LibraryFiles};
use crate::scans::ScanStore;
use crate::scopes::LIBRARY_READ;
use annai_core::cancellation::Cancellation;
use annai_files::fs::{EntryKind, Membership, fold_name};
use annai_files::manuals::Manuals;
use annai_files::vault::{Vault, visibility};
use annai_search::index::IndexCatalog;
use annai_search::reference::Ref;
use annai_search::{DictionaryCache, ExploreContext, ReadLedger, TraceRecord, TraceStore};
use annai_text::{Format, Structure, format_of};

/// The signal that a write beyond the maximum file size raises; it has the same number on Linux and macOS.
const SIGXFSZ: i32 = 25;
/// The minimum number of computations that run at the same time, so that a short one need not wait for a long one.
const MIN_COMPUTATIONS: usize = 2;
/// How often the progress of indexing is reported to the client.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);

/// The toolset `library`.
pub struct Library {
    pub(crate) state: Arc<LibraryState>,
    /// One permit, so that writers wait without occupying a thread.
    writer: Arc<Semaphore>,
    /// One permit for each computation that may run at the same time. Searches, finds and audits take seconds of a core, so
    /// more of them than cores would only delay each other, and what just reads a file must not wait behind them.
    computations: Arc<Semaphore>,
}

/// The state that the tools share with the threads that do their work.
pub(crate) struct LibraryState {
    pub settings: config::LibrarySection,
    pub manuals: Manuals,
    pub vault: Vault,
    pub scans: ScanStore,
    pub traces: TraceStore,
    pub ledger: ReadLedger,
    pub dictionaries: DictionaryCache,
    pub adaptive: Adaptive,
    indexes: IndexCatalog,
}

impl LibraryState {
    fn new(settings: &config::LibrarySection) -> Self {
        Self {
            manuals: Manuals::new(settings.manual_folders()),
            vault: settings.vault(),
            scans: ScanStore::default(),
            traces: TraceStore::new(settings.trace_max_keep, Duration::from_secs(settings.trace_ttl_sec)),
            ledger: ReadLedger::new(Duration::from_secs(settings.trace_ttl_sec)),
            dictionaries: DictionaryCache::default(),
            adaptive: Adaptive::new(settings),
            indexes: IndexCatalog::new(settings.cache_dir.as_ref().map(PathBuf::from)),
            settings: settings.clone(),
        }
    }

    /// The parts of the state that finds need.
    pub fn explore_context(&self) -> ExploreContext<'_> {
        ExploreContext {
            manuals: &self.manuals,
            vault: &self.vault,
            indexes: &self.indexes,
            dictionaries: &self.dictionaries,
            traces: &self.traces,
            ledger: &self.ledger,
            thresholds: self.adaptive.thresholds(),
            default_manual_id: self.settings.default_manual_id.as_deref(),
        }
    }

    /// The files, for resources.
    const fn files(&self) -> LibraryFiles<'_> {
        LibraryFiles { manuals: &self.manuals, vault: &self.vault, settings: &self.settings }
    }

    /// Records that a part of a manual was read, for the statistics of the find that returned it.
    pub fn record_use(&self, owner: &Principal, place: &Ref, part: &ReadPart) {
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
            self.adaptive.record_use(&trace_id, found);
        }
    }
}

impl Toolset for Library {
    const NAME: &'static str = "library";
    const INSTRUCTIONS: &'static [&'static str] = &[
        "To answer a question from the local manuals, call `manual_find` with the question, three phrasings and a hypothetical passage, read the best place with `manual_read`, and then follow the next_actions of each reply until the action is stop.",
        "Of `manual_find` and `vault_find`, phrasings are other ways to ask in the language and terms of the text (for 給料日: 賃金の支払日), and hypothetical is one to three sentences as the text might state the answer: they find what uses other words than the question.",
        "`manual_find` returns places, not their text: read a place before you rely on it, and cite its path and lines.",
        "`manual_hits` pages through all that a find matched, left out or found in conflict.",
        "The vault holds files that may be changed: `vault_find` finds the places that answer a question, and `vault_search` lists the lines that match a pattern.",
        "To turn a vault file into a complete artifact, read the whole file with `vault_scan`, check with `vault_coverage` that no line was missed, and check the artifact with `artifact_audit`.",
        "If it is not clear which tool fits, call `get_tooling_guide`.",
    ];
    const PROMPTS: &'static [Prompt] = PROMPTS;
    type Config = config::LibrarySection;

    async fn open(config: &config::LibrarySection) -> Result<Self, ToolError> {
        // Without a handler the signal would end the process; with one, the write fails and the error is reported.
        let _ = tokio::signal::unix::signal(SignalKind::from_raw(SIGXFSZ));
        let computations = std::thread::available_parallelism().map_or(1, usize::from).max(MIN_COMPUTATIONS);
        Ok(Self {
            state: Arc::new(LibraryState::new(config)),
            writer: Arc::new(Semaphore::new(1)),
            computations: Arc::new(Semaphore::new(computations)),
        })
    }

    async fn close(&self) {
        // A write that a cancelled call left on its thread is finished first.
        let _writer = self.writer.acquire().await;
        // What fails here only means that the statistics of the last calls are lost.
        let _ = self
            .read(|state, _| {
                state.adaptive.flush();
                Ok(())
            })
            .await;
    }

    async fn complete(
        &self,
        _: &Registry,
        identity: &Identity,
        argument: &str,
        typed: &str,
        given: &HashMap<String, String>,
    ) -> Vec<String> {
        // The names of manuals and files are shown to those who may list them all.
        if Access::Local(LIBRARY_READ).check(identity).is_err() {
            return Vec::new();
        }
        let (argument, typed) = (argument.to_owned(), typed.to_owned());
        let manual = given.get("manual_id").cloned();
        let completions = self.read(move |state, _| completions(state, &argument, &typed, manual.as_deref()));
        completions.await.unwrap_or_default()
    }

    fn resource_templates(_: &config::LibrarySection) -> Vec<ResourceTemplate> {
        resources::templates()
    }

    async fn list_resources(
        state: &ToolsetState<Self>,
        _: &Call,
        template: &str,
        cursor: Option<&str>,
    ) -> Result<ResourcePage, ToolError> {
        let (template, cursor) = (template.to_owned(), cursor.map(str::to_owned));
        let library = state.open().await?;
        library.read(move |state, _| resources::list(&state.files(), &template, cursor.as_deref())).await
    }

    async fn read_resource(
        state: &ToolsetState<Self>,
        _: &Call,
        uri: &str,
    ) -> Result<Option<ResourceText>, ToolError> {
        let uri = uri.to_owned();
        state.open().await?.read(move |state, _| resources::read(&state.files(), &uri)).await
    }
}

/// The manual ids or paths that begin with what the user has typed.
fn completions(
    state: &LibraryState,
    argument: &str,
    typed: &str,
    manual: Option<&str>,
) -> Result<Vec<String>, ToolError> {
    let mut values: Vec<String> = match (argument, manual) {
        ("manual_id" | "other_manual_id", _) => state.manuals.ids()?,
        ("path" | "from_path", Some(manual)) => state.manuals.get(manual)?.files()?,
        ("path" | "to_path" | "relative_dir" | "source_path", _) => {
            // The entries of the folder that has been typed so far.
            let folder =
                state.vault.parse_visible_folder(typed.rsplit_once('/').map(|(folder, _)| folder))?;
            let folder = state.vault.root()?.folder(folder.as_ref())?;
            let named = folder.entries()?.into_iter().map(|entry| {
                let suffix = if entry.kind == EntryKind::Folder { "/" } else { "" };
                format!("{}{suffix}", folder.join(&entry.name))
            });
            named.filter(|path| visibility(path.trim_end_matches('/')) == Membership::Searched).collect()
        }
        _ => Vec::new(),
    };
    let typed = fold_name(typed);
    values.retain(|value| fold_name(value).starts_with(&typed));
    Ok(values)
}

impl Library {
    /// Runs work that reads the disk, on a blocking thread.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&LibraryState, &Cancellation) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        run_blocking(self.state.clone(), None, work).await
    }

    /// The same for work that needs a core for long. Only as many of these run at the same time as there are cores; further
    /// ones wait without occupying a thread.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce(&LibraryState, &Cancellation) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let permit = self.computations.clone().acquire_owned().await.map_err(ToolError::internal)?;
        run_blocking(self.state.clone(), Some(permit), work).await
    }

    /// The same, and reports the progress of indexing to the client.
    pub(crate) async fn read_with_progress<T: Send + 'static>(
        &self,
        call: &Call,
        work: impl FnOnce(&LibraryState, &Cancellation) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let progress = self.state.indexes.progress();
        let before = progress.done.load(Ordering::Relaxed);
        let mut work = std::pin::pin!(self.compute(work));
        let mut ticks = tokio::time::interval(PROGRESS_INTERVAL);
        ticks.tick().await;
        let mut reached = 0.0;
        loop {
            tokio::select! {
                done = &mut work => return done,
                _ = ticks.tick() => {
                    let done = progress.done.load(Ordering::Relaxed) - before;
                    let total = progress.total.load(Ordering::Relaxed).saturating_sub(before);
                    if let Some(share) = share_to_report(done, total, &mut reached) {
                        call.progress.report(share.0, Some(share.1), Some("reading the files")).await;
                    }
                }
            }
        }
    }

    /// Runs work that writes the vault, on a blocking thread, one call at a time.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&LibraryState, &Cancellation) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let permit = self.writer.clone().acquire_owned().await.map_err(ToolError::internal)?;
        run_blocking(self.state.clone(), Some(permit), work).await
    }
}

/// How many files of how many were read; none where that would be a smaller share than was `reached`: the total grows when
/// another manual is indexed, and nobody wants to see a bar go back.
fn share_to_report(done: usize, total: usize, reached: &mut f64) -> Option<(f64, f64)> {
    let (done, total) = (done as f64, total.max(done) as f64);
    let share = done / total;
    // Without files, the share is not a number.
    (share >= *reached).then(|| {
        *reached = share;
        (done, total)
    })
}

/// Runs work on a blocking thread, within the tracing span of the caller, so that its log lines carry the request id.
/// When the caller stops waiting, the work is cancelled.
async fn run_blocking<T: Send + 'static>(
    state: Arc<LibraryState>,
    permit: Option<OwnedSemaphorePermit>,
    work: impl FnOnce(&LibraryState, &Cancellation) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let cancellation = Cancellation::default();
    let guard = cancellation.cancel_on_drop();
    let span = tracing::Span::current();
    let done = tokio::task::spawn_blocking(move || {
        // The permit is held until the work ends, even when the caller has stopped waiting.
        let _permit = permit;
        span.in_scope(|| {
            cancellation.check()?;
            cancellation.run(|| work(&state, &cancellation))
        })
    });
    let done = done.await;
    drop(guard);
    done.unwrap_or_else(|_| Err(ToolError::internal("the work on the disk panicked")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_the_files_that_were_read_never_falls() {
        let mut reached = 0.0;
        let mut share = |done, total| share_to_report(done, total, &mut reached);
        assert_eq!(share(0, 0), None);
        assert_eq!(share(0, 10), Some((0.0, 10.0)));
        assert_eq!(share(5, 10), Some((5.0, 10.0)));
        // Another manual is indexed too.
        assert_eq!(share(6, 40), None);
        assert_eq!(share(19, 40), None);
        assert_eq!(share(20, 40), Some((20.0, 40.0)));
        assert_eq!(share(41, 40), Some((41.0, 41.0)));
    }
}
