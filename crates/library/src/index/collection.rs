//! The index of one folder, kept in step with its files. A find looks at the state of every file and reads only what
//! changed; the work is done on threads of its own, so that a find that runs out of time loses nothing of it.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use annai_core::{ErrorKind, ToolError};

use super::build::build;
use super::cache::{Cache, FileState, KnownFile};
use super::doc::{Doc, Shape};
use super::segment::Segment;
use crate::cancellation::Cancellation;
use crate::error::LibraryError;
use crate::fs::{self, Kind, RelPath, Root, Sha256, Stamp, TextFile};

/// A segment holds about 2 MiB of files: one changed file makes its segment anew in about 40 ms, and a folder of
/// 40 MB has no more than about twenty segments to search. A larger file is a segment of its own.
const SEGMENT_BYTES: u64 = 2 << 20;
/// A file that changed less than two seconds (in nanoseconds) before it was read may change again with the same time
/// stamp, since some file systems count in steps of two seconds; such a file is hashed again at the next find.
const STAMP_RESOLUTION_NS: i64 = 2_000_000_000;
/// Files beyond 256 MiB are not indexed, because text and postings are held in memory; a find reports them as
/// unscanned with the reason `hard_limit`.
const MAX_FILE_BYTES: u64 = 256 << 20;
/// How long a find waits for the indexing before it checks again whether it was cancelled; 20 ms is short for a person
/// and costs next to nothing.
const WAIT_STEP: Duration = Duration::from_millis(20);

/// Which files a collection has, and how they fall into nodes.
pub struct CollectionSource {
    /// What the collection is called; part of its files' paths in a find.
    pub name: String,
    /// Which folders and files count.
    pub enter: fn(&str, Kind) -> bool,
    /// How a file falls into nodes.
    pub shape: fn(&str) -> Shape,
}

/// How far the reading of files is, in all collections together.
#[derive(Debug, Default)]
pub struct IndexingProgress {
    /// Files that are read.
    pub done: AtomicUsize,
    /// Files that are to be read, those included.
    pub total: AtomicUsize,
}

/// The index of one folder.
pub struct Collection {
    source: CollectionSource,
    /// Where segments are kept on disk.
    cache: Option<PathBuf>,
    progress: Arc<IndexingProgress>,
    state: Mutex<IndexState>,
    changed: Condvar,
}

/// What is indexed so far.
#[derive(Default)]
struct IndexState {
    segments: Vec<Arc<Segment>>,
    files: BTreeMap<String, KnownFile>,
    /// Whether the segments on disk have been loaded.
    loaded: bool,
    /// Whether a thread is indexing.
    working: bool,
}

/// What a find looks at.
pub struct View {
    /// The collection's name.
    pub name: String,
    /// The segments.
    pub segments: Vec<Arc<Segment>>,
    /// Files in them that are no longer what they were, as indexes of segment and file.
    pub stale: HashSet<(usize, u32)>,
    /// Files that are not indexed yet.
    pub pending: Vec<String>,
    /// Files that are too large to be indexed.
    pub too_large: Vec<String>,
    /// Files and folders that cannot be read, or are no text.
    pub unreadable: usize,
}

/// The files of a folder as they are now.
type Listing = Vec<(String, Stamp)>;

/// A segment to be made.
#[derive(Default)]
struct SegmentPlan {
    /// The segment that it replaces.
    old: Option<Arc<Segment>>,
    /// The files of it that stay.
    stay: Vec<u32>,
    /// Files to be read.
    read: Listing,
    bytes: u64,
}

impl Collection {
    /// A collection that has not been looked at yet.
    pub fn new(source: CollectionSource, cache: Option<PathBuf>, progress: Arc<IndexingProgress>) -> Self {
        Self { source, cache, progress, state: Mutex::default(), changed: Condvar::new() }
    }

    /// The index as the files are now, or as far as it is by the deadline.
    pub fn view(
        self: &Arc<Self>,
        root: Arc<Root>,
        deadline: Instant,
        cancellation: &Cancellation,
    ) -> Result<View, ToolError> {
        let walked = fs::stamped_files(&root.top()?, &self.source.enter)?;
        let listing = walked.files;
        let mut state = self.wait(self.lock(), deadline, cancellation)?;
        if !state.working && (!state.loaded || differs(&state.files, &listing)) {
            state.working = true;
            let (this, listing) = (self.clone(), listing.clone());
            std::thread::spawn(move || {
                let guard = WorkGuard(this);
                guard.0.work(&root, listing);
            });
            state = self.wait(state, deadline, cancellation)?;
        }
        let mut view = View {
            name: self.source.name.clone(),
            segments: state.segments.clone(),
            stale: HashSet::new(),
            pending: Vec::new(),
            too_large: Vec::new(),
            unreadable: walked.unreadable,
        };
        let mut add = |path: &String, state: &FileState| match state {
            FileState::Filed(_) => {}
            FileState::Unreadable => view.unreadable += 1,
            FileState::TooLarge => view.too_large.push(path.clone()),
        };
        if !state.working && !differs(&state.files, &listing) {
            // The usual case: nothing to look up.
            state.files.iter().for_each(|(path, known)| add(path, &known.state));
            return Ok(view);
        }
        let mut pending = Vec::new();
        for (path, stamp) in &listing {
            match state.files.get(path) {
                Some(known) if known.stamp == *stamp => add(path, &known.state),
                _ => pending.push(path.clone()),
            }
        }
        view.pending = pending;
        if state.working || !view.pending.is_empty() {
            view.stale = stale_files(&state, &view.segments, &listing);
        }
        Ok(view)
    }

