//! Remembers which lines of which file a caller has scanned or cited, so that a scan over many calls knows its coverage.

use std::time::{Duration, Instant};

use annai_core::{BoundedStore, Principal, StoreLimits};

use crate::fs::Sha256;
use crate::ranges::{LineRange, merged};

/// The maximum number of file versions that are remembered, for all callers together. Beyond it, the one that was updated
/// longest ago is forgotten, and its lines are suggested again.
const MAX_FILES: usize = 256;
/// The maximum number of separate ranges of one file that are remembered. A scan has no gaps, so a file usually has one or
/// a few; ranges beyond it are forgotten, and count as not scanned.
const MAX_RANGES: usize = 1000;

/// The scans of all callers, by principal, file and version.
pub struct ScanStore {
    files: BoundedStore<ScanKey, ScanRecord>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ScanKey {
    principal: Principal,
    path: String,
    /// The SHA-256 of the file.
    version: [u8; 32],
}

/// What a caller has done with one version of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScanRecord {
    /// The lines that were returned to the caller.
    pub scanned: Vec<LineRange>,
    /// The lines that the caller cited.
    pub cited: Vec<LineRange>,
    /// The artifact that the caller makes from the file.
    pub artifact: Option<String>,
    /// Whether an artifact was audited against this version.
    pub is_audited: bool,
}

impl ScanRecord {
    /// All lines that were scanned or cited.
    pub fn lines(&self) -> Vec<LineRange> {
        merged(self.scanned.iter().chain(&self.cited).copied().collect())
    }
}

impl Default for ScanStore {
    fn default() -> Self {
        let limits = StoreLimits { entries: MAX_FILES, bytes: usize::MAX, time_to_live: Duration::MAX };
        Self { files: BoundedStore::new(limits) }
    }
}

impl ScanStore {
    /// Changes the record of a file version, and returns it.
    pub fn update(
        &self,
        principal: &Principal,
        path: &str,
        version: &Sha256,
        now: Instant,
        change: impl FnOnce(&mut ScanRecord),
    ) -> ScanRecord {
        let key = ScanKey { principal: principal.clone(), path: path.to_owned(), version: version.bytes() };
        let change = |record: &mut ScanRecord| {
            change(record);
            for ranges in [&mut record.scanned, &mut record.cited] {
                *ranges = merged(std::mem::take(ranges));
                ranges.truncate(MAX_RANGES);
            }
        };
        self.files.update(key, now, change, |_| 0)
    }

    /// Records lines that were returned to the caller.
    pub fn add_scanned(
        &self,
        principal: &Principal,
        path: &str,
        version: &Sha256,
        range: LineRange,
        now: Instant,
    ) -> ScanRecord {
        self.update(principal, path, version, now, |record| record.scanned.push(range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start_line: u64, end_line: u64) -> LineRange {
        LineRange { start_line, end_line }
    }

    #[test]
    fn scanned_lines_are_merged_per_principal_and_version() {
        let (scans, now) = (ScanStore::default(), Instant::now());
        let (one, two) = (Sha256::of(b"1"), Sha256::of(b"2"));
        let add = |principal: Principal, version: &Sha256, range| {
            scans.add_scanned(&principal, "a", version, range, now).scanned
        };
        assert_eq!(add(Principal::Owner, &one, range(1, 80)), [range(1, 80)]);
        assert_eq!(add(Principal::Owner, &one, range(81, 90)), [range(1, 90)]);
        assert_eq!(add(Principal::Owner, &two, range(5, 6)), [range(5, 6)]);
        assert_eq!(add(Principal::Anonymous, &one, range(5, 6)), [range(5, 6)]);
    }

    #[test]
    fn the_number_of_remembered_files_is_bounded() {
        let (scans, now, version) = (ScanStore::default(), Instant::now(), Sha256::of(b"1"));
        for number in 0..1000 {
            scans.add_scanned(&Principal::Owner, &number.to_string(), &version, range(1, 1), now);
        }
        assert_eq!(scans.files.len(), MAX_FILES);
    }
}
