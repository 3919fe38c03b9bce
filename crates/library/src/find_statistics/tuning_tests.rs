use proptest::prelude::*;
use serde_json::json;

use super::*;

const HOUR: i64 = 3600 * 1000;
const BASE: Thresholds = Thresholds { candidate_low: 3, file_bias: 0.80 };

fn record(ts: i64, thresholds: Thresholds) -> FindRecord {
    FindRecord {
        ts,
        trace_hash: String::new(),
        scope_expanded: true,
        cutoff_reason: None,
        thresholds,
        used: 1,
        used_found: 1,
        used_widened: 0,
        others: Map::new(),
    }
}

fn resumed(records: &[FindRecord]) -> Tuning {
    Tuning::resume(&LibrarySection::default(), records)
}

fn updated(tuning: &mut Tuning, records: &[FindRecord], now: i64) -> Thresholds {
    tuning.update(&records.iter().collect::<Vec<_>>(), now);
    tuning.current
}

/// Simulates one find an hour for some days, and returns the thresholds of each.
fn simulate(days: i64, make: impl Fn(usize, &mut FindRecord)) -> Vec<Thresholds> {
    let (mut tuning, mut records, mut seen) = (resumed(&[]), Vec::new(), Vec::new());
    for hour in 0..days * 24 {
        let mut made = record(hour * HOUR, tuning.current);
        make(usize::try_from(hour).unwrap(), &mut made);
        records.push(made);
        seen.push(updated(&mut tuning, &records, hour * HOUR));
        // A restart changes nothing.
        if hour % 7 == 0 && records.last().unwrap().thresholds == tuning.current {
            tuning = resumed(&records);
        }
    }
    seen
}

/// The thresholds at the end of each day.
fn daily(seen: &[Thresholds]) -> Vec<(usize, f64)> {
    seen.iter().skip(23).step_by(24).map(|one| (one.candidate_low, one.file_bias)).collect()
}

#[test]
fn widening_that_nobody_needs_is_reduced_by_one_step_a_day_to_the_end_of_the_range() {
    let seen = simulate(6, |_, _| {});
    assert_eq!(daily(&seen), [(3, 0.80), (2, 0.83), (2, 0.86), (2, 0.89), (2, 0.90), (2, 0.90)]);
}

#[test]
fn finds_that_miss_what_is_read_widen_sooner_by_one_step_a_day_to_the_end_of_the_range() {
    let seen = simulate(6, |hour, record| record.used_found = u32::from(hour % 2 == 0));
    assert_eq!(daily(&seen), [(3, 0.80), (4, 0.77), (5, 0.74), (6, 0.71), (6, 0.70), (6, 0.70)]);
}

#[test]
fn a_step_waits_for_a_day_and_for_twenty_finds() {
    let moved = Thresholds { candidate_low: 4, file_bias: 0.77 };
    let mut records = vec![record(0, BASE)];
    records.extend((0..19).map(|_| record(HOUR, moved)));
    let mut tuning = resumed(&records);
    assert_eq!(updated(&mut tuning, &records, 99 * HOUR), moved, "there are 19 finds");
    records.push(record(2 * HOUR, moved));
    assert_eq!(updated(&mut tuning, &records, 25 * HOUR - 1), moved, "it changed less than 24 hours ago");
    assert_eq!(updated(&mut tuning, &records, 25 * HOUR), BASE, "one step");
}

#[test]
fn thresholds_stay_without_reason() {
    let unread = simulate(3, |_, record| (record.used, record.used_found) = (0, 0));
    let home = simulate(3, |_, record| record.scope_expanded = false);
    let needed = simulate(3, |hour, record| record.used_widened = u32::from(hour % 5 == 0));
    for seen in [unread, home, needed] {
        assert!(seen.iter().all(|one| *one == BASE));
    }
}

#[test]
fn a_fall_of_the_recall_or_a_rise_of_the_cut_offs_returns_to_the_settings() {
    let moved = Thresholds { candidate_low: 5, file_bias: 0.71 };
    let after = |worse: usize, make: fn(&mut FindRecord)| {
        let mut records: Vec<_> = (0..200).map(|hour| record(hour * HOUR, moved)).collect();
        records.iter_mut().skip(100).take(worse).for_each(make);
        let mut tuning = resumed(&records);
        tuning.since = Some(200 * HOUR);
        updated(&mut tuning, &records, 200 * HOUR)
    };
    let missed = |record: &mut FindRecord| record.used_found = 0;
    assert_eq!((after(3, missed), after(4, missed)), (moved, BASE), "more than 3 points");
    let cut = |record: &mut FindRecord| record.cutoff_reason = Some("time_budget".to_owned());
    assert_eq!((after(5, cut), after(6, cut)), (moved, BASE), "more than 5 points");
}

#[test]
fn the_settings_and_edited_records_stay_in_range_and_no_tuning_changes_nothing() {
    let edited = [record(0, Thresholds { candidate_low: 900, file_bias: 7.5 })];
    assert_eq!(resumed(&edited).current, Thresholds { candidate_low: 6, file_bias: 0.90 });
    let settings = LibrarySection { adaptive_tuning: false, ..LibrarySection::default() };
    let mut off = Tuning::resume(&settings, &edited);
    let records: Vec<_> = (0..30).map(|_| record(0, BASE)).collect();
    assert_eq!((off.current, updated(&mut off, &records, 99 * HOUR)), (BASE, BASE));
    assert_eq!(resumed(&[]).current, BASE);
}

#[test]
fn a_record_keeps_the_fields_that_the_tuning_does_not_need() {
    let line = json!({
        "ts": 1, "trace_hash": "a", "scope_expanded": false, "cutoff_reason": null, "candidate_low_threshold": 3,
        "file_bias_threshold": 0.83, "used": 0, "used_found": 0, "used_widened": 0, "candidates": 7, "marginal_gain": 0.0075,
    });
    let record: FindRecord = serde_json::from_value(line.clone()).unwrap();
    assert_eq!((record.thresholds.file_bias, json!(record)), (0.83, line));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn thresholds_stay_in_range_and_move_by_one_step_in_a_day(
        finds in proptest::collection::vec((any::<bool>(), 0_u32..3, 0_u32..3, 0_u32..3), 1..300),
    ) {
        let seen = simulate(20, |hour, record| {
            let (widened, used, found, outside) = finds[hour % finds.len()];
            record.scope_expanded = widened;
            (record.used, record.used_found, record.used_widened) = (used, found.min(used), outside.min(found.min(used)));
        });
        for (index, one) in seen.iter().enumerate() {
            prop_assert!((2..=6).contains(&one.candidate_low) && (0.70..=0.90).contains(&one.file_bias));
            // Only a rollback may be more than one step.
            for other in seen.iter().skip(index + 1).take(23).filter(|other| **other != BASE) {
                prop_assert!(one.candidate_low.abs_diff(other.candidate_low) <= 1 || *one == BASE);
                prop_assert!((one.file_bias - other.file_bias).abs() < 0.031 || *one == BASE);
            }
        }
    }
}
