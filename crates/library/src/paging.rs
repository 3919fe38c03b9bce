//! Pages of lists. A cursor names the last item of a page, so that it stays valid when other items are added or removed, and
//! is sealed with a checksum over the list that it belongs to, so that a cursor of another list is refused.

use std::fmt::Display;
use std::str::FromStr;

use annai_core::ToolError;
use schemars::JsonSchema;
use serde::Serialize;

use annai_files::LibraryError;
use annai_files::fs::Sha256;

/// The number of hexadecimal digits of the checksum: enough to recognize a cursor that was changed or belongs elsewhere.
const CHECK_DIGITS: usize = 8;
/// The maximum number of skipped files that are named; all of them are counted.
const MAX_NAMED_SKIPS: usize = 20;
/// The maximum size of their names and reasons, because the items of the list may fill the reply; further files are only
/// counted.
const MAX_NAMED_CHARS: usize = 2000;

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The items of the page.
    pub items: Vec<T>,
    /// The number of items on all pages.
    pub total: usize,
    /// The cursor of the next page; `None` when this is the last one.
    pub next_cursor: Option<String>,
}

/// Collects one page of a list whose items arrive in the order of their keys.
pub struct Pager<K, T> {
    /// What the list shows, for the checksum.
    list: String,
    /// The last key of the page before.
    after: Option<K>,
    limit: usize,
    max_chars: usize,
    chars: usize,
    last: Option<K>,
    is_full: bool,
    page: Page<T>,
}

impl<K: Ord + Display + FromStr, T: Serialize> Pager<K, T> {
    /// A page of at most `limit` items and `max_chars` characters of JSON. `list` is everything that decides which items the
    /// list has, such as the name and the other arguments of the tool.
    pub fn new(
        list: &[&str],
        cursor: Option<&str>,
        limit: Option<usize>,
        max_chars: usize,
    ) -> Result<Self, ToolError> {
        let list = list.join("\0");
        let after = cursor.map(|cursor| {
            let (check, key) = cursor.split_once(':')?;
            let key = Some(key).filter(|key| checksum(&list, key) == check)?;
            key.parse().ok()
        });
        let after = after.map(|key| {
            let problem = "expected the next_cursor of a call of the same tool with the same other arguments";
            key.ok_or_else(|| LibraryError::invalid("cursor", problem))
        });
        Ok(Self {
            list,
            after: after.transpose()?,
            limit: limit.unwrap_or(usize::MAX),
            max_chars,
            chars: 0,
            last: None,
            is_full: false,
            page: Page { items: Vec::new(), total: 0, next_cursor: None },
        })
    }

    /// The last key of the page before.
    pub const fn after(&self) -> Option<&K> {
        self.after.as_ref()
    }

    /// Counts an item, and adds it when it belongs to the page.
    pub fn add(&mut self, key: K, item: impl FnOnce() -> T) {
        self.page.total += 1;
        if self.is_full || self.after.as_ref().is_some_and(|after| key <= *after) {
            return;
        }
        if self.page.items.len() >= self.limit {
            self.is_full = true;
            return;
        }
        let item = item();
        let chars = json_chars(&item);
        // A page has at least one item, because a caller could not get past it otherwise.
        if self.chars + chars > self.max_chars && !self.page.items.is_empty() {
            self.is_full = true;
            return;
        }
        self.chars += chars;
        self.page.items.push(item);
        self.last = Some(key);
    }

    /// The page. With `is_cut`, the list goes on although no further item arrived.
    pub fn finish(mut self, is_cut: bool) -> Page<T> {
        if let Some(last) = self.last.filter(|_| self.is_full || is_cut) {
            let key = last.to_string();
            self.page.next_cursor = Some(format!("{}:{key}", checksum(&self.list, &key)));
        }
        self.page
    }
}

fn checksum(list: &str, key: &str) -> String {
    let mut digits = Sha256::of(format!("{list}\0\0{key}").as_bytes()).to_string();
    digits.truncate(CHECK_DIGITS);
    digits
}

/// The number of characters of an item in a JSON list.
fn json_chars(item: &impl Serialize) -> usize {
    serde_json::to_string(item).map_or(0, |json| json.chars().count() + 1)
}

/// As many of the first items as fit into `max_chars` characters of JSON.
pub fn fitting<T: Serialize>(items: Vec<T>, max_chars: usize) -> Vec<T> {
    let mut chars = 0;
    let mut fits = |item: &T| {
        chars += json_chars(item);
        chars <= max_chars
    };
    items.into_iter().take_while(|item| fits(item)).collect()
}

/// The key of a file of a manual.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileKey {
    /// The id of the manual, which contains no `/`.
    pub manual_id: String,
    /// The path in the manual.
    pub path: String,
}

impl Display for FileKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.manual_id, self.path)
    }
}

impl FromStr for FileKey {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (manual_id, path) = text.split_once('/').ok_or(())?;
        Ok(Self { manual_id: manual_id.to_owned(), path: path.to_owned() })
    }
}

/// The key of a line of a file, or of a place in that line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineKey {
    /// The path of the file.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// How many characters of the line come before the place.
    pub char: usize,
}

impl Display for LineKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}#L{}", self.path, self.line)?;
        if self.char > 0 { write!(f, ".{}", self.char) } else { Ok(()) }
    }
}

impl FromStr for LineKey {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (path, place) = text.rsplit_once("#L").unwrap_or((text, ""));
        let (line, char) = place.split_once('.').unwrap_or((place, "0"));
        Ok(Self { path: path.to_owned(), line: line.parse()?, char: char.parse()? })
    }
}

/// A file that a list or a search left out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct SkippedFile {
    /// The file's path, relative to its manual or to the vault.
    pub path: String,
    /// Why it was left out.
    pub reason: String,
}

/// The files that a list or a search left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkippedFiles {
    /// The first of them, by path.
    named: Vec<SkippedFile>,
    /// The number of all of them.
    pub count: usize,
}

impl SkippedFiles {
    /// Files that are counted and not named.
    pub const fn unnamed(count: usize) -> Self {
        Self { named: Vec::new(), count }
    }

    /// Adds a file.
    pub fn add(&mut self, path: &str, error: &ToolError) {
        let reason = error.message();
        self.name(path, reason.strip_prefix(path).unwrap_or(reason).trim_start());
    }

    /// Adds a file with a reason.
    pub fn name(&mut self, path: &str, reason: &str) {
        self.count += 1;
        let skipped = SkippedFile { path: path.to_owned(), reason: reason.to_owned() };
        let place = self.named.partition_point(|known| *known < skipped);
        if place < MAX_NAMED_SKIPS {
            self.named.insert(place, skipped);
            self.named.truncate(MAX_NAMED_SKIPS);
        }
    }

    /// The files to name in a reply.
    pub fn into_named(self) -> Vec<SkippedFile> {
        fitting(self.named, MAX_NAMED_CHARS)
    }
}

#[cfg(test)]
#[path = "paging_tests.rs"]
mod tests;
