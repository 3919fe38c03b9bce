//! Tunes the thresholds towards the cheapest ones at which finds still return what their callers read afterwards.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::config::LibrarySection;
use annai_search::Thresholds;

/// The minimum time between two steps, in milliseconds: a day.
const STEP_INTERVAL_MS: i64 = 24 * 3600 * 1000;
/// How far the file bias threshold moves in one step; the candidate threshold moves by 1.
const FILE_BIAS_STEP: f64 = 0.03;
/// A step is decided by the newest 20 finds at the thresholds in force; with fewer there is none.
const STEP_WINDOW: usize = 20;
/// A rollback is decided by the newest 100 finds, compared with the 100 before; with fewer there is none.
const ROLLBACK_WINDOW: usize = 100;

/// The statistics of a find, of which the tuning needs those that are named here.
#[derive(Serialize, Deserialize)]
pub(super) struct FindRecord {
    pub(crate) ts: i64,
    pub(crate) trace_hash: String,
    pub(crate) scope_expanded: bool,
    pub(crate) cutoff_reason: Option<String>,
    #[serde(flatten)]
    pub(crate) thresholds: Thresholds,
    /// How many sections were read later, how many of them the find had returned, and how many only because it widened.
    pub(crate) used: u32,
    pub(crate) used_found: u32,
    pub(crate) used_widened: u32,
    #[serde(flatten)]
    pub(crate) others: Map<String, Value>,
}

pub(super) struct Tuning {
    base: Thresholds,
    min_recall: Option<f64>,
    pub(crate) current: Thresholds,
    /// When they last changed, in milliseconds since 1970.
    since: Option<i64>,
}

impl Tuning {
    /// Goes on with the thresholds of the last record, or begins with those of the settings. They count as changed with the
    /// oldest record in a row that has them, so that a restart does not shorten the day.
    pub(super) fn resume(settings: &LibrarySection, records: &[FindRecord]) -> Self {
        let base = clamped(settings.adaptive_candidate_low_base, settings.adaptive_file_bias_base);
        let min_recall = settings.adaptive_tuning.then_some(settings.adaptive_min_recall);
        let last = records.last().filter(|_| min_recall.is_some()).map_or(base, |record| record.thresholds);
        let same = records.iter().rev().take_while(|record| record.thresholds == last).last();
        let current = clamped(last.candidate_low, last.file_bias);
        Self { base, min_recall, current, since: same.map(|record| record.ts) }
    }

    /// Fewer finds widen where callers hardly read what only widening found, and more where finds lacked what was read. The
    /// thresholds return to the settings at once when finds have become clearly worse.
    pub(super) fn update(&mut self, records: &[&FindRecord], now: i64) {
        let Some(min_recall) = self.min_recall else { return };
        let Thresholds { candidate_low: low, file_bias: bias } = self.current;
        let at_current = records.iter().rev().filter(|record| record.thresholds == self.current);
        let window: Vec<_> = at_current.take(STEP_WINDOW).copied().collect();
        let has_waited = self.since.is_none_or(|since| now.saturating_sub(since) >= STEP_INTERVAL_MS);
        let has_widened = window.iter().any(|find| find.scope_expanded);
        let home_recall = recall(&window, |find| find.used_found.saturating_sub(find.used_widened));
        let next = if has_regressed(records) {
            self.base
        } else if !has_waited || window.len() < STEP_WINDOW {
            self.current
        } else if recall(&window, |find| find.used_found) < min_recall {
            clamped(low + 1, bias - FILE_BIAS_STEP)
        } else if has_widened && home_recall >= min_recall {
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

/// Whether the recall proxy fell by more than 3 points, or the share of finds that were cut off rose by more than 5.
fn has_regressed(records: &[&FindRecord]) -> bool {
    let Some(start) = records.len().checked_sub(2 * ROLLBACK_WINDOW) else { return false };
    let (before, recent) = records.split_at(start).1.split_at(ROLLBACK_WINDOW);
    let recall = |finds| recall(finds, |find| find.used_found);
    let cutoffs = |finds: &[&FindRecord]| finds.iter().filter(|find| find.cutoff_reason.is_some()).count();
    recall(before) - recall(recent) > 0.03 + f64::EPSILON || cutoffs(recent) > cutoffs(before) + 5
}

/// The recall proxy: the share of the sections read later that the finds had returned. It is not a number when none was
/// read, and then no comparison with it holds.
fn recall(finds: &[&FindRecord], found: fn(&FindRecord) -> u32) -> f64 {
    let sum = |count: fn(&FindRecord) -> u32| finds.iter().map(|find| f64::from(count(find))).sum::<f64>();
    sum(found) / sum(|find| find.used)
}

#[cfg(test)]
#[path = "tuning_tests.rs"]
mod tests;
