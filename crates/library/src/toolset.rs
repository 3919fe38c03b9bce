//! What the library's tools share.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use annai_core::{Call, ErrorKind, Principal, TokenScope, ToolError, Toolset};
use tokio::signal::unix::SignalKind;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::adaptive::Adaptive;
use crate::config;
use crate::explore::{Dictionaries, Traces};
use crate::fs::{Kind, RelPath, fold_name};
use crate::index::{Collection, Filing, Shape, Source, View};
use crate::manuals::{FileType, Manuals, is_part};
use crate::reading::{Part, Scope};
use crate::reference::Ref;
use crate::scans::Scans;
use crate::vault::{Vault, is_open};

/// The signal that a write beyond the allowed size of a file raises; the same number on Linux and macOS.
const SIGXFSZ: i32 = 25;

/// The token scope of the tools that read manuals and the vault.
pub const LIBRARY_READ: TokenScope = TokenScope::new("library.read");
/// The token scope of the tools that write the vault.
pub const LIBRARY_WRITE: TokenScope = TokenScope::new("library.write");

/// The toolset `library`.
pub struct Library {
    pub(crate) shelves: Arc<Shelves>,
    /// Writers wait here rather than on threads.
    writing: Arc<Semaphore>,
}

/// Whether the caller still waits. Work on a thread cannot be taken back, so it asks.
#[derive(Clone, Default)]
pub(crate) struct Wanted(Arc<AtomicBool>);

impl Wanted {
    /// An error once nobody waits any more.
    pub fn check(&self) -> Result<(), ToolError> {
        if self.0.load(Ordering::Relaxed) { Err(ToolError::cancelled()) } else { Ok(()) }
    }
}

/// Tells the work when its caller has gone.
struct Caller(Wanted);

impl Drop for Caller {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Everything that work on a thread of its own needs.
pub(crate) struct Shelves {
    pub settings: config::Library,
    pub manuals: Manuals,
    pub vault: Vault,
    pub scans: Scans,
    pub traces: Traces,
    pub dictionaries: Dictionaries,
    pub adaptive: Adaptive,
    indexes: Indexes,
}

/// The indexes, by the names of their collections.
struct Indexes {
    cache: Option<PathBuf>,
    filing: Arc<Filing>,
    made: Mutex<HashMap<String, Arc<Collection>>>,
}

impl Indexes {
    fn get(&self, name: &str, source: impl FnOnce() -> Source) -> Arc<Collection> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || Arc::new(Collection::new(source(), self.cache.clone(), self.filing.clone()));
        made.entry(name.to_owned()).or_insert_with(make).clone()
    }
}

impl Shelves {
    /// Notes that a section of a manual was used, for the finds that led to it.
    pub fn note_use(&self, owner: &Principal, place: &Ref, part: &Part) {
        if let Ok(manual_id) = place.manual_id() {
            let line = (part.scope != Scope::File).then_some(part.node_line as u64);
            self.adaptive.used(owner, manual_id, &part.path, line);
        }
    }

    /// The index of the vault as its files are now, or as far as it is by the deadline.
    pub fn vault_view(&self, deadline: Instant, wanted: &Wanted) -> Result<View, ToolError> {
        let source =
            || Source { name: String::new(), enter: |path, _| is_open(path), shape: |_| Shape::Paragraphs };
        let root = self.vault.root()?;
        self.indexes.get("vault", source).view(root, deadline, wanted)
    }

