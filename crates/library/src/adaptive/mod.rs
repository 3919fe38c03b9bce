//! Thresholds that learn: what finds cost and whether they had what was used, kept as numbers in a file that several
//! processes share, never grows large and may be damaged.

mod learn;
mod record;

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use annai_core::Principal;

pub use self::record::{LearningRecord, Thresholds, file_number, hash_of, section_number, tokens};
use crate::config;
use crate::fs::StatsFile;

/// The maximum number of finds in the file. A thousand are weeks of use, which is all that the thresholds look back on;
/// beyond it the file is rewritten with the newest [`KEPT_RECORDS`].
const MAX_RECORDS: usize = 1000;
/// How many finds stay when the file is rewritten: few enough that it is not rewritten with every find.
const KEPT_RECORDS: usize = 400;
/// The maximum number of finds that reads may still be credited to; an older find counts as used no further.
const MAX_PENDING: usize = 200;
/// A record from more than a day ahead, in milliseconds, was written with a wrong clock and is passed over.
const MAX_CLOCK_SKEW_MS: i64 = 24 * 3600 * 1000;

/// What is learned from finds.
pub struct Adaptive {
    file: Option<StatsFile>,
    base: Thresholds,
    min_recall: f64,
    state: Mutex<AdaptiveState>,
}

#[derive(Default)]
struct AdaptiveState {
    /// What is known of earlier finds, the newest last.
    records: Vec<LearningRecord>,
    /// The newest finds, whose sections may still be read.
    pending: VecDeque<PendingFind>,
    /// Records that changed since they were written, by their traces.
    changed: HashSet<String>,
    loaded: bool,
}

/// A find whose sections may still be read.
struct PendingFind {
    owner: Principal,
    trace_hash: String,
    /// What it looked at.
    reach: FindReach,
    /// What it found, and what of that lies outside the manual that it began in.
    found: HashSet<u64>,
    found_files: HashSet<u64>,
    found_elsewhere: HashSet<u64>,
    /// What was used of it.
    used: HashSet<u64>,
}

/// Which files a find looked at.
#[derive(Debug, Clone, Default)]
pub struct FindReach {
    /// The manuals.
    pub manuals: HashSet<String>,
    /// The files of them that it looked at, by their numbers; none = all.
    pub only: Option<HashSet<u64>>,
    /// The files of them that it did not.
    pub except: HashSet<u64>,
}

/// A section that a find found.
pub struct FoundSection {
    /// Its number.
    pub number: u64,
    /// The number of its file.
    pub file: u64,
    /// Whether it lies outside the manual that the find began in.
    pub is_outside_home: bool,
}

