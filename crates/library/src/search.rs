//! Lines of vault files that hold something, at the speed of a good grep: raw bytes, literal prefilters, a linear-time
//! engine, all cores, and no more files than the limit needs.

use std::io::Read as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use annai_core::ToolError;
use globset::{GlobBuilder, GlobMatcher};
use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fs::{self, Folder, Kind, RelPath, Root, nfc};
use crate::text::{cut, loose_pattern};
use crate::toolset::Wanted;
use crate::vault::is_open;

/// How large a compiled pattern may be.
const MOST_PATTERN_BYTES: usize = 4 << 20;
/// So much of a file is held at once.
const WINDOW: usize = 32 << 20;
/// So much of it stays when the next part comes, so that a match may lie across.
const OVERLAP: usize = 1 << 20;
/// Longer lines are shown in part.
const MOST_SNIPPET_CHARS: usize = 240;
/// So long a search takes at most.
const MOST_TIME: Duration = Duration::from_secs(20);
/// A loose query is a few words.
const MOST_LOOSE_CHARS: usize = 1000;
/// So many files are taken at a time.
const BATCH: usize = 32;

/// How a query is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    Regex,
    Plain,
    Loose,
}

/// A query, ready to be looked for.
pub enum Pattern {
    /// These bytes.
    Literal(Box<Finder<'static>>),
    /// What this describes.
    Regex(Regex),
}

impl Pattern {
    /// Reads a query. A regular expression that is none is looked for as it stands.
    pub fn new(query: &str, mode: Mode) -> Result<Self, ToolError> {
        let literal = || Self::Literal(Box::new(Finder::new(query.as_bytes()).into_owned()));
        let pattern = match mode {
            Mode::Plain => return Ok(literal()),
            Mode::Regex => query.to_owned(),
            Mode::Loose if query.chars().count() > MOST_LOOSE_CHARS => {
                let sentence = format!("query: expected at most {MOST_LOOSE_CHARS} characters in mode loose");
                return Err(ToolError::invalid(sentence));
            }
            Mode::Loose => match loose_pattern(query) {
                Some(pattern) => pattern,
                None => {
                    return Err(ToolError::invalid("query: expected letters or digits, got only separators"));
                }
            },
        };
        let mut builder = RegexBuilder::new(&pattern);
        builder.case_insensitive(true).multi_line(true).crlf(true);
        match builder.size_limit(MOST_PATTERN_BYTES).dfa_size_limit(MOST_PATTERN_BYTES).build() {
            Ok(regex) => Ok(Self::Regex(regex)),
            Err(regex::Error::CompiledTooBig(_)) => {
                Err(ToolError::invalid("query: the pattern is too large; make it shorter, or use mode plain"))
            }
            Err(_) => Ok(literal()),
        }
    }

    fn find_at(&self, bytes: &[u8], start: usize) -> Option<(usize, usize)> {
        match self {
            Self::Literal(finder) => {
                let at = finder.find(bytes.get(start..)?)? + start;
                Some((at, at + finder.needle().len()))
            }
            Self::Regex(regex) => regex.find_at(bytes, start).map(|found| (found.start(), found.end())),
        }
    }
}

/// Which files are looked into.
pub struct Where {
    folder: Option<RelPath>,
    glob: Option<(GlobMatcher, Fits)>,
}

/// What a glob is held against, and which way.
#[derive(Clone, Copy)]
struct Fits {
    whole_path: bool,
    wanted: bool,
}

impl Where {
    /// Below a folder (`None` = everywhere), and only files that fit `glob`; `!` in front turns it round.
    pub fn new(folder: Option<RelPath>, glob: Option<&str>) -> Result<Self, ToolError> {
        let glob = glob.map(|text| {
            let (text, wanted) = text.strip_prefix('!').map_or((text, true), |rest| (rest, false));
            let text = nfc(&text.replace('\\', "/"));
            let text = text.trim_start_matches("./").trim_start_matches('/');
            // What is left out without a wildcard is one file, wherever others of its name are.
            let whole_path = text.contains('/') || (!wanted && !text.contains(['*', '?', '[', '{']));
            let built = GlobBuilder::new(text).literal_separator(true).build();
            let built = built.map_err(|error| ToolError::invalid(format!("glob: {}", error.kind())))?;
            Ok::<_, ToolError>((built.compile_matcher(), Fits { whole_path, wanted }))
        });
        Ok(Self { folder, glob: glob.transpose()? })
    }

    /// Whether a file is one of them, by its path from the root.
    pub fn has(&self, path: &str) -> bool {
        let inside = self.folder.as_ref().is_none_or(|folder| {
            nfc(path).strip_prefix(&nfc(folder.as_str())).is_some_and(|rest| rest.starts_with('/'))
        });
        inside && self.fits(path)
    }

