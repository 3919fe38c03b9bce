use annai_core::ErrorKind;

use super::*;

fn estimate(value: Option<f64>) -> Estimate {
    Estimate { value, interval: value.map(|value| [value - 0.02, value + 0.02]) }
}

fn rows() -> Vec<Row> {
    let row = |name: &str, recall, precision| Row {
        name: name.to_owned(),
        counts: vec![("questions", 40)],
        figures: vec![("recall_5", estimate(recall)), ("ready_precision", estimate(precision))],
    };
    vec![row("ja", Some(0.9), None), row("all", Some(0.95), Some(0.8))]
}

fn gates(json: &str) -> Gates {
    Gates { path: "gates.json".into(), files: serde_json::from_str(json).unwrap() }
}

fn file<'a>(rows: &'a [Row], skipped_rows: &'a BTreeSet<String>) -> MeasuredFile<'a> {
    MeasuredFile { name: "q.jsonl", rows, skipped_rows, absent_figures: vec!["plain_mrr"] }
}

fn check(json: &str) -> Result<GateReport, EvalError> {
    let (rows, skipped_rows) = (rows(), BTreeSet::from(["skipped".to_owned()]));
    gates(json).check(&[file(&rows, &skipped_rows)])
}

#[test]
fn the_value_counts_and_the_interval_is_told() {
    let report = check(
        r#"{"q.jsonl": {"all": {"recall_5": {"min": 0.95}, "ready_precision": {"min": 0.9}, "questions": {"min": 40}},
            "ja": {"recall_5": {"min": 0.5, "max": 0.8}}}}"#,
    );
    let report = report.unwrap();
    assert_eq!((report.checked, report.unchecked), (4, 0));
    let failure = report.failure().unwrap();
    assert_eq!(
        failure,
        "2 of 4 gates failed\n  \
         q.jsonl, all: ready_precision is 0.800 [0.78, 0.82]; the minimum is 0.9\n  \
         q.jsonl, ja: recall_5 is 0.900 [0.88, 0.92]; the maximum is 0.8"
    );
    assert!(check(r#"{"q.jsonl": {"all": {"recall_5": {"min": 0.9}}}}"#).unwrap().failure().is_none());
}

#[test]
fn a_figure_without_a_value_fails() {
    let report = check(r#"{"q.jsonl": {"ja": {"ready_precision": {"min": 0.1}}}}"#).unwrap();
    let message = report.failure().unwrap();
    assert!(message.contains("ready_precision has no value"), "{message}");
}

#[test]
fn gates_about_what_was_not_asked_are_counted() {
    let report = check(
        r#"{"q.jsonl": {"all": {"recall_5": {"min": 0.9}}, "skipped": {"recall_5": {"min": 0.9}}},
            "other.jsonl": {"all": {"recall_5": {"min": 1.0}, "mrr": {"min": 1.0}}}}"#,
    );
    let report = report.unwrap();
    assert_eq!((report.checked, report.unchecked, report.failed.len()), (1, 3, 0));
    for nothing in [
        r#"{"other.jsonl": {"all": {"recall_5": {"min": 1.0}}}}"#,
        r#"{"q.jsonl": {"skipped": {"recall_5": {"min": 1.0}}}}"#,
        "{}",
    ] {
        let failure = check(nothing).unwrap_err();
        assert!(
            failure.kind == ErrorKind::InvalidParameter
                && failure.message.contains("no gate could be checked"),
            "{}",
            failure.message
        );
    }
}

#[test]
fn a_row_of_which_everything_was_skipped_is_not_checked() {
    let mut rows = rows();
    rows[1].counts = vec![("questions", 0)];
    let skipped_rows = BTreeSet::from(["all".to_owned()]);
    let gates = gates(
        r#"{"q.jsonl": {"all": {"questions": {"min": 40}, "recall_5": {"min": 1}}, "ja": {"recall_5": {"min": 0.9}}}}"#,
    );
    let report = gates.check(&[file(&rows, &skipped_rows)]).unwrap();
    assert_eq!((report.checked, report.unchecked, report.failed.len()), (1, 2, 0));
    // Without skipped questions, nothing excuses a row without questions.
    let nothing = BTreeSet::new();
    assert_eq!(gates.check(&[file(&rows, &nothing)]).unwrap().failed.len(), 2);
}

#[test]
fn unknown_names_are_refused() {
    let failure = check(r#"{"q.jsonl": {"all": {"recal_5": {"min": 0.9}}}}"#).unwrap_err();
    let expected = "gates.json: q.jsonl.all.recal_5: `recal_5` is not a figure; it must be one of \
                    questions, recall_5, ready_precision";
    assert_eq!((failure.kind, failure.message.as_str()), (ErrorKind::InvalidParameter, expected));
    let failure = check(r#"{"q.jsonl": {"jp": {"recall_5": {"min": 0.9}}}}"#).unwrap_err();
    let expected = "gates.json: q.jsonl.jp.recall_5: `jp` is not in the file; it must be one of ja, all";
    assert_eq!((failure.kind, failure.message.as_str()), (ErrorKind::InvalidParameter, expected));
}

#[test]
fn figures_that_need_the_plain_search_are_not_checked_without_it() {
    let gates = r#"{"q.jsonl": {"all": {"recall_5": {"min": 0.9}, "plain_mrr": {"min": 1}},
        "skipped": {"recall_5": {"min": 1}}}}"#;
    let report = check(gates).unwrap();
    assert_eq!((report.checked, report.unchecked, report.failed.len()), (1, 2, 0));
    assert_eq!(
        report.summary(),
        "1 of 1 gates passed; 1 were not checked, because their questions or cases were not asked; \
         1 were not checked, because they need --plain"
    );
    let failure = check(r#"{"q.jsonl": {"all": {"plain_mrr": {"min": 1}}}}"#).unwrap_err();
    assert!(failure.message.ends_with("and q.jsonl was evaluated without --plain"), "{}", failure.message);
}
