//! Pages of lists. A cursor names the last item of a page, so that it stays valid when other items are added or removed, and
//! is sealed with a checksum over the list that it belongs to, so that a cursor of another list is refused.

use std::fmt::Display;
use std::str::FromStr;

use annai_core::ToolError;
use serde::Serialize;

use annai_files::LibraryError;
use annai_files::fs::Sha256;

/// The number of hexadecimal digits of the checksum: enough to recognize a cursor that was changed or belongs elsewhere.
const CHECK_DIGITS: usize = 8;

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    /// The number of items on all pages.
    pub(crate) total: usize,
    /// The cursor of the next page; `None` when this is the last one.
    pub(crate) next_cursor: Option<String>,
}

/// Collects one page of a list whose items arrive in the order of their keys.
pub(crate) struct Pager<K, T> {
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
    pub(crate) fn new(
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
    pub(crate) const fn after(&self) -> Option<&K> {
        self.after.as_ref()
    }

    /// Counts an item, and adds it when it belongs to the page.
    pub(crate) fn add(&mut self, key: K, item: impl FnOnce() -> T) {
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
    pub(crate) fn finish(mut self, is_cut: bool) -> Page<T> {
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
pub(crate) fn fitting<T: Serialize>(items: Vec<T>, max_chars: usize) -> Vec<T> {
    let mut chars = 0;
    let mut fits = |item: &T| {
        chars += json_chars(item);
        chars <= max_chars
    };
    items.into_iter().take_while(|item| fits(item)).collect()
}

#[cfg(test)]
#[path = "pager_tests.rs"]
mod tests;
