//! Line search in vault files at the speed of a good grep: it matches raw bytes with a linear-time engine, on several
//! threads. All matching lines are counted; the lines of one page are returned.

#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod lines;
mod pattern;
mod reach;

use std::fs::File;
use std::io::Read as _;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use annai_core::ToolError;
use schemars::JsonSchema;
use serde::Serialize;

pub use self::lines::snippet;
use self::lines::{after_break, count_breaks, is_utf8, line_bounds, window_end};
pub use self::pattern::{CompiledQuery, Pattern, SearchMode};
use crate::paging::{LineKey, SkippedFiles};
use annai_core::cancellation::Cancellation;
pub use annai_files::FileFilter;
use annai_files::fs::{self, EntryKind, Folder, Membership, RelPath, Root, UnsearchableReason};
use annai_files::vault::visibility;
use annai_text::{decode, looks_like_utf8, strip_utf8_bom};

/// A file is searched in windows of 32 MiB, so that a file of any size costs no more memory than that.
const WINDOW_BYTES: usize = 32 << 20;
/// Windows overlap by 1 MiB, so that a match of up to this size may lie across two of them; a longer one is missed.
const OVERLAP_BYTES: usize = 1 << 20;
/// The maximum size of a file in another encoding than UTF-8, because it is decoded as a whole; a larger one is skipped.
const MAX_DECODED_BYTES: u64 = 64 << 20;
/// The length of the byte-order mark of UTF-8.
const UTF8_BOM_BYTES: usize = 3;
/// Why a file that is not text is skipped.
const NOT_TEXT: &str = "is not text in a supported encoding";
/// The maximum time of a search, because large patterns take long and clients seldom wait longer. What was found by then is
/// returned, and the reply says that the search was stopped.
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
    /// The first matching lines after the requested place, sorted by path and line number: one more than the limit, if there
    /// are as many.
    pub hits: Vec<LineHit>,
    /// The number of matching lines in all files; a lower bound when the search was stopped.
    pub total: usize,
    /// Whether the search was stopped after its maximum time.
    pub is_stopped: bool,
    /// The files that are not text or could not be read.
    pub skipped: SkippedFiles,
    /// The number of hidden files and folders that were not searched.
    pub hidden: usize,
}

/// Searches the files of a root, and returns the first `limit` lines, and one more, after a place.
pub fn search(
    root: &Root,
    pattern: &Pattern,
    files: &FileFilter,
    after: Option<&LineKey>,
    limit: usize,
    cancellation: &Cancellation,
) -> Result<SearchReport, ToolError> {
    let top = root.folder(files.folder())?;
    let listing = fs::files(&top, &|path, kind| match kind {
        EntryKind::File if !files.matches_glob(path) => Membership::Ignored,
        EntryKind::File | EntryKind::Folder => visibility(path),
    })?;
    // The files from the place on come first, so that a search which runs out of time has looked for the page.
    let first = after.map_or(0, |after| listing.files.partition_point(|path| *path < after.path));
    let hidden = listing.hidden;
    let mut files = listing.files;
    files.rotate_left(first);
    let page_files = files.len() - first;
    let files = &files;
    let mut skipped = SkippedFiles::default();
    for file in listing.unsearchable.iter().filter(|file| file.reason == UnsearchableReason::Unreadable) {
        skipped.name(&file.path, file.reason.name());
    }
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(MAX_THREADS)
        .min(files.len().div_ceil(BATCH_FILES).max(1));
    let job = SearchJob {
        root,
        pattern,
        files,
        page_files,
        after,
        limit,
        cancellation,
        deadline: Instant::now() + MAX_SEARCH_TIME,
        is_late: AtomicBool::new(false),
        is_page_full: AtomicBool::new(false),
        next: AtomicUsize::new(0),
        results: Mutex::new(BatchResults {
            batches: vec![None; files.len().div_ceil(BATCH_FILES)],
            complete: 0,
            hits: 0,
            total: 0,
            skipped,
        }),
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| job.run());
        }
        job.run();
    });
    cancellation.check()?;
    let is_stopped = job.is_late.load(Ordering::Relaxed);
    let results = job.results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    // Hits after a batch that was not searched to its end are dropped: they might not be the first ones.
    let mut hits = Vec::new();
    for batch in results.batches {
        let Some(batch) = batch else { break };
        hits.extend(batch.hits);
        if batch.is_cut {
            break;
        }
    }
    hits.truncate(limit.saturating_add(1));
    Ok(SearchReport { hits, total: results.total, is_stopped, skipped: results.skipped, hidden })
}

