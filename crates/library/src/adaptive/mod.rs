//! Thresholds that learn: what finds cost and whether they had what was used, kept as numbers in a file that several
//! processes share, never grows large and may be damaged.

mod learn;
mod record;

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use annai_core::Principal;

pub use self::record::{Record, Thresholds, file_number, hash_of, section_number, tokens};
use crate::config;
use crate::fs::StatsFile;

/// So many finds are kept, and so many stay when there are more.
const MOST_RECORDS: usize = 1000;
const KEPT_RECORDS: usize = 400;
/// So many finds wait for what is used of them.
const MOST_WAITING: usize = 200;
/// A line from further ahead than this is wrong.
const AHEAD: i64 = 24 * 3600 * 1000;

/// What is learned from finds.
pub struct Adaptive {
    file: Option<StatsFile>,
    base: Thresholds,
    min_recall: f64,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    /// What is known of earlier finds, the newest last.
    records: Vec<Record>,
    /// The newest finds, which may still be used.
    waiting: VecDeque<Waiting>,
    /// Records that changed since they were written, by their traces.
    changed: HashSet<String>,
    loaded: bool,
}

/// A find that may still be used.
struct Waiting {
    owner: Principal,
    trace_hash: String,
    /// What it looked at.
    reach: Reach,
    /// What it found, and what of that lies outside the manual that it began in.
    found: HashSet<u64>,
    found_files: HashSet<u64>,
    found_elsewhere: HashSet<u64>,
    /// What was used of it.
    used: HashSet<u64>,
}

/// Which files a find looked at.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    /// The manuals.
    pub manuals: HashSet<String>,
    /// The files of them that it looked at, by their numbers; none = all.
    pub only: Option<HashSet<u64>>,
    /// The files of them that it did not.
    pub except: HashSet<u64>,
}

/// A section that a find had.
pub struct Had {
    pub number: u64,
    /// The number of its file.
    pub file: u64,
    /// Whether it lies outside the manual that the find began in.
    pub elsewhere: bool,
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
            book: Mutex::default(),
        }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thresholds for a find.
    pub fn thresholds(&self) -> Thresholds {
        let Some(file) = &self.file else { return self.base };
        let mut book = self.book();
        if !book.loaded || file.changed() {
            let Book { records, changed, loaded, .. } = &mut *book;
            let kept = std::mem::replace(records, read(&file.read().unwrap_or_default(), now()));
            // What was learned since and is not written yet is not lost.
            for record in kept.into_iter().filter(|record| changed.contains(&record.trace_hash)) {
                if let Some(known) = records.iter_mut().find(|known| known.trace_hash == record.trace_hash) {
                    *known = record;
                }
            }
            *loaded = true;
        }
        learn::thresholds(&book.records, now(), self.base, self.min_recall)
    }

    /// Candidates that the caller's earlier finds did not have.
    pub fn added(&self, owner: &Principal, had: &[Had]) -> usize {
        let book = self.book();
        let earlier = |number: &u64| {
            book.waiting.iter().any(|find| find.owner == *owner && find.found.contains(number))
        };
        had.iter().filter(|had| !earlier(&had.number)).count()
    }

    /// Keeps a find. A disk that is full or cannot be written is no reason to fail.
    pub fn keep(&self, owner: &Principal, mut record: Record, reach: Reach, had: &[Had]) {
        let mut book = self.book();
        let last = book.records.last();
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
        book.waiting.push_back(Waiting {
            owner: owner.clone(),
            trace_hash: record.trace_hash.clone(),
            reach,
            found: had.iter().map(|had| had.number).collect(),
            found_files: had.iter().map(|had| had.file).collect(),
            found_elsewhere: had.iter().filter(|had| had.elsewhere).map(|had| had.number).collect(),
            used: HashSet::new(),
        });
        while book.waiting.len() > MOST_WAITING {
            book.waiting.pop_front();
        }
        let Some(file) = &self.file else { return };
        let line = serde_json::to_string(&record).unwrap_or_default();
        book.records.push(record);
        let full = book.records.len() > MOST_RECORDS;
        if full {
            let surplus = book.records.len() - KEPT_RECORDS;
            book.records.drain(..surplus);
        }
        if !full && book.changed.is_empty() {
            file.append(&line);
            return;
        }
        self.write(&mut book);
    }

    /// Writes what changed, and the newest find where it is not there yet. What could not be written is tried again later.
    fn write(&self, book: &mut Book) {
        let Some(file) = &self.file else { return };
        let Book { records, changed, .. } = book;
        let written = file.rewrite(&mut |text| {
            // Lines of others stay as they are.
            let mut lines: Vec<(String, Option<Record>)> =
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
            let is_there = |last: &Record| {
                lines
                    .iter()
                    .any(|(_, known)| known.as_ref().is_some_and(|known| known.trace_hash == last.trace_hash))
            };
            let last = records
                .last()
                .filter(|last| !is_there(last))
                .and_then(|last| serde_json::to_string(last).ok());
            lines.extend(last.map(|last| (last, None)));
            let surplus = if lines.len() > MOST_RECORDS { lines.len() - KEPT_RECORDS } else { 0 };
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
        let mut book = self.book();
        let reaches = |find: &&mut Waiting| {
            let reach = &find.reach;
            find.owner == *owner
                && reach.manuals.contains(manual_id)
                && reach.only.as_ref().is_none_or(|only| only.contains(&file))
                && !reach.except.contains(&file)
        };
        let Some(find) = book.waiting.iter_mut().rev().find(reaches) else { return };
        if !find.used.insert(number) {
            return;
        }
        let found =
            if line.is_some() { find.found.contains(&number) } else { find.found_files.contains(&file) };
        let elsewhere = find.found_elsewhere.contains(&number);
        let trace = find.trace_hash.clone();
        let Book { records, changed, .. } = &mut *book;
        if let Some(record) = records.iter_mut().rev().find(|record| record.trace_hash == trace) {
            record.used += 1;
            record.used_found += usize::from(found);
            record.used_widened += usize::from(elsewhere);
            changed.insert(trace);
            self.write(&mut book);
        }
    }
}

/// The records of a file; what is no record, or from the future, is passed over.
fn read(text: &str, now: i64) -> Vec<Record> {
    let records = text.lines().filter_map(|line| serde_json::from_str::<Record>(line).ok());
    let mut records: Vec<_> = records.filter(|record| record.ts <= now.saturating_add(AHEAD)).collect();
    let surplus = records.len().saturating_sub(MOST_RECORDS);
    records.drain(..surplus);
    records
}

/// Milliseconds since 1970.
pub fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}