    fn lock(&self) -> MutexGuard<'_, IndexState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody works, or the deadline has come.
    fn wait<'a>(
        &'a self,
        mut state: MutexGuard<'a, IndexState>,
        deadline: Instant,
        cancellation: &Cancellation,
    ) -> Result<MutexGuard<'a, IndexState>, ToolError> {
        while state.working && Instant::now() < deadline {
            cancellation.check()?;
            let step = WAIT_STEP.min(deadline.saturating_duration_since(Instant::now()));
            state = self.changed.wait_timeout(state, step).unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(state)
    }

    /// Brings the index in step with the files.
    fn work(&self, root: &Root, listing: Listing) {
        let cache = self.cache.as_ref().and_then(|folder| Cache::open(folder, &self.key(root)));
        if !self.lock().loaded {
            let kept = cache.as_ref().map(load).unwrap_or_default();
            let mut state = self.lock();
            (state.segments, state.files, state.loaded) = (kept.segments, kept.files, true);
        }
        let (mut units, changed) = self.plan(root, listing);
        // The largest first, so that no thread waits long for another.
        units.sort_by_key(|unit| std::cmp::Reverse(unit.bytes));
        let files: usize = units.iter().map(|unit| unit.read.len()).sum();
        self.progress.total.fetch_add(files, Ordering::Relaxed);
        let next = AtomicUsize::new(0);
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8).min(units.len());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                        self.make(root, unit);
                    }
                });
            }
        });
        if let Some(cache) = cache.filter(|_| changed || !units.is_empty()) {
            let (segments, files) = {
                let state = self.lock();
                let files = state.files.iter().map(|(path, known)| (path.clone(), known.clone()));
                (state.segments.clone(), files.collect())
            };
            let segments: Vec<_> = segments.iter().map(Arc::as_ref).collect();
            cache.keep(&segments, files);
        }
    }

    fn key(&self, root: &Root) -> String {
        format!("{}\n{}", self.source.name, fs::real_path(root.path()).display())
    }

    /// What has to be made, and whether anything else changed.
    fn plan(&self, root: &Root, listing: Listing) -> (Vec<SegmentPlan>, bool) {
        let mut known = self.lock().files.clone();
        let before = known.clone();
        let listed: BTreeMap<_, _> = listing.into_iter().collect();
        known.retain(|path, known| {
            let Some(stamp) = listed.get(path).filter(|stamp| **stamp == known.stamp) else { return false };
            if is_settled(known) {
                return true;
            }
            // It could have changed without a sign of it.
            let FileState::Filed(sha256) = known.state else { return false };
            let now = now();
            let same = RelPath::parse(path)
                .and_then(|path| root.open_file(&path))
                .and_then(|(file, path)| fs::hash(file, &path))
                .is_ok_and(|found| found == sha256);
            if same {
                (known.stamp, known.read_at) = (*stamp, now);
            }
            same
        });
        let mut state = self.lock();
        let changed = known != before;
        state.files = known;
        let (mut units, mut whole): (Vec<SegmentPlan>, Vec<_>) = (Vec::new(), Vec::new());
        for segment in &state.segments {
            let stays = |path: &str, sha256| {
                state.files.get(path).is_some_and(|known| known.state == FileState::Filed(sha256))
            };
            let files = (0..).zip(&segment.files).filter(|(_, file)| stays(&file.path, file.sha256));
            let (stay, bytes): (Vec<_>, Vec<_>) =
                files.map(|(number, file)| (number, segment.bytes_of(file))).unzip();
            let complete = stay.len() == segment.files.len();
            let unit =
                SegmentPlan { old: Some(segment.clone()), bytes: bytes.iter().sum(), stay, read: Vec::new() };
            if complete { &mut whole } else { &mut units }.push(unit);
        }
        for (path, stamp) in listed {
            if state.files.contains_key(&path) {
                continue;
            }
            // Segments that are made anyway are filled up first, then one that has room, so that there are never many.
            let has_room = |unit: &SegmentPlan| unit.bytes + stamp.size <= SEGMENT_BYTES;
            let unit = match (units.iter().position(has_room), whole.iter().position(has_room)) {
                (Some(unit), _) => unit,
                (None, Some(unit)) => {
                    units.push(whole.swap_remove(unit));
                    units.len() - 1
                }
                (None, None) => {
                    units.push(SegmentPlan::default());
                    units.len() - 1
                }
            };
            if let Some(unit) = units.get_mut(unit) {
                unit.bytes += stamp.size;
                unit.read.push((path, stamp));
            }
        }
        (units, changed)
    }

    /// Makes a segment and puts it in the old one's place.
    fn make(&self, root: &Root, unit: &SegmentPlan) {
        let old = unit.old.as_deref();
        let stay = unit.stay.iter().filter_map(|file| {
            let old = old?;
            Some(old.doc(old.files.get(*file as usize)?))
        });
        let mut docs: Vec<_> = stay.collect();
        let mut files = Vec::new();
        for (path, stamp) in &unit.read {
            self.progress.done.fetch_add(1, Ordering::Relaxed);
            let now = now();
            let state = match self.read(root, path, stamp) {
                Ok((file, stored)) => {
                    docs.push(Doc::new(&stored, (self.source.shape)(&stored), &file.text, file.sha256));
                    FileState::Filed(file.sha256)
                }
                Err(error) => match error.kind() {
                    // It goes on changing, or is gone: the next find sees it as it is then.
                    ErrorKind::Conflict | ErrorKind::NotFound => continue,
                    _ if stamp.size > MAX_FILE_BYTES => FileState::TooLarge,
                    _ => FileState::Unreadable,
                },
            };
            files.push((path.clone(), KnownFile { stamp: *stamp, read_at: now, state }));
        }
        let segment = (!docs.is_empty()).then(|| Arc::new(build(&self.source.name, docs)));
        let mut state = self.lock();
        state.segments.retain(|known| unit.old.as_ref().is_none_or(|old| !Arc::ptr_eq(known, old)));
        state.segments.extend(segment);
        // A find goes through them in the order of their files.
        let first = |segment: &Arc<Segment>| segment.files.first().map(|file| file.path.clone());
        state.segments.sort_by_key(first);
        state.files.extend(files);
    }

    fn read(&self, root: &Root, path: &str, stamp: &Stamp) -> Result<(TextFile, String), ToolError> {
        let path = RelPath::parse(path)?;
        let (file, stored) = root.open_file(&path)?;
        if fs::stamp_of(&file, &stored)? != *stamp {
            return Err(LibraryError::conflict(stored, "changed since it was listed").into());
        }
        Ok((fs::read_text(file, &stored, MAX_FILE_BYTES)?, stored))
    }
}

