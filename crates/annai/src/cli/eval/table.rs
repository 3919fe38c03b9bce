//! The figures as tables that fit into 120 columns.

use super::super::terminal::truncate;
use super::bootstrap::Estimate;
use super::conflict_cases::ANY_SPLIT;
use super::conflict_scores::ConflictScores;
use super::reliability::Reliability;
use super::row::{ALL, Row};
use super::scores::QuestionScores;

/// Stands for a figure that nothing counts for.
const NOTHING: &str = "-";
/// From here on, decimals do not matter.
const LARGE: f64 = 100.0;

/// A figure with three decimals, or without if it is large.
fn number(value: Option<f64>) -> String {
    match value {
        Some(value) if value.abs() >= LARGE => format!("{value:.0}"),
        Some(value) => format!("{value:.3}"),
        None => NOTHING.to_owned(),
    }
}

/// A figure with its interval, such as `0.954 [0.92, 0.98]`.
pub(super) fn with_interval(estimate: Estimate) -> String {
    let value = number(estimate.value);
    match (estimate.value, estimate.interval) {
        (Some(large), Some([low, high])) if large.abs() >= LARGE => format!("{value} [{low:.0}, {high:.0}]"),
        (Some(_), Some([low, high])) => format!("{value} [{low:.2}, {high:.2}]"),
        _ => value,
    }
}

/// All tables about questions.
pub(super) fn questions(scores: &QuestionScores) -> String {
    let rows = &scores.rows;
    [retrieval(rows), belief(rows), reliability(&scores.reliability), skipped(scores.skipped, "questions")]
        .concat()
}

fn skipped(count: usize, what: &str) -> String {
    match count {
        0 => String::new(),
        _ => format!("\n{count} {what} skipped, because their manuals are not in the given folders\n"),
    }
}

/// How well the answers are found, next to the baseline.
fn retrieval(rows: &[Row]) -> String {
    let mut text = format!(
        "{:20} {:>5}  {:18} {:>6} {:>6}  {:18}  {:>9} {:>9} {:>9}\n",
        "retrieval", "n", "R@5", "R@10", "R@20", "MRR", "plain R@5", "plain MRR", "ms"
    );
    for row in rows {
        let value = |name: &str| number(row.figure(name).value);
        text.push_str(&format!(
            "{:20} {:>5}  {:18} {:>6} {:>6}  {:18}  {:>9} {:>9} {:>9}\n",
            truncate(&row.name, 19),
            row.count("answerable"),
            with_interval(row.figure("recall_5")),
            value("recall_10"),
            value("recall_20"),
            with_interval(row.figure("mrr")),
            value("plain_recall_5"),
            value("plain_mrr"),
            row.figure("millis").value.map_or(NOTHING.to_owned(), |millis| format!("{millis:.1}")),
        ));
    }
    text
}

/// What is said about the results, and what the reply costs.
fn belief(rows: &[Row]) -> String {
    let mut text = format!(
        "\n{:20} {:>5} {:>6} {:>6}  {:18} {:>8}  {:18}  {}\n",
        "belief", "n", "unansw", "ready", "ready precision", "recall", "conflict rate", "chars"
    );
    for row in rows {
        text.push_str(&format!(
            "{:20} {:>5} {:>6} {:>6}  {:18} {:>8}  {:18}  {}\n",
            truncate(&row.name, 19),
            row.count("questions"),
            row.count("unanswerable"),
            row.count("ready"),
            with_interval(row.figure("ready_precision")),
            number(row.figure("ready_recall").value),
            with_interval(row.figure("conflict_rate")),
            with_interval(row.figure("chars")),
        ));
    }
    text
}

fn reliability(reliability: &Reliability) -> String {
    let mut text =
        format!("\n{:20} {:>5}  {:>10} {:>10}\n", "sufficiency", "finds", "mean score", "observed");
    for bin in &reliability.bins {
        let range = format!("{:.1} to {:.1}", bin.from, bin.to);
        let (mean, observed) = (number(bin.mean_score), number(bin.observed));
        text.push_str(&format!("{range:20} {:>5}  {mean:>10} {observed:>10}\n", bin.finds));
    }
    text.push_str(&format!(
        "Brier score {}, expected calibration error {}\n",
        with_interval(reliability.brier),
        with_interval(reliability.calibration_error)
    ));
    text
}

/// The table about conflict cases.
pub(super) fn conflicts(scores: &ConflictScores) -> String {
    let mut text = format!(
        "{:24} {:>5} {:>8} {:>8} {:>8}  {:18} {:18} {}\n",
        "conflict cases", "n", "expected", "reported", "variants", "recall", "false alarms", "precision"
    );
    let is_split = |row: &&Row| !row.name.contains('/') && row.name != ALL;
    let has_one_split = scores.rows.iter().filter(is_split).count() == 1;
    // With a single split, these rows would repeat others.
    let repeats = |row: &Row| has_one_split && (is_split(&row) || row.name.starts_with(ANY_SPLIT));
    for row in scores.rows.iter().filter(|row| !repeats(row)) {
        text.push_str(&format!(
            "{:24} {:>5} {:>8} {:>8} {:>8}  {:18} {:18} {}\n",
            truncate(&row.name, 23),
            row.count("cases"),
            row.count("expected"),
            row.count("conflicts"),
            row.count("variants"),
            with_interval(row.figure("recall")),
            with_interval(row.figure("false_alarms")),
            with_interval(row.figure("precision")),
        ));
    }
    text + &skipped(scores.skipped, "conflict cases")
}
