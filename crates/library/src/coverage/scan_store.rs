//! Remembers which lines of which file a caller has scanned or cited, so that a scan over many calls knows its coverage.

use std::time::{Duration, Instant};

use annai_core::{BoundedStore, Principal, StoreLimits};

use crate::reading::{LineRange, merged};
use annai_files::FileVersion;

/// The maximum number of file versions that are remembered, for all callers together. Beyond it, the one that was updated
/// longest ago is forgotten, and its lines are suggested again.
const MAX_FILES: usize = 256;
/// The maximum number of separate ranges of one file that are remembered. A scan has no gaps, so a file usually has one or
/// a few; ranges beyond it are forgotten, and count as not scanned.
const MAX_RANGES: usize = 1000;

/// The scans of all callers, by principal, file and version.
pub(crate) struct ScanStore {
    files: BoundedStore<ScanKey, ScanRecord>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ScanKey {
    principal: Principal,
    file: FileVersion,
}

/// What a caller has done with one version of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ScanRecord {
    /// The lines that were returned to the caller.
    pub(crate) scanned: Vec<LineRange>,
    /// The coverage that the caller is completing.
    pub(crate) completing: Option<CoverageStep>,
    /// The artifact that the caller makes from the file.
    pub(crate) artifact: Option<String>,
    /// Whether an artifact was audited against this version.
    pub(crate) is_audited: bool,
    /// The artifact and the line of the first finding of that audit.
    pub(crate) finding: Option<(String, usize)>,
}

/// A coverage that is being completed: what the caller cited, and what it read since. Nothing else counts, because a line
/// that was read for another purpose is not cited.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CoverageStep {
    pub(crate) cited: Vec<LineRange>,
    /// The lines that were returned since, to complete the coverage.
    pub(crate) read: Vec<LineRange>,
}

impl CoverageStep {
    /// All lines that were cited or read since.
    pub(crate) fn lines(&self) -> Vec<LineRange> {
        merged(self.cited.iter().chain(&self.read).copied().collect())
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
    pub(crate) fn update(
        &self,
        principal: &Principal,
        file: &FileVersion,
        now: Instant,
        change: impl FnOnce(&mut ScanRecord),
    ) -> ScanRecord {
        let key = ScanKey { principal: principal.clone(), file: file.clone() };
        let change = |record: &mut ScanRecord| {
            change(record);
            let step = record.completing.iter_mut().flat_map(|step| [&mut step.cited, &mut step.read]);
            for ranges in step.chain([&mut record.scanned]) {
                *ranges = merged(std::mem::take(ranges));
                ranges.truncate(MAX_RANGES);
            }
        };
        if *principal == Principal::Anonymous {
            // Anonymous callers cannot be told apart, so nothing is remembered for them.
            let mut record = ScanRecord::default();
            change(&mut record);
            return record;
        }
        self.files.update(key, now, change, |_| 0)
    }

    /// Records lines that were returned to the caller; `completes` says whether they count for the coverage that the
    /// caller is completing.
    pub(crate) fn add_scanned(
        &self,
        principal: &Principal,
        file: &FileVersion,
        range: LineRange,
        completes: bool,
        now: Instant,
    ) -> ScanRecord {
        self.update(principal, file, now, |record| {
            record.scanned.push(range);
            if let Some(step) = record.completing.as_mut().filter(|_| completes) {
                step.read.push(range);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use annai_files::fs::Sha256;

    fn range(start_line: u64, end_line: u64) -> LineRange {
        LineRange { start_line, end_line }
    }

    #[test]
    fn scanned_lines_are_merged_per_principal_and_version() {
        let (scans, now) = (ScanStore::default(), Instant::now());
        let version = |content: &[u8]| FileVersion::new(None, "a", &Sha256::of(content));
        let (one, two) = (version(b"1"), version(b"2"));
        let add = |principal: Principal, version: &FileVersion, range| {
            scans.add_scanned(&principal, version, range, false, now).scanned
        };
        assert_eq!(add(Principal::Owner, &one, range(1, 80)), [range(1, 80)]);
        assert_eq!(add(Principal::Owner, &one, range(81, 90)), [range(1, 90)]);
        assert_eq!(add(Principal::Owner, &two, range(5, 6)), [range(5, 6)]);
        assert_eq!(add(Principal::Anonymous, &one, range(5, 6)), [range(5, 6)]);
    }

    #[test]
    fn the_number_of_remembered_files_is_bounded() {
        let (scans, now) = (ScanStore::default(), Instant::now());
        for number in 0..1000 {
            let file = FileVersion::new(None, &number.to_string(), &Sha256::of(b"1"));
            scans.add_scanned(&Principal::Owner, &file, range(1, 1), false, now);
        }
        assert_eq!(scans.files.len(), MAX_FILES);
    }
}