    /// Whether any glob is set.
    pub fn has_glob(&self) -> bool {
        self.glob.is_some()
    }

    /// The folder that it is limited to.
    pub fn folder(&self) -> Option<&RelPath> {
        self.folder.as_ref()
    }

    fn fits(&self, path: &str) -> bool {
        self.glob.as_ref().is_none_or(|(glob, fits)| {
            let path = &nfc(path);
            let name = path.rsplit('/').next().unwrap_or(path);
            glob.is_match(if fits.whole_path { path } else { name }) == fits.wanted
        })
    }
}

/// A line that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Hit {
    /// The file.
    pub path: String,
    /// The line, from 1.
    pub start_line: usize,
    /// The line, or what stands around the match where it is long.
    pub snippet: String,
}

/// What a search gives.
#[derive(Debug, Default)]
pub struct Found {
    /// The lines, by path and number.
    pub hits: Vec<Hit>,
    /// Whether the limit left some out.
    pub more: bool,
    /// Files that are no text or could not be read.
    pub skipped: usize,
}

/// Searches the files of a root.
pub fn search(
    root: &Root,
    pattern: &Pattern,
    place: &Where,
    limit: usize,
    wanted: &Wanted,
) -> Result<Found, ToolError> {
    let top = root.folder(place.folder.as_ref())?;
    let listing = fs::files(&top, &|path, kind| is_open(path) && (kind == Kind::Folder || place.fits(path)))?;
    let files = &listing.files;
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(8)
        .min(files.len().div_ceil(BATCH).max(1));
    let job = Job {
        root,
        pattern,
        files,
        limit,
        wanted,
        end: Instant::now() + MOST_TIME,
        late: AtomicBool::new(false),
        next: AtomicUsize::new(0),
        skipped: AtomicUsize::new(listing.unreadable),
        done: Mutex::new(Done { batches: vec![None; files.len().div_ceil(BATCH)], ready: 0, found: 0 }),
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| job.work());
        }
        job.work();
    });
    wanted.check()?;
    let (skipped, late) = (job.skipped.load(Ordering::Relaxed), job.late.load(Ordering::Relaxed));
    let done = job.done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    // What lies behind a batch that was never looked at would not be the first.
    let mut hits: Vec<Hit> = done.batches.into_iter().map_while(|batch| batch).flatten().collect();
    let more = late || hits.len() > limit;
    hits.truncate(limit);
    Ok(Found { hits, more, skipped })
}

/// One search, shared by the threads that do it.
struct Job<'a> {
    root: &'a Root,
    pattern: &'a Pattern,
    files: &'a [String],
    limit: usize,
    wanted: &'a Wanted,
    end: Instant,
    /// Whether time ran out.
    late: AtomicBool,
    next: AtomicUsize,
    skipped: AtomicUsize,
    done: Mutex<Done>,
}

struct Done {
    /// The hits of each batch of files, once it is searched.
    batches: Vec<Option<Vec<Hit>>>,
    /// How many batches from the first on are searched.
    ready: usize,
    /// How many hits those have.
    found: usize,
}

