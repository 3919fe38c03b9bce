//! Lines of vault files that hold something, at the speed of a good grep: raw bytes, literal prefilters, a linear-time
//! engine, all cores, and no more files than the limit needs.

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
use self::lines::{after_break, breaks, is_utf8, line_bounds, window_end};
pub use self::pattern::{Pattern, SearchMode};
use crate::cancellation::Cancellation;
use crate::fs::{self, Folder, Kind, RelPath, Root};
use crate::vault::is_open;

/// A file is searched in windows of 32 MiB, so that a file of any size costs no more memory than that.
const WINDOW_BYTES: usize = 32 << 20;
/// Windows overlap by 1 MiB, so that a match of up to this size may lie across two of them; a longer one is missed.
const OVERLAP_BYTES: usize = 1 << 20;
/// The maximum time of a search: some patterns read on from every place where they could match, and clients seldom wait
/// longer. What was found by then is returned, and the reply says that the search was ended.
const MAX_SEARCH_TIME: Duration = Duration::from_secs(20);
/// A thread takes 32 files at a time: few enough to share the work evenly, enough to seldom ask for more.
const BATCH_FILES: usize = 32;
/// More threads than this wait for the disk rather than for each other.
const MAX_THREADS: usize = 8;

/// A line that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LineHit {
    /// The file's path, relative to its manual or to the vault.
    pub path: String,
    /// The line, counted from 1.
    pub start_line: usize,
    /// The line; of a long line only the part around the match.
    pub snippet: String,
}

/// What a search gives.
#[derive(Debug, Default)]
pub struct SearchReport {
    /// The lines, by path and number.
    pub hits: Vec<LineHit>,
    /// Whether the limit left some out.
    pub more: bool,
    /// Files that are no text or could not be read.
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
    let listing = fs::files(&top, &|path, kind| is_open(path) && (kind == Kind::Folder || files.fits(path)))?;
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
        late: AtomicBool::new(false),
        next: AtomicUsize::new(0),
        skipped: AtomicUsize::new(listing.unreadable),
        done: Mutex::new(BatchResults {
            batches: vec![None; files.len().div_ceil(BATCH_FILES)],
            ready: 0,
            found: 0,
        }),
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| job.work());
        }
        job.work();
    });
    cancellation.check()?;
    let (skipped, late) = (job.skipped.load(Ordering::Relaxed), job.late.load(Ordering::Relaxed));
    let done = job.done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    // What lies behind a batch that was never looked at would not be the first.
    let mut hits: Vec<LineHit> = done.batches.into_iter().map_while(|batch| batch).flatten().collect();
    let more = late || hits.len() > limit;
    hits.truncate(limit);
    Ok(SearchReport { hits, more, skipped })
}

/// One search, shared by the threads that do it.
struct SearchJob<'a> {
    root: &'a Root,
    pattern: &'a Pattern,
    files: &'a [String],
    limit: usize,
    cancellation: &'a Cancellation,
    deadline: Instant,
    /// Whether time ran out.
    late: AtomicBool,
    next: AtomicUsize,
    skipped: AtomicUsize,
    done: Mutex<BatchResults>,
}

struct BatchResults {
    /// The hits of each batch of files, once it is searched.
    batches: Vec<Option<Vec<LineHit>>>,
    /// How many batches from the first on are searched.
    ready: usize,
    /// How many hits those have.
    found: usize,
}

impl SearchJob<'_> {
    /// Whether to go on: somebody waits, and there is time. A pattern that reads on and on from every place it matches
    /// at has no other bound.
    fn goes_on(&self) -> bool {
        let late = Instant::now() > self.deadline;
        if late {
            self.late.store(true, Ordering::Relaxed);
        }
        !late && !self.cancellation.is_cancelled()
    }

    fn work(&self) {
        let mut buffer = Vec::new();
        loop {
            let batch = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(files) = self.files.chunks(BATCH_FILES).nth(batch).filter(|_| self.goes_on()) else {
                return;
            };
            let hits = self.search_batch(files, &mut buffer);
            let mut done = self.done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Some(place) = done.batches.get_mut(batch) {
                *place = Some(hits);
            }
            while let Some(Some(hits)) = done.batches.get(done.ready) {
                done.found += hits.len();
                done.ready += 1;
            }
            if done.found > self.limit {
                // The first ones are all there; what comes later is not wanted.
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
                // Only an empty path is the root; what is no path of ours is passed over.
                let place = if parent.is_empty() { Ok(None) } else { RelPath::parse(parent).map(Some) };
                folder = place.and_then(|place| self.root.folder(place.as_ref())).ok();
            }
            let room = self.limit + 1 - hits.len().min(self.limit);
            let searched = folder.as_ref().map(|folder| self.search_file(folder, name, path, room, buffer));
            match searched {
                Some(Ok(found)) => hits.extend(found),
                _ => drop(self.skipped.fetch_add(1, Ordering::Relaxed)),
            }
            if hits.len() > self.limit || !self.goes_on() {
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
            read.map_err(|error| fs::io_problem(path, error))?;
            let last = buffer.len() < WINDOW_BYTES;
            let end = if last { buffer.len() } else { window_end(buffer, buffer.len() - OVERLAP_BYTES) };
            let (mut counted, mut at, mut is_text) = (0, 0, false);
            while hits.len() < room
                && at < buffer.len()
                && let Some((start, stop)) = self.pattern.find_at(buffer, at)
                && (start < end || (last && start < buffer.len()))
            {
                let bounds = line_bounds(buffer, start);
                line += breaks(buffer.get(counted..bounds.start).unwrap_or_default());
                counted = bounds.start;
                at = after_break(buffer, bounds.end).max(start + 1);
                if line > last_line {
                    // The first match tells whether this is a text at all.
                    if !is_text && !is_utf8(buffer.get(..end).unwrap_or_default(), last) {
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
                if !self.goes_on() {
                    return Ok(hits);
                }
            }
            if last || hits.len() >= room || !self.goes_on() {
                return Ok(hits);
            }
            line += breaks(buffer.get(counted..end).unwrap_or_default());
            buffer.drain(..end);
        }
    }
}
