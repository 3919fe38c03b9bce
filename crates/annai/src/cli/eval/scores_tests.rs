use super::*;

/// A find of a question with an answer (found or not) or without one.
fn outcome(facet: &str, answered: Option<bool>, is_ready: bool, sufficiency: f64) -> Outcome {
    let score = answered.map(|answered| Score {
        recall_5: share(answered),
        recall_10: 1.0,
        recall_20: 1.0,
        reciprocal_rank: if answered { 1.0 } else { 0.125 },
    });
    let conflicts = u64::from(sufficiency < 0.5);
    Outcome {
        facet: facet.to_owned(),
        annai: score,
        plain: score.map(|score| Score { recall_5: 0.0, ..score }),
        found: Found::of_test(sufficiency, is_ready, conflicts),
        miss: None,
    }
}

#[test]
fn figures_count_the_questions_that_they_are_about() {
    let outcomes = [
        outcome("a", Some(true), true, 0.9),
        outcome("a", Some(true), false, 0.6),
        outcome("a", Some(false), true, 0.8),
        outcome("b", None, true, 0.9),
        outcome("b", None, false, 0.1),
    ];
    let rows = rows_by_facet(&outcomes);
    assert_eq!(rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["a", "b", "all"]);
    let value = |row: usize, name: &str| rows[row].get(name).unwrap().value;
    let close = |one: Option<f64>, other: f64| (one.unwrap() - other).abs() < 1e-9;
    // Unanswerable questions count for the share of right `ready` finds, and for no figure of retrieval.
    assert!(close(value(2, "recall_5"), 2.0 / 3.0) && close(value(0, "recall_5"), 2.0 / 3.0));
    assert!(close(value(2, "mrr"), 2.125 / 3.0));
    assert_eq!(value(2, "plain_recall_5"), Some(0.0));
    assert!(close(value(2, "ready_precision"), 1.0 / 3.0) && close(value(0, "ready_precision"), 0.5));
    // Of the questions whose answer was found, one of two is ready.
    assert_eq!(value(2, "ready_recall"), Some(0.5));
    assert!(close(value(2, "conflict_rate"), 0.2));
    assert!(close(value(2, "brier"), (0.01 + 0.16 + 0.64 + 0.81 + 0.01) / 5.0));
    assert_eq!((value(1, "recall_5"), value(1, "ready_recall")), (None, None));
    assert_eq!(value(1, "ready_precision"), Some(0.0));
    let counts = ["questions", "answerable", "unanswerable", "ready"].map(|name| rows[2].count(name));
    assert_eq!(counts, [5, 3, 2, 3]);
    assert_eq!(rows[2].get("ready").unwrap().value, Some(3.0), "a gate may bound a count");
    assert!(rows[2].get("no_such_figure").is_none());
}
