//! Adaptive thresholds: statistics of finds and of the reads that followed them, from which the thresholds of
//! `manual_find` are tuned. The statistics are numbers and hashes in a bounded file that several processes share; damaged
//! lines are skipped.

mod accepted;
mod learn;
mod record;

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use annai_core::Principal;

use self::accepted::Accepted;
pub use self::record::{LearningRecord, Thresholds, file_number, hash_of, section_number, tokens};
use crate::config;
use crate::fs::StatsFile;

/// The maximum number of finds in the file. The thresholds look back on the newest 200; beyond a thousand, the file is
/// rewritten with the newest [`KEPT_RECORDS`].
const MAX_RECORDS: usize = 1000;
/// How many finds stay when the file is compacted: far fewer than the maximum, so that this happens rarely.
const KEPT_RECORDS: usize = 400;
/// The maximum number of finds that later reads are credited to; reads after older finds are not counted.
const MAX_PENDING: usize = 200;
/// The maximum number of sections of all these finds together, which bounds their memory to a few megabytes. Reads of the
/// sections of a find that was dropped are not counted.
const MAX_PENDING_SECTIONS: usize = 100_000;
/// A record from more than a day in the future (in milliseconds) was written with a wrong clock, and is skipped.
const MAX_CLOCK_SKEW_MS: i64 = 24 * 3600 * 1000;

/// The statistics of finds, and the thresholds that follow from them.
pub struct Adaptive {
    /// The file; `None` when no statistics are kept.
    file: Option<StatsFile>,
    /// The file of the thresholds in force, beside it.
    accepted_file: Option<StatsFile>,
    /// Whether the thresholds follow the statistics.
    is_tuning: bool,
    base: Thresholds,
    min_recall: f64,
    state: Mutex<AdaptiveState>,
}

#[derive(Default)]
struct AdaptiveState {
    /// The records of earlier finds, newest last.
    records: Vec<LearningRecord>,
    /// The newest finds of this process, whose sections may still be read.
    pending: VecDeque<PendingFind>,
    /// The trace hashes of the records that have changed since they were written.
    unwritten: HashSet<String>,
    /// Whether the file has been read.
    is_loaded: bool,
    /// The thresholds in force; `None` until they were read.
    accepted: Option<Accepted>,
}

/// A find whose sections may still be read.
struct PendingFind {
    owner: Principal,
    trace_hash: String,
    /// The files that it searched.
    reach: FindReach,
    /// The sections that it found.
    found: HashSet<u64>,
    /// The files of these sections.
    found_files: HashSet<u64>,
    /// The sections that it found outside the manual in which it started.
    found_outside_home: HashSet<u64>,
    /// The sections that were read afterwards.
    used: HashSet<u64>,
}

/// The files that a find searched.
#[derive(Debug, Clone, Default)]
pub struct FindReach {
    /// The manuals.
    pub manuals: HashSet<String>,
    /// The hashes of the only files of them that it searched; `None` for all.
    pub only: Option<HashSet<u64>>,
    /// The hashes of the files of them that it did not search.
    pub except: HashSet<u64>,
}

impl FindReach {
    /// Whether the find searched a file.
    pub fn has(&self, manual_id: &str, path: &str) -> bool {
        let file = file_number(manual_id, path);
        self.manuals.contains(manual_id)
            && self.only.as_ref().is_none_or(|only| only.contains(&file))
            && !self.except.contains(&file)
    }

    /// The approximate memory that it takes.
    pub fn estimated_bytes(&self) -> usize {
        let files = self.except.len() + self.only.as_ref().map_or(0, HashSet::len);
        files * 16 + self.manuals.iter().map(|id| id.len() + 40).sum::<usize>()
    }
}

/// A section that a find found.
pub struct FoundSection {
    /// The hash of the section.
    pub number: u64,
    /// The hash of its file.
    pub file: u64,
    /// Whether it lies outside the manual in which the find started.
    pub is_outside_home: bool,
}

