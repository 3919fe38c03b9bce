//! The index of one folder. A find compares the stamps of all files and reads only those that changed. Indexing runs on
//! its own threads, so that it continues when the find that started it runs out of time, for the next one. It stops when
//! every find that waited for it was cancelled.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use annai_core::{ErrorKind, ToolError};

use super::build::build;
use super::cache::{Cache, FileState, KnownFile};
use super::entries::{FileEntry, ParsedFile};
use super::segment::Segment;
use super::segment_plan::{SegmentPlan, plan_segments};
use annai_core::cancellation::{Cancellation, checkpoint};
use annai_files::LibraryError;
use annai_files::fs::{
    self, EntryKind, FileStamp, Membership, ReadError, RelPath, Root, Sha256, TextFile, Unsearchable,
    UnsearchableReason,
};
use annai_text::Format;

/// A file that changed less than two seconds (in nanoseconds) before it was read may change again with the same stamp,
/// because some file systems store times in steps of two seconds; such a file is hashed again at the next find.
const STAMP_RESOLUTION_NS: i64 = 2_000_000_000;
/// Files beyond 256 MiB are not indexed, because text and postings are held in memory; a find reports them as
/// unsearchable with the reason `too_large`.
const MAX_FILE_BYTES: u64 = 256 << 20;
/// How often a find that waits for indexing checks whether it was cancelled.
const WAIT_STEP: Duration = Duration::from_millis(20);

/// The maximum number of threads that index or load segments at the same time.
const MAX_THREADS: usize = 8;

/// Which files a collection has, and how they are read.
pub struct CollectionSource {
    /// The name of the collection. It is indexed as a part of the path of every file.
    pub name: String,
    /// Which folders and files belong to it, and which of the files are searched.
    pub enter: fn(&str, EntryKind) -> Membership,
    /// The format in which a file is read.
    pub format: fn(&str) -> &'static dyn Format,
}

/// The progress of indexing in all collections together.
#[derive(Debug, Default)]
pub struct IndexingProgress {
    /// The number of files that were read.
    pub done: AtomicUsize,
    /// The number of files to read, including those.
    pub total: AtomicUsize,
}

/// The index of one folder.
pub struct Collection {
    source: CollectionSource,
    /// The folder of the disk cache.
    cache: Option<PathBuf>,
    progress: Arc<IndexingProgress>,
    state: Mutex<IndexState>,
    /// Notified when indexing ends.
    indexing_ended: Condvar,
}

/// What has been indexed so far.
#[derive(Default)]
struct IndexState {
    segments: Vec<Arc<Segment>>,
    files: BTreeMap<String, KnownFile>,
    /// Whether the segments on disk have been loaded.
    is_loaded: bool,
    /// Whether a thread is indexing.
    is_indexing: bool,
    /// Cancels the indexing that is going on.
    indexing: Cancellation,
    /// The number of finds that wait for it.
    waiting: usize,
    /// Whether a find ran out of time and told its caller that the index will be complete later.
    is_expected: bool,
}

/// A snapshot of the index for one find.
pub struct View {
    /// The name of the collection.
    pub name: String,
    /// The segments.
    pub segments: Vec<Arc<Segment>>,
    /// The files in them that have changed since, as indexes of segment and file.
    pub stale: HashSet<(usize, u32)>,
    /// The files that are not indexed yet.
    pub pending: Vec<String>,
    /// The files that belong to the collection and cannot be searched, sorted by path.
    pub unsearchable: Vec<Unsearchable>,
    /// The number of hidden files and folders that are not searched.
    pub hidden: usize,
}

/// The files of a folder with their stamps, sorted by path.
type CollectionListing = Vec<(String, FileStamp)>;

impl View {
    /// Adds a file that could not be indexed.
    fn add_state(&mut self, path: &str, state: &FileState) {
        if let FileState::Unsearchable(reason) = state {
            self.unsearchable.push(Unsearchable { path: path.to_owned(), reason: *reason });
        }
    }
}

impl Collection {
    /// A collection that is not indexed yet.
    pub fn new(source: CollectionSource, cache: Option<PathBuf>, progress: Arc<IndexingProgress>) -> Self {
        Self { source, cache, progress, state: Mutex::default(), indexing_ended: Condvar::new() }
    }

