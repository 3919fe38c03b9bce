//! The search of one file: it is read in windows, and its matching lines are counted and collected.

use std::fs::File;
use std::io::Read as _;
use std::ops::Range;

use annai_core::ToolError;
use schemars::JsonSchema;
use serde::Serialize;

use super::lines::{after_break, count_breaks, is_utf8, line_bounds, snippet, window_end};
use super::pattern::Pattern;
use annai_files::fs::{self, Folder, RelPath, Root};
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

/// A matching line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct LineHit {
    /// The file's path, relative to its manual or to the vault.
    pub(crate) path: String,
    /// The line, counted from 1.
    pub(crate) start_line: usize,
    /// The line; of a long line only the part around the match.
    pub(crate) snippet: String,
}

/// The matching lines of a file, as far as it was searched.
pub(super) struct FileHits<'a> {
    pub(super) path: &'a str,
    /// The maximum number of lines to collect; the others are only counted.
    pub(super) max_hits: usize,
    /// The line after which the page begins.
    pub(super) after_line: usize,
    pub(super) hits: Vec<LineHit>,
    pub(super) total: usize,
    /// The line that was reached.
    pub(super) line: usize,
    pub(super) last_match: usize,
}

/// What the searches of files need, one after another.
pub(super) struct FileSearch<'a> {
    pub(super) root: &'a Root,
    pub(super) pattern: &'a Pattern,
    /// The folder of the file before, which is mostly the same.
    pub(super) folder: Option<Folder>,
    /// Whether the search goes on; asked between windows and matches.
    pub(super) should_continue: &'a dyn Fn() -> bool,
}

impl FileSearch<'_> {
    fn open(&mut self, path: &str) -> Result<File, ToolError> {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let opened = match self.folder.take().filter(|folder| folder.path == parent) {
            Some(folder) => folder,
            // An empty parent is the root.
            None if parent.is_empty() => self.root.folder(None)?,
            None => self.root.folder(Some(&RelPath::parse(parent)?))?,
        };
        self.folder.insert(opened).open_file(name)
    }

    /// Searches a file, in windows of `buffer`.
    pub(super) fn search(&mut self, found: &mut FileHits<'_>, buffer: &mut Vec<u8>) -> Result<(), ToolError> {
        let mut file = self.open(found.path)?;
        buffer.clear();
        let mut is_first = true;
        loop {
            let room_left = (WINDOW_BYTES - buffer.len().min(WINDOW_BYTES)) as u64;
            let read = file.by_ref().take(room_left).read_to_end(buffer);
            read.map_err(|error| fs::io_error(found.path, error))?;
            let is_last = buffer.len() < WINDOW_BYTES;
            if std::mem::take(&mut is_first) {
                if !looks_like_utf8(buffer, is_last) {
                    return self.search_decoded(file, found, buffer);
                }
                // A byte-order mark is not part of the text.
                if strip_utf8_bom(buffer).1 {
                    buffer.drain(..UTF8_BOM_BYTES);
                }
            }
            let end = if is_last { buffer.len() } else { window_end(buffer, buffer.len() - OVERLAP_BYTES) };
            let is_text = || is_utf8(buffer.get(..end).unwrap_or_default(), is_last);
            self.search_window(buffer, end, &is_text, found)?;
            if is_last || !(self.should_continue)() {
                return Ok(());
            }
            buffer.drain(..end);
        }
    }

    /// Searches a file that is not UTF-8, of which the buffer has the beginning. It is decoded as a whole.
    fn search_decoded(
        &self,
        file: File,
        found: &mut FileHits<'_>,
        buffer: &mut Vec<u8>,
    ) -> Result<(), ToolError> {
        let read = file.take(MAX_DECODED_BYTES + 1).read_to_end(buffer);
        read.map_err(|error| fs::io_error(found.path, error))?;
        let decoded = Some(std::mem::take(buffer)).filter(|bytes| bytes.len() as u64 <= MAX_DECODED_BYTES);
        let decoded = decoded.and_then(decode).ok_or_else(|| ToolError::invalid(NOT_TEXT))?;
        self.search_window(decoded.text.as_bytes(), decoded.text.len(), &|| true, found)
    }

    /// Searches a window of a file for matches that begin before `end`.
    fn search_window(
        &self,
        bytes: &[u8],
        end: usize,
        is_text: &dyn Fn() -> bool,
        found: &mut FileHits<'_>,
    ) -> Result<(), ToolError> {
        let (mut counted, mut at, mut is_checked) = (0, 0, false);
        while at < bytes.len()
            && let Some((start, stop)) = self.pattern.find_at(bytes, at, self.should_continue)
            && start < end
            && (self.should_continue)()
        {
            let bounds = line_bounds(bytes, start);
            found.line += count_breaks(bytes.get(counted..bounds.start).unwrap_or_default());
            counted = bounds.start;
            at = after_break(bytes, bounds.end).max(start + 1);
            // Windows overlap, so that the line may have been found in the one before.
            if found.line == found.last_match {
                continue;
            }
            // Whether the file is text is only checked when it has a match, because that costs time.
            if !is_checked && !is_text() {
                return Err(ToolError::invalid(NOT_TEXT));
            }
            (is_checked, found.last_match) = (true, found.line);
            found.total += 1;
            if found.line > found.after_line && found.hits.len() < found.max_hits {
                found.hits.push(line_hit(found.path, found.line, bytes, bounds, start..stop));
            }
        }
        found.line += count_breaks(bytes.get(counted..end).unwrap_or_default());
        Ok(())
    }
}

/// The hit of a match on a line.
fn line_hit(path: &str, line: usize, bytes: &[u8], bounds: Range<usize>, found: Range<usize>) -> LineHit {
    let text = String::from_utf8_lossy(bytes.get(bounds.clone()).unwrap_or_default());
    let start = found.start.clamp(bounds.start, bounds.end) - bounds.start;
    let stop = found.end.clamp(bounds.start, bounds.end) - bounds.start;
    LineHit { path: path.to_owned(), start_line: line, snippet: snippet(&text, start, stop) }
}
