//! Line search in vault files at the speed of a good grep: it matches raw bytes with a linear-time engine, on several
//! threads, and reads no more files than the limit needs.

mod file_filter;
mod lines;
mod pattern;

use std::io::Read as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use annai_core::ToolError;
use schemars::JsonSchema;
use serde::Serialize;

pub use self::file_filter::FileFilter;
pub use self::lines::snippet;
use self::lines::{after_break, count_breaks, is_utf8, line_bounds, window_end};
pub use self::pattern::{Pattern, SearchMode};
use crate::cancellation::Cancellation;
use crate::fs::{self, EntryKind, Folder, RelPath, Root};
use crate::vault::is_visible;

/// A file is searched in windows of 32 MiB, so that a file of any size costs no more memory than that.
const WINDOW_BYTES: usize = 32 << 20;
/// Windows overlap by 1 MiB, so that a match of up to this size may lie across two of them; a longer one is missed.
const OVERLAP_BYTES: usize = 1 << 20;
/// The maximum time of a search, because some patterns take quadratic time and clients seldom wait longer. What was found
/// by then is returned, and the reply says that the search was stopped.
const MAX_SEARCH_TIME: Duration = Duration::from_secs(20);
/// Threads take 32 files at a time: few enough to share the work evenly, many enough to seldom contend for more.
const BATCH_FILES: usize = 32;
/// The maximum number of threads of one search; more would mostly wait for the disk.
const MAX_THREADS: usize = 8;

/// A matching line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LineHit {
    /// The file's path, relative to its manual or to the vault.
    pub path: String,
    /// The line, counted from 1.
    pub start_line: usize,
    /// The line; of a long line only the part around the match.
    pub snippet: String,
}

/// The result of a search.
#[derive(Debug, Default)]
pub struct SearchReport {
    /// The matching lines, sorted by path and line number.
    pub hits: Vec<LineHit>,
    /// Whether there may be more, which a limit left out.
    pub more: bool,
    /// The number of files that are not text or could not be read.
    pub skipped: usize,
}

/// Searches the files of a root.
pub fn search(
    root: &Root,
    pattern: &Pattern,
    files: &FileFilter,
    limit: usize,
    cancellation: &Cancellation,
) -> Result<SearchReport, ToolError> {
    let top = root.folder(files.folder())?;
    let listing = fs::files(&top, &|path, kind| {
        is_visible(path) && (kind == EntryKind::Folder || files.matches_glob(path))
    })?;
    let files = &listing.files;
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(MAX_THREADS)
        .min(files.len().div_ceil(BATCH_FILES).max(1));
    let job = SearchJob {
        root,
        pattern,
        files,
        limit,
        cancellation,
        deadline: Instant::now() + MAX_SEARCH_TIME,
        is_late: AtomicBool::new(false),
        next: AtomicUsize::new(0),
        skipped: AtomicUsize::new(listing.unreadable),
        results: Mutex::new(BatchResults {
            batches: vec![None; files.len().div_ceil(BATCH_FILES)],
            complete: 0,
            hits: 0,
        }),
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| job.run());
        }
        job.run();
    });
    cancellation.check()?;
    let (skipped, late) = (job.skipped.load(Ordering::Relaxed), job.is_late.load(Ordering::Relaxed));
    let results = job.results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    // Hits after a batch that was not searched are dropped: they might not be the first ones.
    let mut hits: Vec<LineHit> = results.batches.into_iter().map_while(|batch| batch).flatten().collect();
    let more = late || hits.len() > limit;
    hits.truncate(limit);
    Ok(SearchReport { hits, more, skipped })
}

/// A search, shared by its threads.
struct SearchJob<'a> {
    root: &'a Root,
    pattern: &'a Pattern,
    files: &'a [String],
    limit: usize,
    cancellation: &'a Cancellation,
    deadline: Instant,
    /// Whether the deadline has passed.
    is_late: AtomicBool,
    /// The next batch to search.
    next: AtomicUsize,
    skipped: AtomicUsize,
    results: Mutex<BatchResults>,
}

struct BatchResults {
    /// The hits of each batch of files, once it is searched.
    batches: Vec<Option<Vec<LineHit>>>,
    /// The number of leading batches that are all searched.
    complete: usize,
    /// The number of hits in those.
    hits: usize,
}