    /// Brings the index up to date, and returns a snapshot of it; at the deadline, a snapshot of what is indexed by then.
    pub fn view(
        self: &Arc<Self>,
        root: Arc<Root>,
        deadline: Instant,
        cancellation: &Cancellation,
    ) -> Result<View, ToolError> {
        let walked = fs::stamped_files(&root.top()?, &self.source.enter)?;
        let listing = walked.files;
        let mut state = self.wait(self.lock(), deadline, cancellation)?;
        if !state.is_indexing && (!state.is_loaded || needs_indexing(&state.files, &listing)) {
            let indexing = Cancellation::default();
            (state.is_indexing, state.is_expected, state.indexing) = (true, false, indexing.clone());
            let (this, listing) = (self.clone(), listing.clone());
            std::thread::spawn(move || {
                let guard = IndexingGuard(this);
                // What is cancelled is what nobody waits for.
                let _ = indexing.run(|| guard.0.update(&root, listing, &indexing));
            });
            state = self.wait(state, deadline, cancellation)?;
        }
        let mut view = self.current_view(&state, &listing, walked.unsearchable);
        view.unsearchable.sort_unstable();
        view.hidden = walked.hidden;
        Ok(view)
    }

    /// The segment that contains this version of a file, and the index of the file in it. The disk is not read.
    pub fn indexed(&self, path: &str, sha256: &Sha256) -> Option<(Arc<Segment>, u32)> {
        let state = self.lock();
        state.segments.iter().find_map(|segment| {
            let is_same = |file: &FileEntry| file.path == path && file.sha256 == *sha256;
            let (number, _) = (0..).zip(&segment.files).find(|(_, file)| is_same(file))?;
            Some((segment.clone(), number))
        })
    }

    /// The view of what is indexed now, compared with the files on disk.
    fn current_view(
        &self,
        state: &IndexState,
        listing: &CollectionListing,
        unsearchable: Vec<Unsearchable>,
    ) -> View {
        let mut view = View {
            name: self.source.name.clone(),
            segments: state.segments.clone(),
            stale: HashSet::new(),
            pending: Vec::new(),
            unsearchable,
            hidden: 0,
        };
        if !state.is_indexing && !needs_indexing(&state.files, listing) {
            // The usual case: every file is indexed as it is now.
            state.files.iter().for_each(|(path, known)| view.add_state(path, &known.state));
            return view;
        }
        for (path, stamp) in listing {
            match state.files.get(path) {
                Some(known) if known.stamp == *stamp => view.add_state(path, &known.state),
                _ => view.pending.push(path.clone()),
            }
        }
        if state.is_indexing || !view.pending.is_empty() {
            view.stale = stale_files(state, listing);
        }
        view
    }

