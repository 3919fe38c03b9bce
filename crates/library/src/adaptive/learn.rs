//! Chooses the thresholds: the cheapest ones at which finds still return what their callers read afterwards.

use super::record::{LearningRecord, Thresholds};

/// The range of the candidate threshold. Below it, a find would hardly ever widen its scope; above it, nearly always.
const CANDIDATE_LOW_RANGE: std::ops::RangeInclusive<usize> = 2..=6;
/// The range of the file bias threshold, for the same reason.
const FILE_BIAS_RANGE: std::ops::RangeInclusive<f64> = 0.70..=0.90;
/// How far the file bias threshold moves in one step.
pub const FILE_BIAS_STEP: f64 = 0.03;
/// The minimum time between two steps of a threshold, in milliseconds: a day, so that one busy hour does not move it
/// twice.
pub const MIN_STEP_INTERVAL_MS: i64 = 24 * 3600 * 1000;
/// A step is decided by the newest 20 finds with the current value; with fewer finds there is no step.
const STEP_WINDOW: usize = 20;
/// How many of these finds must have been followed by a read; with fewer there is no step to a cheaper value.
const MIN_USED_FINDS: usize = 3;
/// The newest 100 finds are compared with the 100 before them to detect a regression.
const REGRESSION_WINDOW: usize = 100;
/// The fall of the recall between the two beyond which the thresholds return to their defaults.
const MAX_RECALL_FALL: f64 = 0.03;
/// The rise of the share of cut-off finds beyond which they do.
const MAX_CUTOFF_RISE: f64 = 0.05;
/// With fewer candidates, a bias towards one file is not significant; a find ignores it too.
const MIN_BIAS_CANDIDATES: usize = 5;

/// The thresholds for the next find.
pub fn thresholds(records: &[LearningRecord], now: i64, base: Thresholds, min_recall: f64) -> Thresholds {
    let base = clamped(base);
    let Some(last) = records.last() else { return base };
    let current = clamped(last.thresholds());
    if has_regressed(records) {
        return base;
    }
    let mut next = current;
    let moved_low = current.candidate_low != base.candidate_low;
    if may_step(records, now, moved_low, |record| {
        (record.candidate_low_threshold, record.candidate_low_since)
    }) {
        next.candidate_low = step_low(records, current.candidate_low, min_recall);
    }
    let moved_bias = (current.file_bias - base.file_bias).abs() > f64::EPSILON;
    if may_step(records, now, moved_bias, |record| {
        ((record.file_bias_threshold * 100.0).round(), record.file_bias_since)
    }) {
        next.file_bias = step_bias(records, current.file_bias, min_recall);
    }
    clamped(next)
}

pub fn clamped(thresholds: Thresholds) -> Thresholds {
    let bias = if thresholds.file_bias.is_finite() { thresholds.file_bias } else { *FILE_BIAS_RANGE.start() };
    Thresholds {
        candidate_low: thresholds
            .candidate_low
            .clamp(*CANDIDATE_LOW_RANGE.start(), *CANDIDATE_LOW_RANGE.end()),
        file_bias: (bias.clamp(*FILE_BIAS_RANGE.start(), *FILE_BIAS_RANGE.end()) * 100.0).round() / 100.0,
    }
}

/// Whether there are enough finds with the current value, and a day has passed since it was set. When the record of that
/// step has been dropped, a value other than the default is assumed to be as old as the oldest record.
fn may_step<T: PartialEq>(
    records: &[LearningRecord],
    now: i64,
    moved: bool,
    value: impl Fn(&LearningRecord) -> (T, Option<i64>),
) -> bool {
    let Some((last, since)) = records.last().map(&value) else { return false };
    let same = records.iter().rev().take_while(|record| value(record).0 == last).count();
    let before = records.len() - same;
    let seen = records.get(before).filter(|_| before > 0).map(|record| record.ts);
    let oldest = records.first().filter(|_| moved).map(|record| record.ts);
    let since = since.max(seen).or(oldest);
    same >= STEP_WINDOW && since.is_none_or(|since| now.saturating_sub(since) >= MIN_STEP_INTERVAL_MS)
}

/// Whether the newest hundred finds are clearly worse than the hundred before.
fn has_regressed(records: &[LearningRecord]) -> bool {
    let Some(start) = records.len().checked_sub(2 * REGRESSION_WINDOW) else { return false };
    let (before, recent) = records.get(start..).unwrap_or_default().split_at(REGRESSION_WINDOW);
    let cutoff_rate = |records: &[LearningRecord]| {
        records.iter().filter(|record| record.cutoff_reason.is_some()).count() as f64
            / records.len().max(1) as f64
    };
    let fell = match (average(before, LearningRecord::recall), average(recent, LearningRecord::recall)) {
        (Some(before), Some(recent)) => before - recent > MAX_RECALL_FALL + f64::EPSILON,
        _ => false,
    };
    fell || cutoff_rate(recent) - cutoff_rate(before) > MAX_CUTOFF_RISE + f64::EPSILON
}