impl Adaptive {
    /// The statistics of a library with these settings. When tuning is off, they are kept and have no effect.
    pub fn new(settings: &config::LibrarySection) -> Self {
        let path = settings.adaptive_stats_path.as_ref().map(PathBuf::from);
        let file = match path {
            Some(path) => Some(StatsFile::at(path)),
            // A folder that only happens to be named `vault` is left alone.
            None => settings.has_chosen_vault().then(|| StatsFile::in_vault(settings.vault_folder())),
        };
        let file = file.filter(|_| !settings.keeps_no_statistics);
        Self {
            accepted_file: file.as_ref().map(|file| file.beside(".thresholds")),
            file,
            is_tuning: settings.adaptive_tuning,
            base: Thresholds {
                candidate_low: settings.adaptive_candidate_low_base,
                file_bias: settings.adaptive_file_bias_base,
            },
            min_recall: settings.adaptive_min_recall,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, AdaptiveState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thresholds for the next find.
    pub fn thresholds(&self) -> Thresholds {
        let Some(file) = &self.file else { return self.base };
        let mut state = self.state();
        if !state.is_loaded || file.has_changed() {
            let AdaptiveState { records, unwritten, is_loaded, .. } = &mut *state;
            let kept = std::mem::replace(records, parse_records(&file.read().unwrap_or_default(), now()));
            // Changes that are not written yet are kept.
            for record in kept.into_iter().filter(|record| unwritten.contains(&record.trace_hash)) {
                if let Some(known) = records.iter_mut().find(|known| known.trace_hash == record.trace_hash) {
                    *known = record;
                }
            }
            *is_loaded = true;
        }
        if !self.is_tuning {
            return self.base;
        }
        let (now, base) = (now(), learn::clamped(self.base));
        let wanted = learn::thresholds(&state.records, now, base, self.min_recall);
        self.accept(&mut state, wanted, base, now)
    }

    /// The thresholds in force after a step towards those that the records suggest.
    fn accept(
        &self,
        state: &mut AdaptiveState,
        wanted: Thresholds,
        base: Thresholds,
        now: i64,
    ) -> Thresholds {
        let Some(file) = &self.accepted_file else { return base };
        let known = state.accepted;
        let mut before = known.unwrap_or(Accepted::new(base));
        if known.is_none() || file.has_changed() {
            let stored = file.read().and_then(|text| Accepted::parse(&text, now));
            before = match (known, stored) {
                (None, Some(stored)) => stored,
                // Another process moved them, or somebody edited the file: that is a suggestion, too.
                (Some(known), Some(stored)) => known.step_towards(stored.thresholds, base, now),
                (_, None) => before,
            };
        }
        let accepted = before.step_towards(wanted, base, now);
        state.accepted = Some(accepted);
        if accepted != before
            && let Ok(text) = serde_json::to_string(&accepted)
        {
            file.rewrite(&mut |_| format!("{text}\n"));
        }
        accepted.thresholds
    }

    /// The number of sections that no earlier find of the same principal returned.
    pub fn added(&self, owner: &Principal, sections: &[FoundSection]) -> usize {
        let state = self.state();
        let earlier = |number: &u64| {
            state.pending.iter().any(|find| find.owner == *owner && find.found.contains(number))
        };
        sections.iter().filter(|section| !earlier(&section.number)).count()
    }

    /// Records a find. A failure to write the file is ignored.
    pub fn keep(
        &self,
        owner: &Principal,
        mut record: LearningRecord,
        reach: FindReach,
        sections: &[FoundSection],
    ) {
        let mut state = self.state();
        let last = state.records.last();
        let carried = |same: bool, since: Option<i64>| if same { since } else { Some(record.ts) };
        let low = last.map(|last| {
            carried(last.candidate_low_threshold == record.candidate_low_threshold, last.candidate_low_since)
        });
        let bias = last.map(|last| {
            carried(
                (last.file_bias_threshold - record.file_bias_threshold).abs() < 0.001,
                last.file_bias_since,
            )
        });
        (record.candidate_low_since, record.file_bias_since) = (low.flatten(), bias.flatten());
        state.pending.push_back(PendingFind {
            owner: owner.clone(),
            trace_hash: record.trace_hash.clone(),
            reach,
            found: sections.iter().map(|section| section.number).collect(),
            found_files: sections.iter().map(|section| section.file).collect(),
            found_outside_home: sections
                .iter()
                .filter(|section| section.is_outside_home)
                .map(|section| section.number)
                .collect(),
            used: HashSet::new(),
        });
        let sections =
            |state: &AdaptiveState| state.pending.iter().map(|find| find.found.len()).sum::<usize>();
        while state.pending.len() > MAX_PENDING
            || (state.pending.len() > 1 && sections(&state) > MAX_PENDING_SECTIONS)
        {
            state.pending.pop_front();
        }
        let Some(file) = &self.file else { return };
        let line = serde_json::to_string(&record).unwrap_or_default();
        state.records.push(record);
        let is_full = state.records.len() > MAX_RECORDS;
        if is_full {
            let surplus = state.records.len() - KEPT_RECORDS;
            state.records.drain(..surplus);
        }
        if !is_full && state.unwritten.is_empty() {
            file.append(&line);
            return;
        }
        self.write(&mut state);
    }

    /// Writes the changed records, and the newest find if the file does not contain it yet. What cannot be written now is
    /// tried again with the next change, and when the toolset is closed.
    fn write(&self, state: &mut AdaptiveState) {
        let Some(file) = &self.file else { return };
        let AdaptiveState { records, unwritten, .. } = state;
        let written = file.rewrite(&mut |text| {
            // The lines of other processes stay as they are.
            let mut lines: Vec<(String, Option<LearningRecord>)> =
                text.lines().map(|line| (line.to_owned(), serde_json::from_str(line).ok())).collect();
            for (line, known) in &mut lines {
                let trace =
                    known.as_ref().map(|known| &known.trace_hash).filter(|trace| unwritten.contains(*trace));
                let newer =
                    trace.and_then(|trace| records.iter().find(|record| record.trace_hash == **trace));
                if let Some(newer) = newer.and_then(|newer| serde_json::to_string(newer).ok()) {
                    *line = newer;
                }
            }
            let is_in_file = |last: &LearningRecord| {
                lines
                    .iter()
                    .any(|(_, known)| known.as_ref().is_some_and(|known| known.trace_hash == last.trace_hash))
            };
            let last = records
                .last()
                .filter(|last| !is_in_file(last))
                .and_then(|last| serde_json::to_string(last).ok());
            lines.extend(last.map(|last| (last, None)));
            let surplus = if lines.len() > MAX_RECORDS { lines.len() - KEPT_RECORDS } else { 0 };
            lines.into_iter().skip(surplus).map(|(line, _)| line + "\n").collect()
        });
        if written {
            unwritten.clear();
        }
    }

    /// Writes the changes that could not be written before, because the file was locked or the disk was full.
    pub fn flush(&self) {
        let mut state = self.state();
        if !state.unwritten.is_empty() {
            self.write(&mut state);
        }
    }

    /// Records that a section was read, or a whole file when `line` is `None`. It counts for the newest find of the same
    /// principal that searched the file, and is written at once, because the process may be killed at any time.
    pub fn record_use(&self, owner: &Principal, manual_id: &str, path: &str, line: Option<u64>) {
        let file = file_number(manual_id, path);
        let number = line.map_or(file, |line| section_number(manual_id, path, line));
        let mut state = self.state();
        let searched_file = |find: &&mut PendingFind| find.owner == *owner && find.reach.has(manual_id, path);
        let Some(find) = state.pending.iter_mut().rev().find(searched_file) else { return };
        if !find.used.insert(number) {
            return;
        }
        let found =
            if line.is_some() { find.found.contains(&number) } else { find.found_files.contains(&file) };
        let is_outside_home = find.found_outside_home.contains(&number);
        let trace = find.trace_hash.clone();
        let AdaptiveState { records, unwritten, .. } = &mut *state;
        if let Some(record) = records.iter_mut().rev().find(|record| record.trace_hash == trace) {
            record.used += 1;
            record.used_found += usize::from(found);
            record.used_widened += usize::from(is_outside_home);
            unwritten.insert(trace);
            self.write(&mut state);
        }
    }
}

/// Parses the records of a file; damaged lines and records from the future are skipped.
fn parse_records(text: &str, now: i64) -> Vec<LearningRecord> {
    let records = text.lines().filter_map(|line| serde_json::from_str::<LearningRecord>(line).ok());
    let mut records: Vec<_> =
        records.filter(|record| record.ts <= now.saturating_add(MAX_CLOCK_SKEW_MS)).collect();
    let surplus = records.len().saturating_sub(MAX_RECORDS);
    records.drain(..surplus);
    records
}

/// Milliseconds since 1970.
pub fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}
