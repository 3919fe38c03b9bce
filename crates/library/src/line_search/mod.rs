//! Line search in vault files at the speed of a good grep: it matches raw bytes with a linear-time engine, on several
//! threads. All matching lines are counted; the lines of one page are returned.

mod file_search;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod lines;
mod pattern;
mod reach;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use annai_core::ToolError;

pub(crate) use self::file_search::LineHit;
use self::file_search::{FileHits, FileSearch};
pub(crate) use self::lines::snippet;
pub(crate) use self::pattern::{CompiledQuery, Pattern, SearchMode};
use crate::paging::{LineKey, SkippedFiles};
use annai_core::cancellation::Cancellation;
use annai_files::FileFilter;
use annai_files::fs::{self, EntryKind, Membership, Root, UnsearchableReason};
use annai_files::vault::visibility;

/// The maximum time of a search, because large patterns take long and clients seldom wait longer. What was found by then is
/// returned, and the reply says that the search was stopped.
const MAX_SEARCH_TIME: Duration = Duration::from_secs(20);
/// Threads take 32 files at a time: few enough to share the work evenly, many enough to seldom contend for more.
const BATCH_FILES: usize = 32;
/// The maximum number of threads of one search; more would mostly wait for the disk.
const MAX_THREADS: usize = 8;

/// The result of a search.
#[derive(Debug, Default)]
pub(crate) struct SearchReport {
    /// The first matching lines after the requested place, sorted by path and line number: one more than the limit, if there
    /// are as many.
    pub(crate) hits: Vec<LineHit>,
    /// The number of matching lines in all files; a lower bound when the search was stopped.
    pub(crate) total: usize,
    /// Whether the search was stopped after its maximum time.
    pub(crate) is_stopped: bool,
    /// The files that are not text or could not be read.
    pub(crate) skipped: SkippedFiles,
    /// The number of hidden files and folders that were not searched.
    pub(crate) hidden: usize,
}

/// Searches the files of a root, and returns the first `limit` lines, and one more, after a place.
pub(crate) fn search(
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
            batches: files.chunks(BATCH_FILES).map(|_| None).collect(),
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
    is_late: AtomicBool,
    /// Whether the leading batches have enough hits, so that further lines are only counted.
    is_page_full: AtomicBool,
    next: AtomicUsize,
    results: Mutex<BatchResults<'a>>,
}

struct BatchResults<'a> {
    /// The hits of each batch of files, once it is searched.
    batches: Vec<Option<BatchHits<'a>>>,
    /// The number of matching lines in all batches.
    total: usize,
    skipped: SkippedFiles,
}

/// What was found in some files.
#[derive(Default)]
struct BatchHits<'a> {
    hits: Vec<LineHit>,
    total: usize,
    skipped: Vec<(&'a str, ToolError)>,
    /// Whether the search was stopped inside the batch.
    is_cut: bool,
}

impl<'a> SearchJob<'a> {
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
            let mut found = self.search_batch(start, files, &mut buffer);
            let mut results = self.results.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            results.total += found.total;
            found.skipped.drain(..).for_each(|(path, error)| results.skipped.add(path, &error));
            if let Some(place) = results.batches.get_mut(batch) {
                *place = Some(found);
            }
            let leading = results.batches.iter().map_while(Option::as_ref);
            if leading.map(|batch| batch.hits.len()).sum::<usize>() > self.limit {
                self.is_page_full.store(true, Ordering::Relaxed);
            }
        }
    }

    fn search_batch(&self, start: usize, files: &'a [String], buffer: &mut Vec<u8>) -> BatchHits<'a> {
        let mut found = BatchHits::default();
        let should_continue = || self.should_continue();
        let mut search = FileSearch {
            root: self.root,
            pattern: self.pattern,
            folder: None,
            should_continue: &should_continue,
        };
        for (index, path) in files.iter().enumerate() {
            if !self.should_continue() {
                found.is_cut = true;
                break;
            }
            let is_in_page = start + index < self.page_files && !self.is_page_full.load(Ordering::Relaxed);
            let mut hits = FileHits {
                path,
                max_hits: if is_in_page { (self.limit + 1).saturating_sub(found.hits.len()) } else { 0 },
                after_line: self.after.filter(|after| after.path == *path).map_or(0, |after| after.line),
                hits: Vec::new(),
                total: 0,
                line: 1,
                last_match: 0,
            };
            match search.search(&mut hits, buffer) {
                Ok(()) => {
                    found.hits.append(&mut hits.hits);
                    found.total += hits.total;
                }
                Err(error) => found.skipped.push((path, error)),
            }
        }
        found.is_cut |= self.is_late.load(Ordering::Relaxed);
        found
    }
}