/// The files in segments that are no longer what they were, as indexes of segment and file.
fn stale_files(state: &IndexState, segments: &[Arc<Segment>], listing: &Listing) -> HashSet<(usize, u32)> {
    let current: BTreeMap<_, _> = listing.iter().map(|(path, stamp)| (path.as_str(), stamp)).collect();
    let mut stale = HashSet::new();
    for (index, segment) in segments.iter().enumerate() {
        for (number, file) in (0..).zip(&segment.files) {
            let is_current = state.files.get(&file.path).is_some_and(|known| {
                Some(&&known.stamp) == current.get(file.path.as_str())
                    && known.state == FileState::Filed(file.sha256)
            });
            if !is_current {
                stale.insert((index, number));
            }
        }
    }
    stale
}

/// Tells those who wait that the work is over, even when it ended in a panic.
struct WorkGuard(Arc<Collection>);

impl Drop for WorkGuard {
    fn drop(&mut self) {
        self.0.lock().working = false;
        self.0.changed.notify_all();
    }
}

/// What the disk had.
fn load(cache: &Cache) -> IndexState {
    let Some(manifest) = cache.manifest() else { return IndexState::default() };
    let next = AtomicUsize::new(0);
    let loaded = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(name) = manifest.segments.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let segment = cache.segment(name).map(Arc::new);
                    loaded.lock().unwrap_or_else(PoisonError::into_inner).extend(segment);
                }
            });
        }
    });
    let mut segments = loaded.into_inner().unwrap_or_else(PoisonError::into_inner);
    segments.sort_by_key(|segment: &Arc<Segment>| segment.files.first().map(|file| file.path.clone()));
    // A file counts as known only where its segment came back.
    let filed: BTreeMap<&str, Sha256> = segments
        .iter()
        .flat_map(|segment| segment.files.iter().map(|file| (file.path.as_str(), file.sha256)))
        .collect();
    let files = manifest.files.into_iter().filter(|(path, known)| match known.state {
        FileState::Filed(sha256) => filed.get(path.as_str()) == Some(&sha256),
        FileState::Unreadable | FileState::TooLarge => true,
    });
    let files = files.collect();
    IndexState { segments, files, loaded: true, working: true }
}

/// Whether anything has to be looked at again.
fn differs(known: &BTreeMap<String, KnownFile>, listing: &Listing) -> bool {
    known.len() != listing.len()
        || known.iter().zip(listing).any(|((path, known), (listed, stamp))| {
            path != listed || known.stamp != *stamp || !is_settled(known)
        })
}

/// Whether a file would look different if it had changed since it was read. Nobody can set the time of the last change.
fn is_settled(known: &KnownFile) -> bool {
    known.stamp.changed.saturating_add(STAMP_RESOLUTION_NS) < known.read_at
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}