impl SearchJob<'_> {
    /// Whether to continue: the call was not cancelled, and the deadline has not passed.
    fn should_continue(&self) -> bool {
        let late = Instant::now() > self.deadline;
        if late {
            self.is_late.store(true, Ordering::Relaxed);
        }
        !late && !self.cancellation.is_cancelled()
    }

    fn run(&self) {
        let mut buffer = Vec::new();
        loop {
            let batch = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(files) = self.files.chunks(BATCH_FILES).nth(batch).filter(|_| self.should_continue())
            else {
                return;
            };
            let hits = self.search_batch(files, &mut buffer);
            let mut results = self.results.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Some(place) = results.batches.get_mut(batch) {
                *place = Some(hits);
            }
            while let Some(Some(hits)) = results.batches.get(results.complete) {
                results.hits += hits.len();
                results.complete += 1;
            }
            if results.hits > self.limit {
                // The leading batches already exceed the limit, so no further batch is needed.
                self.next.store(usize::MAX / 2, Ordering::Relaxed);
                return;
            }
        }
    }

    fn search_batch(&self, files: &[String], buffer: &mut Vec<u8>) -> Vec<LineHit> {
        let mut hits = Vec::new();
        let mut folder: Option<Folder> = None;
        for path in files {
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
            if folder.as_ref().is_none_or(|folder| folder.path != parent) {
                // An empty parent is the root. A parent that is not a valid path is skipped.
                let parent = if parent.is_empty() { Ok(None) } else { RelPath::parse(parent).map(Some) };
                folder = parent.and_then(|parent| self.root.folder(parent.as_ref())).ok();
            }
            let room = self.limit + 1 - hits.len().min(self.limit);
            let searched = folder.as_ref().map(|folder| self.search_file(folder, name, path, room, buffer));
            match searched {
                Some(Ok(found)) => hits.extend(found),
                _ => drop(self.skipped.fetch_add(1, Ordering::Relaxed)),
            }
            if hits.len() > self.limit || !self.should_continue() {
                break;
            }
        }
        hits
    }

    fn search_file(
        &self,
        folder: &Folder,
        name: &str,
        path: &str,
        room: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<Vec<LineHit>, ToolError> {
        let mut file = folder.open_file(name)?;
        buffer.clear();
        let (mut hits, mut line, mut last_line) = (Vec::new(), 1, 0);
        loop {
            let room_left = (WINDOW_BYTES - buffer.len().min(WINDOW_BYTES)) as u64;
            let read = file.by_ref().take(room_left).read_to_end(buffer);
            read.map_err(|error| fs::io_error(path, error))?;
            let is_last = buffer.len() < WINDOW_BYTES;
            let end = if is_last { buffer.len() } else { window_end(buffer, buffer.len() - OVERLAP_BYTES) };
            let (mut counted, mut at, mut is_text) = (0, 0, false);
            while hits.len() < room
                && at < buffer.len()
                && let Some((start, stop)) = self.pattern.find_at(buffer, at)
                && (start < end || (is_last && start < buffer.len()))
            {
                let bounds = line_bounds(buffer, start);
                line += count_breaks(buffer.get(counted..bounds.start).unwrap_or_default());
                counted = bounds.start;
                at = after_break(buffer, bounds.end).max(start + 1);
                if line > last_line {
                    // Whether the file is text is only checked when it has a match, because that costs time.
                    if !is_text && !is_utf8(buffer.get(..end).unwrap_or_default(), is_last) {
                        return Err(ToolError::invalid("not UTF-8 text"));
                    }
                    is_text = true;
                    last_line = line;
                    let text = String::from_utf8_lossy(buffer.get(bounds.clone()).unwrap_or_default());
                    let start = start.clamp(bounds.start, bounds.end) - bounds.start;
                    let stop = stop.clamp(bounds.start, bounds.end) - bounds.start;
                    hits.push(LineHit {
                        path: path.to_owned(),
                        start_line: line,
                        snippet: snippet(&text, start, stop),
                    });
                }
                if !self.should_continue() {
                    return Ok(hits);
                }
            }
            if is_last || hits.len() >= room || !self.should_continue() {
                return Ok(hits);
            }
            line += count_breaks(buffer.get(counted..end).unwrap_or_default());
            buffer.drain(..end);
        }
    }
}