impl Job<'_> {
    /// Whether to go on: somebody waits, and there is time. A pattern that reads on and on from every place it matches
    /// at has no other bound.
    fn goes_on(&self) -> bool {
        let late = Instant::now() > self.end;
        if late {
            self.late.store(true, Ordering::Relaxed);
        }
        !late && self.wanted.check().is_ok()
    }

    fn work(&self) {
        let mut buffer = Vec::new();
        loop {
            let batch = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(files) = self.files.chunks(BATCH).nth(batch).filter(|_| self.goes_on()) else { return };
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

    fn search_batch(&self, files: &[String], buffer: &mut Vec<u8>) -> Vec<Hit> {
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
    ) -> Result<Vec<Hit>, ToolError> {
        let mut file = folder.open_file(name)?;
        buffer.clear();
        let (mut hits, mut line, mut last_line) = (Vec::new(), 1, 0);
        loop {
            let room_left = (WINDOW - buffer.len().min(WINDOW)) as u64;
            let read = file.by_ref().take(room_left).read_to_end(buffer);
            read.map_err(|error| fs::io_problem(path, error))?;
            let last = buffer.len() < WINDOW;
            let end = if last { buffer.len() } else { window_end(buffer, buffer.len() - OVERLAP) };
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
                        return Err(not_text());
                    }
                    is_text = true;
                    last_line = line;
                    let text = String::from_utf8_lossy(buffer.get(bounds.clone()).unwrap_or_default());
                    let start = start.clamp(bounds.start, bounds.end) - bounds.start;
                    let stop = stop.clamp(bounds.start, bounds.end) - bounds.start;
                    hits.push(Hit {
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

/// Whether bytes are text; where more follow, their last character may be cut.
fn is_utf8(bytes: &[u8], whole: bool) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => !whole && error.error_len().is_none(),
    }
}

fn not_text() -> ToolError {
    ToolError::invalid("not UTF-8 text")
}

/// Where a window can end at or before a byte: behind a line where there is one, else between two characters.
fn window_end(bytes: &[u8], at: usize) -> usize {
    let before = bytes.get(..at).unwrap_or_default();
    if let Some(end) = memchr::memrchr(b'\n', before) {
        return end + 1;
    }
    let starts = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xc0 != 0x80 && *byte != b'\n');
    (at.saturating_sub(8)..=at).rev().find(starts).unwrap_or(at)
}

/// The line around a byte, without its break.
fn line_bounds(bytes: &[u8], at: usize) -> std::ops::Range<usize> {
    // The second half of a break belongs to the line before it.
    let pair = bytes.get(at) == Some(&b'\n')
        && at.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b'\r');
    let at = if pair { at - 1 } else { at };
    let start = memchr::memrchr2(b'\n', b'\r', bytes.get(..at).unwrap_or_default()).map_or(0, |end| end + 1);
    let rest = bytes.get(at..).unwrap_or_default();
    let end = memchr::memchr2(b'\n', b'\r', rest).map_or(bytes.len(), |end| at + end);
    start.min(end)..end
}

fn after_break(bytes: &[u8], end: usize) -> usize {
    match (bytes.get(end), bytes.get(end + 1)) {
        (Some(b'\r'), Some(b'\n')) => end + 2,
        _ => end + 1,
    }
}

/// How many line breaks there are.
fn breaks(bytes: &[u8]) -> usize {
    let feeds = memchr::memchr_iter(b'\n', bytes).count();
    let lone = memchr::memchr_iter(b'\r', bytes).filter(|at| bytes.get(at + 1) != Some(&b'\n')).count();
    feeds + lone
}

/// The line, or the part of a long one around the match.
pub fn snippet(line: &str, start: usize, stop: usize) -> String {
    if line.chars().nth(MOST_SNIPPET_CHARS).is_none() {
        return line.trim().to_owned();
    }
    let before = line.get(..start).unwrap_or_default();
    let matched = line.get(start..stop.max(start)).map_or(0, |matched| matched.chars().count());
    let lead = MOST_SNIPPET_CHARS.saturating_sub(matched) / 2;
    let from = match lead.checked_sub(1) {
        Some(lead) => before.char_indices().rev().nth(lead).map_or(0, |(at, _)| at),
        None => start,
    };
    let (shown, _) = cut(line.get(from..).unwrap_or_default(), MOST_SNIPPET_CHARS);
    shown.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_end_between_characters() {
        let text = "あ".repeat(10);
        for at in 9..30 {
            assert!(text.is_char_boundary(window_end(text.as_bytes(), at)), "{at}");
        }
        assert_eq!((window_end(b"ab\ncd", 4), window_end(b"abc\r\nd", 4)), (3, 3));
    }

    #[test]
    fn globs_fit_names_or_paths() {
        let fits = |glob: &str, path: &str| Where::new(None, Some(glob)).unwrap().fits(path);
        assert!(fits("*.md", "a/b.md") && fits("a/*.md", "a/b.md") && fits("**/*.md", "a/b/c.md"));
        assert!(!fits("a/*.md", "a/b/c.md") && !fits("*.txt", "a.md"));
        assert!(!fits("!a.md", "a.md") && fits("!a.md", "b/a.md") && !fits("!*.md", "b/a.md"));
        assert!(fits("!*.txt", "a.md") && !fits("!a/b.md", "a/b.md") && fits("*.{md,json}", "x.json"));
        assert!(Where::new(None, Some("a[")).is_err());
        assert!(fits("がく*.md", "か\u{3099}くX.md") && fits(".\\a\\*.md", "a/b.md"));
    }

    #[test]
    fn breaks_count_once() {
        assert_eq!(breaks(b"a\r\nb\nc\rd"), 3);
        assert_eq!((line_bounds(b"a\r\nbc\r\n", 4), line_bounds(b"a\r\nbc\r\n", 0)), (3..5, 0..1));
        assert_eq!((line_bounds(b"a\r\nbc\r\n", 2), line_bounds(b"a\r\nbc\r\n", 6)), (0..1, 3..5));
    }

    #[test]
    fn long_lines_are_shown_around_the_match() {
        let line = format!("{}needle{}", "あ".repeat(500), "い".repeat(500));
        let start = line.find("needle").unwrap();
        let shown = snippet(&line, start, start + 6);
        assert!(shown.contains("needle") && shown.chars().count() == MOST_SNIPPET_CHARS, "{shown}");
        assert_eq!(snippet("  short  ", 2, 7), "short");
    }
}