    /// The indexes of these manuals as their files are now, or as far as they are by the deadline; and how many of the
    /// manuals are closed to us.
    pub fn views(
        &self,
        ids: &[String],
        deadline: Instant,
        wanted: &Wanted,
    ) -> Result<(Vec<View>, usize), ToolError> {
        let view = |id: &String| {
            let manual = self.manuals.get(id)?;
            let source = || Source {
                name: id.clone(),
                enter: is_part,
                shape: |path| match FileType::of(path) {
                    Some(FileType::Json) => Shape::Json,
                    _ => Shape::Markdown,
                },
            };
            self.indexes.get(&format!("manual/{id}"), source).view(
                Arc::new(manual.into_root()),
                deadline,
                wanted,
            )
        };
        let (mut views, mut closed) = (Vec::with_capacity(ids.len()), 0);
        for id in ids {
            match view(id) {
                Ok(view) => views.push(view),
                Err(error) if error.kind() == ErrorKind::Cancelled || ids.len() == 1 => return Err(error),
                // One manual that is gone or closed is no reason to fail for the others.
                Err(_) => closed += 1,
            }
        }
        Ok((views, closed))
    }
}

impl Toolset for Library {
    const NAME: &'static str = "library";
    type Config = config::Library;

    async fn open(config: &config::Library) -> Result<Self, ToolError> {
        // A file that may not grow is an error to tell, not a reason to die.
        let _ = tokio::signal::unix::signal(SignalKind::from_raw(SIGXFSZ));
        let shelves = Shelves {
            manuals: Manuals::new(config.manual_folders()),
            vault: Vault::new(config.vault_folder()),
            scans: Scans::default(),
            traces: Traces::new(config.trace_max_keep, Duration::from_secs(config.trace_ttl_sec)),
            dictionaries: Dictionaries::default(),
            adaptive: Adaptive::new(config),
            indexes: Indexes {
                cache: config.cache_dir.as_ref().map(PathBuf::from),
                filing: Arc::default(),
                made: Mutex::default(),
            },
            settings: config.clone(),
        };
        Ok(Self { shelves: Arc::new(shelves), writing: Arc::new(Semaphore::new(1)) })
    }

    async fn complete(&self, argument: &str, typed: &str, given: &HashMap<String, String>) -> Vec<String> {
        let (argument, typed) = (argument.to_owned(), typed.to_owned());
        let manual = given.get("manual_id").cloned();
        let offered = self.read(move |shelves, _| offer(shelves, &argument, &typed, manual.as_deref()));
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
        ("manual_id", _) => shelves.manuals.ids()?,
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
        work: impl FnOnce(&Shelves, &Wanted) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        run(self.shelves.clone(), None, work).await
    }

    /// The same, with a word to the caller now and then about how many files are read.
    pub(crate) async fn read_aloud<T: Send + 'static>(
        &self,
        call: &Call,
        work: impl FnOnce(&Shelves, &Wanted) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let filing = &self.shelves.indexes.filing;
        let before = filing.done.load(Ordering::Relaxed);
        let mut work = std::pin::pin!(self.read(work));
        let mut ticks = tokio::time::interval(Duration::from_millis(250));
        ticks.tick().await;
        loop {
            tokio::select! {
                done = &mut work => return done,
                _ = ticks.tick() => {
                    let done = filing.done.load(Ordering::Relaxed) - before;
                    let total = filing.total.load(Ordering::Relaxed).saturating_sub(before);
                    if total > 0 {
                        let share = (done as f64, total.max(done) as f64);
                        call.progress.report(share.0, Some(share.1), Some("reading the files")).await;
                    }
                }
            }
        }
    }

    /// The same for work that writes: one at a time.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shelves, &Wanted) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let turn = self.writing.clone().acquire_owned().await.map_err(ToolError::internal)?;
        run(self.shelves.clone(), Some(turn), work).await
    }
}

async fn run<T: Send + 'static>(
    shelves: Arc<Shelves>,
    turn: Option<OwnedSemaphorePermit>,
    work: impl FnOnce(&Shelves, &Wanted) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let wanted = Wanted::default();
    let caller = Caller(wanted.clone());
    let done = tokio::task::spawn_blocking(move || {
        // The turn lasts as long as the work, whether or not anybody waits for it.
        let _turn = turn;
        wanted.check()?;
        work(&shelves, &wanted)
    });
    let done = done.await;
    drop(caller);
    done.unwrap_or_else(|_| Err(ToolError::internal("the work on the disk panicked")))
}