/// A search, shared by its threads.
struct SearchJob<'a> {
    root: &'a Root,
    pattern: &'a Pattern,
    files: &'a [String],
    /// The number of leading files that belong to the page and what follows it; in the others lines are only counted.
    page_files: usize,
    /// The place after which the page begins.
    after: Option<&'a LineKey>,
    limit: usize,
    cancellation: &'a Cancellation,
    deadline: Instant,
    /// Whether the deadline has passed.
    is_late: AtomicBool,
    /// Whether the leading batches have enough hits, so that further lines are only counted.
    is_page_full: AtomicBool,
    /// The next batch to search.
    next: AtomicUsize,
    results: Mutex<BatchResults>,
}

struct BatchResults {
    /// The hits of each batch of files, once it is searched.
    batches: Vec<Option<BatchHits>>,
    /// The number of leading batches that are all searched.
    complete: usize,
    /// The number of hits in those.
    hits: usize,
    /// The number of matching lines in all batches.
    total: usize,
    skipped: SkippedFiles,
}

/// What was found in some files.
#[derive(Clone, Default)]
struct BatchHits {
    hits: Vec<LineHit>,
    /// Whether the search was stopped inside the batch.
    is_cut: bool,
}

/// What a search still collects of a file.
#[derive(Clone, Copy)]
struct Room {
    /// The maximum number of lines; the others are only counted.
    lines: usize,
    /// The line after which the page begins.
    after_line: usize,
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
            let start = batch.saturating_mul(BATCH_FILES);
            let Some(files) = self.files.chunks(BATCH_FILES).nth(batch).filter(|_| self.should_continue())
            else {
                return;
            };
            let (mut count, mut skipped) = (0, Vec::new());
            let hits = self.search_batch(start, files, &mut buffer, &mut count, &mut skipped);
            let mut results = self.results.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            results.total += count;
            skipped.iter().for_each(|(path, error)| results.skipped.add(path, error));
            if let Some(place) = results.batches.get_mut(batch) {
                *place = Some(hits);
            }
            while let Some(Some(batch)) = results.batches.get(results.complete) {
                results.hits += batch.hits.len();
                results.complete += 1;
            }
            if results.hits > self.limit {
                self.is_page_full.store(true, Ordering::Relaxed);
            }
        }
    }

    fn search_batch<'a>(
        &self,
        start: usize,
        files: &'a [String],
        buffer: &mut Vec<u8>,
        count: &mut usize,
        skipped: &mut Vec<(&'a str, ToolError)>,
    ) -> BatchHits {
        let mut found = BatchHits::default();
        let mut folder: Option<Result<Folder, ToolError>> = None;
        for (index, path) in files.iter().enumerate() {
            if !self.should_continue() {
                found.is_cut = true;
                break;
            }
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
            if !matches!(&folder, Some(Ok(folder)) if folder.path == parent) {
                // An empty parent is the root. A parent that is not a valid path is skipped.
                let parent = if parent.is_empty() { Ok(None) } else { RelPath::parse(parent).map(Some) };
                folder = Some(parent.and_then(|parent| self.root.folder(parent.as_ref())));
            }
            let is_in_page = start + index < self.page_files && !self.is_page_full.load(Ordering::Relaxed);
            let room = Room {
                lines: if is_in_page { (self.limit + 1).saturating_sub(found.hits.len()) } else { 0 },
                after_line: self.after.filter(|after| after.path == *path).map_or(0, |after| after.line),
            };
            let searched = match folder.take() {
                Some(Ok(opened)) => {
                    let searched = self.search_file(&opened, name, path, room, buffer);
                    folder = Some(Ok(opened));
                    searched
                }
                Some(Err(error)) => Err(error),
                None => continue,
            };
            match searched {
                Ok((hits, total)) => {
                    found.hits.extend(hits);
                    *count += total;
                }
                Err(error) => skipped.push((path.as_str(), error)),
            }
        }
        found.is_cut |= self.is_late.load(Ordering::Relaxed);
        found
    }

    fn search_file(
        &self,
        folder: &Folder,
        name: &str,
        path: &str,
        room: Room,
        buffer: &mut Vec<u8>,
    ) -> Result<(Vec<LineHit>, usize), ToolError> {
        let mut file = folder.open_file(name)?;
        buffer.clear();
        let (mut hits, mut total, mut line, mut last_line, mut is_first) = (Vec::new(), 0, 1, 0, true);
        loop {
            let room_left = (WINDOW_BYTES - buffer.len().min(WINDOW_BYTES)) as u64;
            let read = file.by_ref().take(room_left).read_to_end(buffer);
            read.map_err(|error| fs::io_error(path, error))?;
            let is_last = buffer.len() < WINDOW_BYTES;
            if std::mem::take(&mut is_first) {
                if !looks_like_utf8(buffer, is_last) {
                    return self.search_decoded(file, path, room, buffer);
                }
                // A byte-order mark is not part of the text.
                if strip_utf8_bom(buffer).1 {
                    buffer.drain(..UTF8_BOM_BYTES);
                }
            }
            let end = if is_last { buffer.len() } else { window_end(buffer, buffer.len() - OVERLAP_BYTES) };
            let (mut counted, mut at, mut is_text) = (0, 0, false);
            while at < buffer.len()
                && let Some((start, stop)) = self.pattern.find_at(buffer, at, &|| self.should_continue())
                && (start < end || (is_last && start < buffer.len()))
            {
                let bounds = line_bounds(buffer, start);
                line += count_breaks(buffer.get(counted..bounds.start).unwrap_or_default());
                counted = bounds.start;
                at = after_break(buffer, bounds.end).max(start + 1);
                let is_new = line > last_line;
                if is_new {
                    // Whether the file is text is only checked when it has a match, because that costs time.
                    if !is_text && !is_utf8(buffer.get(..end).unwrap_or_default(), is_last) {
                        return Err(ToolError::invalid(NOT_TEXT));
                    }
                    is_text = true;
                    last_line = line;
                    total += 1;
                }
                if is_new && line > room.after_line && hits.len() < room.lines {
                    hits.push(line_hit(path, line, buffer, bounds, start..stop));
                }
                if !self.should_continue() {
                    return Ok((hits, total));
                }
            }
            if is_last || !self.should_continue() {
                return Ok((hits, total));
            }
            line += count_breaks(buffer.get(counted..end).unwrap_or_default());
            buffer.drain(..end);
        }
    }

    /// Searches a file that is not UTF-8, of which the buffer has the beginning. It is decoded as a whole.
    fn search_decoded(
        &self,
        file: File,
        path: &str,
        room: Room,
        buffer: &mut Vec<u8>,
    ) -> Result<(Vec<LineHit>, usize), ToolError> {
        let read = file.take(MAX_DECODED_BYTES + 1).read_to_end(buffer);
        read.map_err(|error| fs::io_error(path, error))?;
        let decoded = Some(std::mem::take(buffer)).filter(|bytes| bytes.len() as u64 <= MAX_DECODED_BYTES);
        let decoded = decoded.and_then(decode).ok_or_else(|| ToolError::invalid(NOT_TEXT))?;
        let bytes = decoded.text.as_bytes();
        let (mut hits, mut total, mut line, mut counted, mut at) = (Vec::new(), 0, 1, 0, 0);
        while at < bytes.len()
            && let Some((start, stop)) = self.pattern.find_at(bytes, at, &|| self.should_continue())
            && start < bytes.len()
            && self.should_continue()
        {
            let bounds = line_bounds(bytes, start);
            line += count_breaks(bytes.get(counted..bounds.start).unwrap_or_default());
            counted = bounds.start;
            at = after_break(bytes, bounds.end).max(start + 1);
            total += 1;
            if line > room.after_line && hits.len() < room.lines {
                hits.push(line_hit(path, line, bytes, bounds, start..stop));
            }
        }
        Ok((hits, total))
    }
}

/// The hit of a match on a line.
fn line_hit(path: &str, line: usize, bytes: &[u8], bounds: Range<usize>, found: Range<usize>) -> LineHit {
    let text = String::from_utf8_lossy(bytes.get(bounds.clone()).unwrap_or_default());
    let start = found.start.clamp(bounds.start, bounds.end) - bounds.start;
    let stop = found.end.clamp(bounds.start, bounds.end) - bounds.start;
    LineHit { path: path.to_owned(), start_line: line, snippet: snippet(&text, start, stop) }
}
