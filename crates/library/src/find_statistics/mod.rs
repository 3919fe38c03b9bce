//! Statistics of finds and of the reads that followed them, from which the thresholds of `manual_find`
//! are tuned. A find reads the thresholds in force and hands its numbers over; a thread does the rest.

mod tuning;

use std::collections::HashSet;
use std::hash::BuildHasher as _;
use std::sync::mpsc::{SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;

use self::tuning::{FindRecord, Tuning};
use crate::config::LibrarySection;
use annai_files::fs::{SYSTEM_DIR, Sha256, StatsFile};
use annai_search::{FindReport, FindRequest, Thresholds, TraceMatch};

/// The maximum number of lines of the file: what a rollback looks back on. Beyond it, the oldest ones go.
const MAX_LINES: usize = 200;
/// The maximum number of changes that wait for the disk. Further ones are not counted, because no call may wait for them.
const MAX_WAITING: usize = 256;
/// The maximum number of sections that are remembered as returned, in 2 MB; beyond it, all count as new again.
const MAX_RETURNED: usize = 100_000;

/// How long the end of the process waits for the statistics; what is not written by then is lost.
const MAX_FLUSH: Duration = Duration::from_secs(5);

/// A line of the file; what is not the record of a find stays as it is.
type Line = Result<FindRecord, String>;
type Job = Box<dyn FnOnce(&mut Recorder) + Send>;

pub(crate) struct FindStatistics {
    tuning: Arc<Mutex<Tuning>>,
    jobs: Option<SyncSender<Job>>,
}

struct Recorder {
    file: StatsFile,
    tuning: Arc<Mutex<Tuning>>,
    /// The hashes of the sections that finds returned, each with its principal.
    returned: HashSet<u64>,
    warning: Once,
}

impl FindStatistics {
    pub(crate) fn new(settings: &LibrarySection) -> Self {
        let path = settings.adaptive_stats_path.as_ref().map(Into::into);
        // A folder that only happens to be named `vault` is left alone.
        let vault = (path.is_none() && settings.has_chosen_vault()).then(|| settings.vault_folder());
        let path = path.or(vault.as_ref().map(|vault| vault.join(SYSTEM_DIR).join("adaptive_stats.jsonl")));
        let file = path.filter(|_| !settings.keeps_no_statistics).map(|path| StatsFile { path, vault });
        let text = file.as_ref().and_then(|file| file.read().ok()).unwrap_or_default();
        let records: Vec<_> = lines_of(&text).into_iter().flatten().collect();
        let tuning = Arc::new(Mutex::new(Tuning::resume(settings, &records)));
        let jobs = file.map(|file| {
            let (tuning, returned, warning) = (tuning.clone(), HashSet::new(), Once::new());
            let mut recorder = Recorder { file, tuning, returned, warning };
            let (jobs, received) = sync_channel::<Job>(MAX_WAITING);
            std::thread::spawn(move || received.into_iter().for_each(|job| job(&mut recorder)));
            jobs
        });
        Self { tuning, jobs }
    }

    pub(crate) fn thresholds(&self) -> Thresholds {
        self.tuning.lock().unwrap_or_else(PoisonError::into_inner).current
    }

    /// Records a find whose reply has this many characters.
    pub(crate) fn record_find(&self, request: &FindRequest, report: &FindReport, chars_out: usize) {
        let (now, summary, chars_in) = (now(), &report.summary, request.query.chars().count());
        let tokens = (chars_in + chars_out).div_ceil(4);
        let record = json!({
            "ts": now, "query_hash": hash_of(&request.query), "trace_hash": hash_of(&report.trace_id),
            "scanned_files": summary.scanned_files, "candidates": summary.candidates,
            "warnings": summary.warnings, "max_stage_applied": summary.max_stage_applied,
            "scope_expanded": summary.scope_expanded, "cutoff_reason": summary.cutoff_reason,
            "unscanned_sections_count": summary.unscanned_sections_count, "est_tokens": tokens,
            "est_tokens_in": chars_in.div_ceil(4), "est_tokens_out": chars_out.div_ceil(4),
            "added_est_tokens": tokens, "candidate_low_threshold": report.thresholds.candidate_low,
            "file_bias_threshold": report.thresholds.file_bias, "used": 0, "used_found": 0, "used_widened": 0,
        });
        let Ok(mut record) = serde_json::from_value::<FindRecord>(record) else { return };
        let (owner, trace) = (request.owner.clone(), report.record.clone());
        self.send(move |recorder| {
            let returned = &mut recorder.returned;
            if returned.len() > MAX_RETURNED {
                returned.clear();
            }
            let is_new = |found: &&TraceMatch| {
                let file = trace.file_of(found).map(|file| (&file.manual_id, &file.path));
                let section = returned.hasher().hash_one((&owner, file, found.span.start));
                returned.insert(section)
            };
            let added = trace.evidence().filter(is_new).count();
            let gain = (tokens > 0).then(|| (added as f64 / tokens as f64 * 1e4).round() / 1e4);
            record.others.insert("added_evidence_count".to_owned(), added.into());
            record.others.insert("marginal_gain".to_owned(), gain.into());
            recorder.change(now, |lines| lines.push(Ok(record)));
        });
    }

    /// Records that a section was read after a find, which had returned it as this match or not at all.
    pub(crate) fn record_use(&self, trace_id: &str, found: Option<&TraceMatch>) {
        let (is_found, is_outside) = (found.is_some(), found.is_some_and(|found| found.is_outside));
        let (now, trace_hash) = (now(), hash_of(trace_id));
        self.send(move |recorder| {
            recorder.change(now, |lines| {
                let mut records = lines.iter_mut().rev().flatten();
                if let Some(record) = records.find(|record| record.trace_hash == trace_hash) {
                    record.used += 1;
                    record.used_found += u32::from(is_found);
                    record.used_widened += u32::from(is_outside);
                }
            });
        });
    }

    fn send(&self, job: impl FnOnce(&mut Recorder) + Send + 'static) {
        let _ = self.jobs.as_ref().map(|jobs| jobs.try_send(Box::new(job)));
    }

    /// Waits until everything is written, at most 5 seconds: the process must end on a broken disk, too.
    pub(crate) fn flush(&self) {
        let Some(jobs) = &self.jobs else { return };
        let deadline = Instant::now() + MAX_FLUSH;
        let (written, wait) = channel::<()>();
        let mut job: Job = Box::new(move |_| drop(written));
        // The queue may be full because the disk does not answer, so that even joining it must not wait for ever.
        while let Err(TrySendError::Full(refused)) = jobs.try_send(job) {
            if Instant::now() >= deadline {
                return;
            }
            job = refused;
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = wait.recv_timeout(deadline.saturating_duration_since(Instant::now()));
    }
}

impl Recorder {
    /// Changes the lines of the file, and tunes the thresholds by them.
    fn change(&self, now: i64, change: impl FnOnce(&mut Vec<Line>)) {
        let written = self.file.rewrite(|text| {
            let mut lines = lines_of(text);
            change(&mut lines);
            lines.drain(..lines.len().saturating_sub(MAX_LINES));
            let records: Vec<_> = lines.iter().flatten().collect();
            self.tuning.lock().unwrap_or_else(PoisonError::into_inner).update(&records, now);
            let text_of = |line: Line| line.map_or_else(|text| text, |record| json!(record).to_string());
            lines.into_iter().map(|line| text_of(line) + "\n").collect()
        });
        if let Err(error) = written {
            let text = "the statistics of searches are not kept in ADAPTIVE_STATS_PATH";
            let path = self.file.path.display();
            self.warning.call_once(|| tracing::warn!(%path, "{text}: {error}"));
        }
    }
}

fn lines_of(text: &str) -> Vec<Line> {
    text.lines().map(|line| serde_json::from_str(line).map_err(|_| line.to_owned())).collect()
}

fn hash_of(text: &str) -> String {
    Sha256::of(text.as_bytes()).to_string()
}

fn now() -> i64 {
    SystemTime::UNIX_EPOCH.elapsed().map_or(0, |now| i64::try_from(now.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod recording_tests;