/// The average of the known values; `None` when there are none.
fn average(records: &[LearningRecord], value: impl Fn(&LearningRecord) -> Option<f64>) -> Option<f64> {
    let known: Vec<_> = records.iter().filter_map(value).collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

fn recent(records: &[LearningRecord]) -> &[LearningRecord] {
    records.get(records.len().saturating_sub(STEP_WINDOW)..).unwrap_or_default()
}

/// One less when finds would have been cheaper and still complete; one more when some should have widened.
fn step_low(records: &[LearningRecord], current: usize, min_recall: f64) -> usize {
    let few = |record: &LearningRecord| record.home_candidates == Some(current - 1) && current > 1;
    let is_changed = |record: &LearningRecord| record.scope_expanded && few(record);
    if is_cheaper_value_safe(recent(records), is_changed, min_recall) {
        return current - 1;
    }
    let at_edge = |record: &LearningRecord| !record.scope_expanded && record.home_candidates == Some(current);
    if needs_safer_value(recent(records), at_edge, min_recall) { current + 1 } else { current }
}

/// The same for the file bias: a higher threshold is cheaper, a lower one is safer.
fn step_bias(records: &[LearningRecord], current: f64, min_recall: f64) -> f64 {
    let biased = |record: &LearningRecord, from: f64, to: f64| {
        record.home_candidates.is_some_and(|count| count >= MIN_BIAS_CANDIDATES)
            && record.home_bias >= from - f64::EPSILON
            && record.home_bias < to - f64::EPSILON
    };
    let is_changed =
        |record: &LearningRecord| record.scope_expanded && biased(record, current, current + FILE_BIAS_STEP);
    if is_cheaper_value_safe(recent(records), is_changed, min_recall) {
        return current + FILE_BIAS_STEP;
    }
    let at_edge =
        |record: &LearningRecord| !record.scope_expanded && biased(record, current - FILE_BIAS_STEP, current);
    if needs_safer_value(recent(records), at_edge, min_recall) { current - FILE_BIAS_STEP } else { current }
}

/// Whether some finds would not have widened with the cheaper value, and the recall would still suffice.
fn is_cheaper_value_safe(
    records: &[LearningRecord],
    is_changed: impl Fn(&LearningRecord) -> bool,
    min_recall: f64,
) -> bool {
    let used_finds = records.iter().filter(|record| record.used > 0).count();
    let recall =
        average(records, |record| if is_changed(record) { record.recall_at_home() } else { record.recall() });
    records.iter().any(&is_changed)
        && used_finds >= MIN_USED_FINDS
        && recall.is_some_and(|recall| recall >= min_recall)
}

/// Whether the recall is too low, and some finds would have widened with the safer value.
fn needs_safer_value(
    records: &[LearningRecord],
    at_edge: impl Fn(&LearningRecord) -> bool,
    min_recall: f64,
) -> bool {
    let would_widen = |record: &LearningRecord| at_edge(record) && record.used > record.used_found;
    let recall = average(records, LearningRecord::recall);
    recall.is_some_and(|recall| recall < min_recall) && records.iter().any(would_widen)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BASE: Thresholds = Thresholds { candidate_low: 3, file_bias: 0.80 };
    const HOUR: i64 = 3600 * 1000;

    fn record(ts: i64, thresholds: Thresholds) -> LearningRecord {
        LearningRecord {
            ts,
            query_hash: "0".repeat(16),
            scanned_files: 10,
            candidates: 10,
            warnings: 0,
            max_stage_applied: 3,
            scope_expanded: false,
            cutoff_reason: None,
            unscanned_sections_count: 0,
            est_tokens: 400,
            est_tokens_in: 10,
            est_tokens_out: 390,
            added_evidence_count: 3,
            added_est_tokens: 400,
            marginal_gain: Some(0.0075),
            candidate_low_threshold: thresholds.candidate_low,
            file_bias_threshold: thresholds.file_bias,
            candidate_low_since: None,
            file_bias_since: None,
            trace_hash: "1".repeat(16),
            home_candidates: Some(10),
            home_bias: 0.3,
            used: 1,
            used_found: 1,
            used_widened: 0,
        }
    }

    /// Simulates one find an hour for some days, and returns the thresholds of each.
    fn simulate(days: i64, make: impl Fn(usize, &mut LearningRecord)) -> Vec<Thresholds> {
        let (mut records, mut seen) = (Vec::new(), Vec::new());
        for hour in 0..days * 24 {
            let now = hour * HOUR;
            let next = thresholds(&records, now, BASE, 0.9);
            let mut made = record(now, next);
            make(usize::try_from(hour).unwrap(), &mut made);
            records.push(made);
            seen.push(next);
        }
        seen
    }

    fn assert_bounded(seen: &[Thresholds]) {
        for pair in seen.windows(2) {
            assert!(pair[0].candidate_low.abs_diff(pair[1].candidate_low) <= 1, "{pair:?}");
            assert!((pair[0].file_bias - pair[1].file_bias).abs() < 0.031, "{pair:?}");
        }
        for (from, one) in seen.iter().enumerate() {
            for other in seen.iter().skip(from + 1).take(23) {
                assert!(one.candidate_low.abs_diff(other.candidate_low) <= 1, "twice within a day");
                assert!((one.file_bias - other.file_bias).abs() < 0.031, "twice within a day");
            }
        }
        assert!(seen.iter().all(|one| CANDIDATE_LOW_RANGE.contains(&one.candidate_low)
            && FILE_BIAS_RANGE.contains(&one.file_bias)));
    }

    #[test]
    fn thresholds_stay_when_nothing_would_improve() {
        assert!(simulate(21, |_, _| {}).iter().all(|one| *one == BASE));
        assert!(simulate(21, |_, record| record.used = 0).iter().all(|one| *one == BASE));
        assert_eq!(thresholds(&[], 0, BASE, 0.9), BASE);
    }

    #[test]
    fn useless_widening_is_reduced_step_by_step() {
        let seen = simulate(21, |_, record| {
            record.home_candidates = Some(record.candidate_low_threshold - 1);
            record.scope_expanded = true;
        });
        assert_eq!(seen.last().unwrap().candidate_low, 2);
        assert_bounded(&seen);
        let seen = simulate(21, |_, record| {
            (record.home_bias, record.scope_expanded) = (record.file_bias_threshold + 0.01, true);
        });
        assert_eq!(seen.last().unwrap().file_bias, 0.90);
        assert_bounded(&seen);
    }

    #[test]
    fn widening_stays_when_callers_read_sections_of_other_manuals() {
        let seen = simulate(21, |hour, record| {
            record.home_candidates = Some(record.candidate_low_threshold - 1);
            record.scope_expanded = true;
            record.used_widened = usize::from(hour % 5 == 0);
        });
        assert!(seen.iter().all(|one| one.candidate_low == 3));
    }

    #[test]
    fn finds_that_miss_what_is_used_widen_sooner() {
        let seen = simulate(21, |hour, record| {
            record.home_candidates = Some(record.candidate_low_threshold);
            record.used_found = usize::from(hour % 2 == 0);
        });
        assert!(seen.last().unwrap().candidate_low > 3, "{:?}", seen.last());
        assert_bounded(&seen);
        let seen = simulate(21, |hour, record| {
            record.home_bias = record.file_bias_threshold - 0.01;
            record.used_found = usize::from(hour % 2 == 0);
        });
        assert_eq!(seen.last().unwrap().file_bias, 0.70);
        assert_bounded(&seen);
    }

    #[test]
    fn a_step_waits_a_day_even_when_older_records_are_gone() {
        let moved = Thresholds { candidate_low: 4, ..BASE };
        let minute = 60 * 1000;
        let mut records: Vec<_> = (0..400).map(|number| record(number * minute / 10, moved)).collect();
        for record in &mut records {
            (record.home_candidates, record.used_found) = (Some(4), 0);
        }
        assert_eq!(thresholds(&records, HOUR, BASE, 0.9), moved, "it was set within the hour");
        assert_eq!(thresholds(&records, 30 * HOUR, BASE, 0.9).candidate_low, 5);
        for record in &mut records {
            record.candidate_low_since = Some(29 * HOUR);
        }
        assert_eq!(thresholds(&records, 30 * HOUR, BASE, 0.9), moved);
    }

    #[test]
    fn a_regression_restores_the_defaults() {
        let moved = Thresholds { candidate_low: 5, file_bias: 0.71 };
        let mut records: Vec<_> = (0..200).map(|hour| record(hour * HOUR, moved)).collect();
        assert_eq!(thresholds(&records, 200 * HOUR, BASE, 0.9), moved);
        for record in records.iter_mut().skip(100).take(4) {
            record.used_found = 0;
        }
        assert_eq!(thresholds(&records, 200 * HOUR, BASE, 0.9), BASE, "recall fell by 4 points");
        for record in records.iter_mut().skip(100).take(4) {
            record.used_found = 1;
        }
        for record in records.iter_mut().skip(100).take(6) {
            record.cutoff_reason = Some("time_budget".to_owned());
        }
        assert_eq!(thresholds(&records, 200 * HOUR, BASE, 0.9), BASE, "6 points more were cut");
    }

    proptest! {
        #[test]
        fn thresholds_stay_in_range_and_move_one_step_at_a_time(
            finds in proptest::collection::vec((0_usize..9, 0.0_f64..1.0, any::<bool>(), 0_usize..3, 0_usize..3), 1..300),
        ) {
            let seen = simulate(20, |hour, record| {
                let (candidates, bias, widened, used, found) = finds[hour % finds.len()];
                (record.home_candidates, record.home_bias, record.scope_expanded) = (Some(candidates), bias, widened);
                (record.used, record.used_found) = (used, found.min(used));
            });
            // A return to the defaults may be more than one step.
            for pair in seen.windows(2).filter(|pair| pair[1] != BASE) {
                prop_assert!(pair[0].candidate_low.abs_diff(pair[1].candidate_low) <= 1);
                prop_assert!((pair[0].file_bias - pair[1].file_bias).abs() < 0.031);
            }
            prop_assert!(seen.iter().all(|one| CANDIDATE_LOW_RANGE.contains(&one.candidate_low) && FILE_BIAS_RANGE.contains(&one.file_bias)));
        }
    }
}