    fn lock(&self) -> MutexGuard<'_, IndexState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until indexing ends, at most until the deadline.
    fn wait<'a>(
        &'a self,
        mut state: MutexGuard<'a, IndexState>,
        deadline: Instant,
        cancellation: &Cancellation,
    ) -> Result<MutexGuard<'a, IndexState>, ToolError> {
        state.waiting += 1;
        while state.is_indexing && Instant::now() < deadline && !cancellation.is_cancelled() {
            let step = WAIT_STEP.min(deadline.saturating_duration_since(Instant::now()));
            state = self.indexing_ended.wait_timeout(state, step).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.waiting -= 1;
        if !cancellation.is_cancelled() {
            state.is_expected |= state.is_indexing;
        } else if state.waiting == 0 && !state.is_expected {
            state.indexing.cancel();
        }
        cancellation.check()?;
        Ok(state)
    }

    /// Brings the index up to date with the files, or stops at the next file or checkpoint when it is cancelled.
    fn update(
        &self,
        root: &Root,
        listing: CollectionListing,
        cancellation: &Cancellation,
    ) -> Result<(), ToolError> {
        let cache = self
            .cache
            .as_ref()
            .and_then(|folder| Cache::open(folder, &self.source.name, &fs::real_path(root.path())));
        if !self.lock().is_loaded {
            let kept = cache.as_ref().map(|cache| load(cache, cancellation)).unwrap_or_default();
            cancellation.check()?;
            let mut state = self.lock();
            (state.segments, state.files, state.is_loaded) = (kept.segments, kept.files, true);
        }
        let (mut plans, has_changes) = self.plan(root, listing);
        // The largest first, so that no thread is left with a large segment at the end.
        plans.sort_by_key(|plan| std::cmp::Reverse(plan.bytes));
        let files: usize = plans.iter().map(|plan| plan.files_to_read.len()).sum();
        self.progress.total.fetch_add(files, Ordering::Relaxed);
        let read = AtomicUsize::new(0);
        in_parallel(&plans, cancellation, |plan| self.build_segment(root, plan, &read));
        // Files that were not read any more are no part of the progress that others see.
        self.progress.done.fetch_add(files.saturating_sub(read.into_inner()), Ordering::Relaxed);
        cancellation.check()?;
        if let Some(cache) = cache.filter(|_| has_changes || !plans.is_empty()) {
            let (segments, files) = {
                let state = self.lock();
                let files = state.files.iter().map(|(path, known)| (path.clone(), known.clone()));
                (state.segments.clone(), files.collect())
            };
            let segments: Vec<_> = segments.iter().map(Arc::as_ref).collect();
            cache.store(&segments, files);
        }
        Ok(())
    }

    /// Drops the files that changed, plans the segments to build, and returns whether any file was dropped or checked.
    fn plan(&self, root: &Root, listing: CollectionListing) -> (Vec<SegmentPlan>, bool) {
        let before = self.lock().files.clone();
        let mut known = before.clone();
        let listed: BTreeMap<_, _> = listing.into_iter().collect();
        known.retain(|path, known| {
            checkpoint();
            listed.get(path).is_some_and(|stamp| *stamp == known.stamp && is_unchanged(root, path, known))
        });
        let mut state = self.lock();
        let changed = known != before;
        state.files = known;
        (plan_segments(&state.segments, &state.files, listed), changed)
    }

    /// Builds a segment and puts it in the place of the old one.
    fn build_segment(&self, root: &Root, plan: &SegmentPlan, read: &AtomicUsize) {
        let old = plan.old.as_deref();
        let kept_files = plan.kept_files.iter().filter_map(|file| {
            let old = old?;
            Some(old.doc(old.files.get(*file as usize)?))
        });
        let mut docs: Vec<_> = kept_files.collect();
        let mut files = Vec::new();
        for (path, stamp) in &plan.files_to_read {
            checkpoint();
            self.progress.done.fetch_add(1, Ordering::Relaxed);
            read.fetch_add(1, Ordering::Relaxed);
            let now = now();
            let state = match self.read(root, path, stamp) {
                Ok((file, stored)) => {
                    let format = (self.source.format)(&stored);
                    let sha256 = file.sha256;
                    docs.push(ParsedFile::new(&self.source.name, &stored, format, file));
                    FileState::Indexed(sha256)
                }
                Err(ReadError::NotText) => FileState::Unsearchable(UnsearchableReason::Encoding),
                Err(ReadError::TooLarge { .. }) => FileState::Unsearchable(UnsearchableReason::TooLarge),
                Err(ReadError::Failed(error)) => match error.kind() {
                    // The file is being changed, or was removed: the next find sees its new state.
                    ErrorKind::Conflict | ErrorKind::NotFound => continue,
                    _ => FileState::Unsearchable(UnsearchableReason::Unreadable),
                },
            };
            files.push((path.clone(), KnownFile { stamp: *stamp, read_at: now, state }));
        }
        let segment = (!docs.is_empty()).then(|| Arc::new(build(&self.source.name, docs)));
        let mut state = self.lock();
        state.segments.retain(|known| plan.old.as_ref().is_none_or(|old| !Arc::ptr_eq(known, old)));
        state.segments.extend(segment);
        // Finds visit the segments in the order of their files.
        let first = |segment: &Arc<Segment>| segment.files.first().map(|file| file.path.clone());
        state.segments.sort_by_key(first);
        state.files.extend(files);
    }

    fn read(&self, root: &Root, path: &str, stamp: &FileStamp) -> Result<(TextFile, String), ReadError> {
        let opened =
            RelPath::parse(path).and_then(|path| root.open_file(&path)).and_then(|(file, stored)| {
                if fs::stamp_of(&file, &stored)? != *stamp {
                    return Err(LibraryError::conflict(stored, "changed since it was listed").into());
                }
                Ok((file, stored))
            });
        let (file, stored) = opened.map_err(ReadError::Failed)?;
        Ok((fs::try_read_text(file, &stored, MAX_FILE_BYTES)?, stored))
    }
}

