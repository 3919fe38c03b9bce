use super::*;

fn outcome(answered: Option<bool>, is_ready: bool, sufficiency: f64) -> Outcome {
    Outcome::of_test("a", ScoredFind::of_test(answered, is_ready, sufficiency), None)
}

/// A question that is asked with other wordings too.
fn reworded(before: Option<bool>, after: Option<bool>, is_ready: bool, sufficiency: f64) -> Outcome {
    let bare = ScoredFind::of_test(before, false, 0.5);
    Outcome::of_test("a", bare, Some(ScoredFind::of_test(after, is_ready, sufficiency)))
}

fn row_of(outcomes: &[Outcome]) -> Row {
    row("a", &outcomes.iter().collect::<Vec<_>>(), Baseline::Plain)
}

fn value(row: &Row, name: &str) -> Option<f64> {
    row.get(name).unwrap().value
}

fn assert_close(row: &Row, name: &str, expected: f64) {
    let actual = value(row, name).unwrap();
    assert!((actual - expected).abs() < 1e-9, "{name} is {actual}, not {expected}");
}

#[test]
fn figures_count_the_questions_that_they_are_about() {
    let answerable = || {
        vec![outcome(Some(true), true, 0.9), outcome(Some(true), false, 0.6), outcome(Some(false), true, 0.8)]
    };
    let unanswerable = || vec![outcome(None, true, 0.9), outcome(None, false, 0.1)];
    let all = row_of(&[answerable(), unanswerable()].into_iter().flatten().collect::<Vec<_>>());
    let (answerable, unanswerable) = (row_of(&answerable()), row_of(&unanswerable()));
    // Unanswerable questions count for the share of right `ready` finds, and for no figure of retrieval.
    for row in [&answerable, &all] {
        assert_close(row, "recall_1", 2.0 / 3.0);
        assert_close(row, "recall_5", 2.0 / 3.0);
        assert_close(row, "recall_10", 1.0);
        assert_close(row, "mrr", 2.125 / 3.0);
        assert_close(row, "plain_recall_5", 0.0);
        assert_close(row, "plain_mrr", 0.1);
        assert_close(row, "gain_over_plain_mrr", 2.125 / 3.0 - 0.1);
    }
    assert_close(&all, "ready_precision", 1.0 / 3.0);
    assert_close(&answerable, "ready_precision", 0.5);
    // Of the questions whose answer was found, one of two is ready.
    assert_close(&all, "ready_recall", 0.5);
    assert_close(&all, "conflict_rate", 0.2);
    assert_close(&all, "brier", (0.01 + 0.16 + 0.64 + 0.81 + 0.01) / 5.0);
    assert_eq!((value(&unanswerable, "recall_5"), value(&unanswerable, "ready_recall")), (None, None));
    assert_eq!(value(&unanswerable, "ready_precision"), Some(0.0));
    let counts = ["questions", "answerable", "unanswerable", "ready"].map(|name| all.count(name));
    assert_eq!(counts, [5, 3, 2, 3]);
    assert_eq!(value(&all, "ready"), Some(3.0), "a gate may bound a count");
    assert!(all.get("no_such_figure").is_none());
}

#[test]
fn questions_without_other_wordings_do_not_count_for_the_figures_of_wording() {
    let row = row_of(&[outcome(Some(true), true, 0.9)]);
    let names = row.names();
    for name in [
        "worded_recall_1",
        "worded_recall_5",
        "worded_recall_10",
        "worded_recall_20",
        "worded_mrr",
        "worded_ready_precision",
        "worded_ready_recall",
        "worded_millis",
        "worded_brier",
        "worded_calibration_error",
        "gain_of_wording_mrr",
        "gain_of_wording_recall_5",
        "worded_plain_recall_1",
        "worded_plain_mrr",
        "worded_gain_over_plain_mrr",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
        assert_eq!(value(&row, name), None, "{name}");
    }
    assert_eq!((value(&row, "worded_ready"), value(&row, "worded_questions")), (Some(0.0), Some(0.0)));
    assert!(value(&row, "gain_over_plain_mrr").is_some() && value(&row, "plain_recall_1").is_some());
}

#[test]
fn the_gain_of_wording_is_over_the_same_questions() {
    let row = row_of(&[
        reworded(Some(false), Some(true), true, 0.9),
        reworded(Some(true), Some(true), false, 0.7),
        reworded(Some(true), Some(false), true, 0.6),
        reworded(None, None, true, 0.2),
        // Counts for the bare figures only.
        outcome(Some(false), false, 0.5),
    ]);
    assert_close(&row, "mrr", 2.25 / 4.0);
    assert_close(&row, "worded_mrr", 2.125 / 3.0);
    // The mean of +0.875, 0 and -0.875, which is not the difference of the two means above.
    assert_close(&row, "gain_of_wording_mrr", 0.0);
    assert_close(&row, "gain_of_wording_recall_5", 0.0);
    assert_close(&row, "worded_recall_1", 2.0 / 3.0);
    assert_close(&row, "worded_plain_mrr", 0.2);
    assert_close(&row, "worded_gain_over_plain_mrr", 2.125 / 3.0 - 0.2);
    assert_close(&row, "worded_ready_precision", 1.0 / 3.0);
    assert_close(&row, "worded_ready_recall", 0.5);
    assert_close(&row, "worded_brier", (0.01 + 0.09 + 0.36 + 0.04) / 4.0);
    assert_close(&row, "worded_calibration_error", (0.1 + 0.3 + 0.6 + 0.2) / 4.0);
    assert_close(&row, "worded_conflict_rate", 0.25);
    let counts = ["worded_questions", "worded_unanswerable", "worded_ready"].map(|name| row.count(name));
    assert_eq!(counts, [4, 1, 3]);
}

#[test]
fn the_interval_of_a_gain_is_that_of_the_differences() {
    let same: Vec<_> = (0..50).map(|_| reworded(Some(true), Some(true), false, 0.5)).collect();
    let interval = row_of(&same).get("gain_of_wording_mrr").unwrap().interval;
    assert_eq!(interval, Some([0.0, 0.0]), "what every question has in common does not vary");
    let mixed: Vec<_> = (0..100)
        .map(|number| reworded(Some(number % 2 == 0), Some(number % 2 == 0 || number % 10 == 1), false, 0.5))
        .collect();
    let gain = row_of(&mixed).get("gain_of_wording_mrr").unwrap();
    // A tenth of the questions gain 0.875: 0.0875 ± 1.96 · 0.875 · √(0.1 · 0.9 / 100).
    let [low, high] = gain.interval.unwrap();
    assert!((gain.value.unwrap() - 0.0875).abs() < 1e-9);
    assert!((low - 0.036).abs() < 0.012 && (high - 0.139).abs() < 0.012, "{low} {high}");
}

#[test]
fn without_the_plain_search_its_figures_are_absent() {
    let outcome = reworded(Some(true), Some(true), true, 0.9);
    let (with, without) = (row("a", &[&outcome], Baseline::Plain), row("a", &[&outcome], Baseline::Absent));
    let absent = Baseline::Absent.absent_figures();
    assert_eq!([without.names(), absent.clone()].concat(), with.names());
    assert!(absent.iter().all(|name| name.contains("plain")) && absent.len() == 12, "{absent:?}");
    assert_eq!(Baseline::Plain.absent_figures(), [""; 0]);
}