impl Adaptive {
    /// For a library with these settings; without tuning nothing is read or written.
    pub fn new(settings: &config::Library) -> Self {
        let path = settings.adaptive_stats_path.as_ref().map(PathBuf::from);
        let file = match path {
            Some(path) => StatsFile::at(path),
            None => StatsFile::in_vault(settings.vault_folder()),
        };
        Self {
            file: settings.adaptive_tuning.then_some(file),
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

    /// The thresholds for a find.
    pub fn thresholds(&self) -> Thresholds {
        let Some(file) = &self.file else { return self.base };
        let mut state = self.state();
        if !state.loaded || file.changed() {
            let AdaptiveState { records, changed, loaded, .. } = &mut *state;
            let kept = std::mem::replace(records, read(&file.read().unwrap_or_default(), now()));
            // What was learned since and is not written yet is not lost.
            for record in kept.into_iter().filter(|record| changed.contains(&record.trace_hash)) {
                if let Some(known) = records.iter_mut().find(|known| known.trace_hash == record.trace_hash) {
                    *known = record;
                }
            }
            *loaded = true;
        }
        learn::thresholds(&state.records, now(), self.base, self.min_recall)
    }

    /// Candidates that the caller's earlier finds did not have.
    pub fn added(&self, owner: &Principal, sections: &[FoundSection]) -> usize {
        let state = self.state();
        let earlier = |number: &u64| {
            state.pending.iter().any(|find| find.owner == *owner && find.found.contains(number))
        };
        sections.iter().filter(|section| !earlier(&section.number)).count()
    }

    /// Keeps a find. A disk that is full or cannot be written is no reason to fail.
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
            found_elsewhere: sections
                .iter()
                .filter(|section| section.is_outside_home)
                .map(|section| section.number)
                .collect(),
            used: HashSet::new(),
        });
        while state.pending.len() > MAX_PENDING {
            state.pending.pop_front();
        }
        let Some(file) = &self.file else { return };
        let line = serde_json::to_string(&record).unwrap_or_default();
        state.records.push(record);
        let full = state.records.len() > MAX_RECORDS;
        if full {
            let surplus = state.records.len() - KEPT_RECORDS;
            state.records.drain(..surplus);
        }
        if !full && state.changed.is_empty() {
            file.append(&line);
            return;
        }
        self.write(&mut state);
    }

    /// Writes what changed, and the newest find where it is not there yet. What could not be written is tried again later.
    fn write(&self, state: &mut AdaptiveState) {
        let Some(file) = &self.file else { return };
        let AdaptiveState { records, changed, .. } = state;
        let written = file.rewrite(&mut |text| {
            // Lines of others stay as they are.
            let mut lines: Vec<(String, Option<LearningRecord>)> =
                text.lines().map(|line| (line.to_owned(), serde_json::from_str(line).ok())).collect();
            for (line, known) in &mut lines {
                let trace =
                    known.as_ref().map(|known| &known.trace_hash).filter(|trace| changed.contains(*trace));
                let newer =
                    trace.and_then(|trace| records.iter().find(|record| record.trace_hash == **trace));
                if let Some(newer) = newer.and_then(|newer| serde_json::to_string(newer).ok()) {
                    *line = newer;
                }
            }
            let is_there = |last: &LearningRecord| {
                lines
                    .iter()
                    .any(|(_, known)| known.as_ref().is_some_and(|known| known.trace_hash == last.trace_hash))
            };
            let last = records
                .last()
                .filter(|last| !is_there(last))
                .and_then(|last| serde_json::to_string(last).ok());
            lines.extend(last.map(|last| (last, None)));
            let surplus = if lines.len() > MAX_RECORDS { lines.len() - KEPT_RECORDS } else { 0 };
            lines.into_iter().skip(surplus).map(|(line, _)| line + "\n").collect()
        });
        if written {
            changed.clear();
        }
    }

    /// Notes that a section was used, or a whole file where no line is named. It counts for the caller's newest find that
    /// looked at the file, and is written at once: the process may end any time.
    pub fn used(&self, owner: &Principal, manual_id: &str, path: &str, line: Option<u64>) {
        let file = file_number(manual_id, path);
        let number = line.map_or(file, |line| section_number(manual_id, path, line));
        let mut state = self.state();
        let reaches = |find: &&mut PendingFind| {
            let reach = &find.reach;
            find.owner == *owner
                && reach.manuals.contains(manual_id)
                && reach.only.as_ref().is_none_or(|only| only.contains(&file))
                && !reach.except.contains(&file)
        };
        let Some(find) = state.pending.iter_mut().rev().find(reaches) else { return };
        if !find.used.insert(number) {
            return;
        }
        let found =
            if line.is_some() { find.found.contains(&number) } else { find.found_files.contains(&file) };
        let elsewhere = find.found_elsewhere.contains(&number);
        let trace = find.trace_hash.clone();
        let AdaptiveState { records, changed, .. } = &mut *state;
        if let Some(record) = records.iter_mut().rev().find(|record| record.trace_hash == trace) {
            record.used += 1;
            record.used_found += usize::from(found);
            record.used_widened += usize::from(elsewhere);
            changed.insert(trace);
            self.write(&mut state);
        }
    }
}

/// The records of a file; what is no record, or from the future, is passed over.
fn read(text: &str, now: i64) -> Vec<LearningRecord> {
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
