//! What has been scanned of which file, so that a scan in many calls can say in the end what it covered.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use annai_core::Principal;

use crate::fs::Sha256;
use crate::ranges::{LineRange, merged};

/// So many files are remembered.
const MOST_FILES: usize = 256;
/// So many separate ranges of one file are remembered.
const MOST_RANGES: usize = 1000;

/// What was scanned by whom, of which version of which file.
#[derive(Default)]
pub struct Scans {
    files: Mutex<Files>,
}

#[derive(Default)]
struct Files {
    clock: u64,
    by_file: HashMap<Key, Entry>,
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    identity: String,
    path: String,
    version: String,
}

/// What is known of one version of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    used: u64,
    /// The lines that were given to the caller.
    pub scanned: Vec<LineRange>,
    /// The lines that the caller said to rely on.
    pub cited: Vec<LineRange>,
    /// What the caller makes of it.
    pub artifact: Option<String>,
    /// Whether that was audited against it.
    pub audited: bool,
}

impl Entry {
    /// All lines that were scanned or cited.
    pub fn lines(&self) -> Vec<LineRange> {
        merged(self.scanned.iter().chain(&self.cited).copied().collect())
    }
}

impl Scans {
    /// Notes something about a version of a file, and gives all that is known of it.
    pub fn note(
        &self,
        identity: &Principal,
        path: &str,
        version: &Sha256,
        change: impl FnOnce(&mut Entry),
    ) -> Entry {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.clock += 1;
        let now = files.clock;
        let key =
            Key { identity: format!("{identity:?}"), path: path.to_owned(), version: version.to_string() };
        if files.by_file.len() >= MOST_FILES && !files.by_file.contains_key(&key) {
            let oldest = files.by_file.values().map(|entry| entry.used).min().unwrap_or_default();
            files.by_file.retain(|_, entry| entry.used != oldest);
        }
        let entry = files.by_file.entry(key).or_default();
        entry.used = now;
        change(entry);
        for ranges in [&mut entry.scanned, &mut entry.cited] {
            *ranges = merged(std::mem::take(ranges));
            ranges.truncate(MOST_RANGES);
        }
        entry.clone()
    }

    /// Notes lines that were given to the caller.
    pub fn add(&self, identity: &Principal, path: &str, version: &Sha256, range: LineRange) -> Entry {
        self.note(identity, path, version, |entry| entry.scanned.push(range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start_line: u64, end_line: u64) -> LineRange {
        LineRange { start_line, end_line }
    }

    #[test]
    fn scans_add_up_per_version() {
        let (scans, one, two) = (Scans::default(), Sha256::of(b"1"), Sha256::of(b"2"));
        assert_eq!(scans.add(&Principal::Owner, "a", &one, range(1, 80)).scanned, [range(1, 80)]);
        assert_eq!(scans.add(&Principal::Owner, "a", &one, range(81, 90)).scanned, [range(1, 90)]);
        assert_eq!(scans.add(&Principal::Owner, "a", &two, range(5, 6)).scanned, [range(5, 6)]);
        assert_eq!(scans.add(&Principal::Anonymous, "a", &one, range(5, 6)).scanned, [range(5, 6)]);
        for number in 0..1000 {
            scans.add(&Principal::Owner, &number.to_string(), &one, range(1, 1));
        }
        assert!(scans.files.lock().unwrap().by_file.len() <= MOST_FILES);
    }
}
