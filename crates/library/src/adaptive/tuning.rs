//! Tunes the thresholds towards the cheapest ones at which finds still return what their callers read afterwards.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::config::LibrarySection;
use crate::explore::Thresholds;

/// The minimum time between two steps, in milliseconds: a day.
const STEP_INTERVAL_MS: i64 = 24 * 3600 * 1000;
/// How far the file bias threshold moves in one step; the candidate threshold moves by 1.
const FILE_BIAS_STEP: f64 = 0.03;
/// A step is decided by the newest 20 finds at the thresholds in force; with fewer there is none.
const STEP_WINDOW: usize = 20;
/// The newest 100 finds are compared with the 100 before. The thresholds return to the settings at once when the recall
/// proxy fell by more than 3 points, or the share of finds that were cut off rose by more than 5.
const ROLLBACK_WINDOW: usize = 100;

/// The statistics of a find, of which the tuning needs these.
#[derive(Serialize, Deserialize)]
pub struct FindRecord {
    pub ts: i64,
    pub trace_hash: String,
    pub scope_expanded: bool,
    pub cutoff_reason: Option<String>,
    pub candidate_low_threshold: usize,
    pub file_bias_threshold: f64,
    /// How many sections were read later, how many of them the find had returned, and how many only because it widened.
    pub used: u32,
    pub used_found: u32,
    pub used_widened: u32,
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

impl FindRecord {
    const fn thresholds(&self) -> Thresholds {
        Thresholds { candidate_low: self.candidate_low_threshold, file_bias: self.file_bias_threshold }
    }
}

/// The thresholds in force, and what changes them.
pub struct Tuning {
    base: Thresholds,
    min_recall: f64,
    pub current: Thresholds,
    /// When they last changed, in milliseconds since 1970.
    since: Option<i64>,
}

impl Tuning {
    /// Goes on with the thresholds of the last record, or begins with those of the settings. They count as changed with the
    /// oldest record in a row that has them, so that a restart does not shorten the day.
    pub fn resume(settings: &LibrarySection, records: &[FindRecord]) -> Self {
        let base = clamped(settings.adaptive_candidate_low_base, settings.adaptive_file_bias_base);
        let last = records.last().map_or(base, FindRecord::thresholds);
        let same = records.iter().rev().take_while(|record| record.thresholds() == last).last();
        let (current, since) = (clamped(last.candidate_low, last.file_bias), same.map(|record| record.ts));
        Self { base, min_recall: settings.adaptive_min_recall, current, since }
    }

    /// Changes the thresholds where the records give reason to: fewer finds widen where callers hardly read what only
    /// widening found, and more where finds lacked what was read.
    pub fn update(&mut self, records: &[&FindRecord], now: i64) {
        let Thresholds { candidate_low: low, file_bias: bias } = self.current;
        let at_current = records.iter().rev().filter(|record| record.thresholds() == self.current);
        let window: Vec<_> = at_current.take(STEP_WINDOW).copied().collect();
        let may_step = window.len() == STEP_WINDOW
            && self.since.is_none_or(|since| now.saturating_sub(since) >= STEP_INTERVAL_MS);
        let widened: u32 = window.iter().map(|record| record.used_widened).sum();
        let next = if has_regressed(records) {
            self.base
        } else if may_step && recall(&window, 0) < self.min_recall {
            clamped(low + 1, bias - FILE_BIAS_STEP)
        } else if may_step
            && recall(&window, widened) >= self.min_recall
            && window.iter().any(|record| record.scope_expanded)
        {
            clamped(low - 1, bias + FILE_BIAS_STEP)
        } else {
            self.current
        };
        if next != self.current {
            (self.current, self.since) = (next, Some(now));
        }
    }
}

/// Thresholds in their ranges, beyond which finds would hardly ever widen or nearly always, without rounding errors.
fn clamped(candidate_low: usize, file_bias: f64) -> Thresholds {
    let file_bias = (file_bias.clamp(0.70, 0.90) * 100.0).round() / 100.0;
    Thresholds { candidate_low: candidate_low.clamp(2, 6), file_bias }
}

/// Whether the newest finds are clearly worse than those before.
fn has_regressed(records: &[&FindRecord]) -> bool {
    let Some(start) = records.len().checked_sub(2 * ROLLBACK_WINDOW) else { return false };
    let (before, recent) = records.split_at(start).1.split_at(ROLLBACK_WINDOW);
    let cutoffs =
        |records: &[&FindRecord]| records.iter().filter(|find| find.cutoff_reason.is_some()).count();
    // Shares of a hundred finds are points.
    (recall(before, 0) - recall(recent, 0)) * 100.0 > 3.0 + 1e-9 || cutoffs(recent) > cutoffs(before) + 5
}

/// The recall proxy: the share of the sections read later that the finds had returned, without those that they would lose.
/// It is not a number when none was read, and then no comparison with it holds.
fn recall(records: &[&FindRecord], lost: u32) -> f64 {
    let sum = |count: fn(&FindRecord) -> u32| records.iter().map(|record| count(record)).sum::<u32>();
    f64::from(sum(|record| record.used_found).saturating_sub(lost)) / f64::from(sum(|record| record.used))
}