/// Whether a file with an equal stamp is unchanged. When the stamp is not reliable, the content is compared by its hash.
fn is_unchanged(root: &Root, path: &str, known: &mut KnownFile) -> bool {
    if is_stamp_reliable(known) {
        return true;
    }
    let FileState::Indexed(sha256) = known.state else { return false };
    let now = now();
    let is_same = RelPath::parse(path)
        .and_then(|path| root.open_file(&path))
        .and_then(|(file, path)| fs::hash_file(file, &path))
        .is_ok_and(|found| found == sha256);
    if is_same {
        known.read_at = now;
    }
    is_same
}

/// The files in segments that have changed since, as indexes of segment and file.
fn stale_files(state: &IndexState, listing: &CollectionListing) -> HashSet<(usize, u32)> {
    let current: BTreeMap<_, _> = listing.iter().map(|(path, stamp)| (path.as_str(), stamp)).collect();
    let mut stale = HashSet::new();
    for (index, segment) in state.segments.iter().enumerate() {
        for (number, file) in (0..).zip(&segment.files) {
            let is_current = state.files.get(&file.path).is_some_and(|known| {
                Some(&&known.stamp) == current.get(file.path.as_str())
                    && known.state == FileState::Indexed(file.sha256)
            });
            if !is_current {
                stale.insert((index, number));
            }
        }
    }
    stale
}

/// Wakes the finds that wait when indexing ends, even by a panic.
struct IndexingGuard(Arc<Collection>);

impl Drop for IndexingGuard {
    fn drop(&mut self) {
        self.0.lock().is_indexing = false;
        self.0.indexing_ended.notify_all();
    }
}

/// Runs work for every item, on up to [`MAX_THREADS`] threads, until it is cancelled.
fn in_parallel<T: Sync>(items: &[T], cancellation: &Cancellation, work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let threads =
        std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS).min(items.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                // Whoever cancelled it looks at the cancellation itself.
                let _ = cancellation.run(|| {
                    while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                        cancellation.check()?;
                        work(item);
                    }
                    Ok(())
                });
            });
        }
    });
}

/// Loads what the disk cache has.
fn load(cache: &Cache, cancellation: &Cancellation) -> IndexState {
    let Some(manifest) = cache.manifest() else { return IndexState::default() };
    let loaded = Mutex::new(Vec::new());
    in_parallel(&manifest.segments, cancellation, |name| {
        let segment = cache.segment(name).map(Arc::new);
        loaded.lock().unwrap_or_else(PoisonError::into_inner).extend(segment);
    });
    let mut segments = loaded.into_inner().unwrap_or_else(PoisonError::into_inner);
    segments.sort_by_key(|segment: &Arc<Segment>| segment.files.first().map(|file| file.path.clone()));
    // A file is known only if its segment could be loaded.
    let indexed: BTreeMap<&str, Sha256> = segments
        .iter()
        .flat_map(|segment| segment.files.iter().map(|file| (file.path.as_str(), file.sha256)))
        .collect();
    let files = manifest.files.into_iter().filter(|(path, known)| match known.state {
        FileState::Indexed(sha256) => indexed.get(path.as_str()) == Some(&sha256),
        FileState::Unsearchable(_) => true,
    });
    let files = files.collect();
    IndexState { segments, files, is_loaded: true, is_indexing: true, ..IndexState::default() }
}

/// Whether a file was added, removed or changed, or has to be checked.
fn needs_indexing(known: &BTreeMap<String, KnownFile>, listing: &CollectionListing) -> bool {
    known.len() != listing.len()
        || known.iter().zip(listing).any(|((path, known), (listed, stamp))| {
            path != listed || known.stamp != *stamp || !is_stamp_reliable(known)
        })
}

/// Whether the stamp would differ if the file had changed since it was read. Programs cannot set the ctime.
fn is_stamp_reliable(known: &KnownFile) -> bool {
    known.stamp.changed.saturating_add(STAMP_RESOLUTION_NS) < known.read_at
}

/// Nanoseconds since 1970.
fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[path = "collection_tests.rs"]
mod tests;
