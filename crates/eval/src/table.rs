//! The figures as tables that fit into 120 columns.

use annai_text::truncate_chars;

use crate::bootstrap::Estimate;
use crate::conflicts::{ANY_SPLIT, ConflictScores};
use crate::questions::{Baseline, QuestionScores, Reliability, WORDED};
use crate::row::{ALL, Row};

/// Stands for a figure that nothing counts for.
const NOTHING: &str = "-";
/// From here on, decimals do not matter.
const LARGE: f64 = 100.0;

/// The first `max_chars` characters of a name, with an ellipsis if more follow.
fn truncate(name: &str, max_chars: usize) -> String {
    match truncate_chars(name, max_chars) {
        (_, true) => name.to_owned(),
        (start, false) => format!("{start}…"),
    }
}

/// A figure with three decimals, or without if it is large.
pub fn number(value: Option<f64>) -> String {
    match value {
        Some(value) if value.abs() >= LARGE => format!("{value:.0}"),
        Some(value) => format!("{value:.3}"),
        None => NOTHING.to_owned(),
    }
}

/// A figure with its interval, such as `0.954 [0.92, 0.98]`.
pub fn with_interval(estimate: Estimate) -> String {
    let value = number(estimate.value);
    match (estimate.value, estimate.interval) {
        (Some(large), Some([low, high])) if large.abs() >= LARGE => format!("{value} [{low:.0}, {high:.0}]"),
        (Some(_), Some([low, high])) => format!("{value} [{low:.2}, {high:.2}]"),
        _ => value,
    }
}

/// A difference with its sign and its interval, such as `+0.012 [-0.003, +0.027]`.
pub fn difference(estimate: Estimate) -> String {
    match (estimate.value, estimate.interval) {
        (Some(value), Some([low, high])) => format!("{value:+.3} [{low:+.3}, {high:+.3}]"),
        _ => NOTHING.to_owned(),
    }
}

/// All tables about questions. Those about other wordings are left out if no question has any, except the comparison.
pub fn questions(scores: &QuestionScores) -> String {
    let rows = &scores.rows;
    let mut text = retrieval(rows) + &comparison(rows);
    if scores.baseline == Baseline::Plain {
        text.push_str(&plain(rows));
    }
    text.push_str(&belief(rows, "belief", ""));
    if scores.worded_reliability.is_some() {
        text.push_str(&belief(rows, "belief, worded", WORDED));
    }
    text.push_str(&reliability(&scores.reliability, "sufficiency"));
    if let Some(worded) = &scores.worded_reliability {
        text.push_str(&reliability(worded, "sufficiency, worded"));
    }
    text + &skipped(scores.skipped, "questions")
}

fn skipped(count: usize, what: &str) -> String {
    match count {
        0 => String::new(),
        _ => format!("\n{count} {what} skipped, because their manuals are not in the given folders\n"),
    }
}

/// How well the bare questions find the answers.
fn retrieval(rows: &[Row]) -> String {
    let mut text = format!(
        "{:20} {:>5}  {:18} {:>6} {:>6}  {:18}  {:>9}\n",
        "retrieval", "n", "R@5", "R@10", "R@20", "MRR", "ms"
    );
    for row in rows {
        let value = |name: &str| number(row.figure(name).value);
        text.push_str(&format!(
            "{:20} {:>5}  {:18} {:>6} {:>6}  {:18}  {:>9}\n",
            truncate(&row.name, 19),
            row.count("answerable"),
            with_interval(row.figure("recall_5")),
            value("recall_10"),
            value("recall_20"),
            with_interval(row.figure("mrr")),
            row.figure("millis").value.map_or(NOTHING.to_owned(), |millis| format!("{millis:.1}")),
        ));
    }
    text
}

/// The bare question, and the question with its other wordings.
fn comparison(rows: &[Row]) -> String {
    let line = |cells: [&str; 7]| {
        let [name, n, bare, worded, gain, bare_recall, worded_recall] = cells;
        format!("{name:20} {n:>5}  {bare:>8} {worded:>8}  {gain:23}  {bare_recall:>8} {worded_recall:>8}\n")
    };
    let mut text = "\n".to_owned();
    text.push_str(&line(["comparison", "n", "MRR bare", "worded", "worded − bare", "R@5 bare", "worded"]));
    for row in rows {
        let value = |name: &str| number(row.figure(name).value);
        text.push_str(&line([
            &truncate(&row.name, 19),
            &row.count("answerable").to_string(),
            &value("mrr"),
            &value("worded_mrr"),
            &difference(row.figure("gain_of_wording_mrr")),
            &value("recall_5"),
            &value("worded_recall_5"),
        ]));
    }
    // With some of the questions left out, the columns of a row are not about the same ones.
    let (all, worded) =
        rows.last().map_or((0, 0), |row| (row.count("questions"), row.count("worded_questions")));
    if worded > 0 && worded < all {
        let without = all - worded;
        text.push_str(&format!(
            "worded: without the {without} of {all} questions that have no other wordings\n"
        ));
    }
    text
}

/// The plain search, bare and with other wordings, and what the search gains over it.
fn plain(rows: &[Row]) -> String {
    let line = |cells: [&str; 8]| {
        let [name, n, bare, gain, worded, worded_gain, bare_recall, worded_recall] = cells;
        format!(
            "{name:20} {n:>5}  {bare:>8}  {gain:23} {worded:>8}  {worded_gain:23}  {bare_recall:>8} {worded_recall:>8}\n"
        )
    };
    let mut text = "\n".to_owned();
    let gain = "search − plain";
    text.push_str(&line(["plain", "n", "MRR bare", gain, "worded", gain, "R@5 bare", "worded"]));
    for row in rows {
        let value = |name: &str| number(row.figure(name).value);
        text.push_str(&line([
            &truncate(&row.name, 19),
            &row.count("answerable").to_string(),
            &value("plain_mrr"),
            &difference(row.figure("gain_over_plain_mrr")),
            &value("worded_plain_mrr"),
            &difference(row.figure("worded_gain_over_plain_mrr")),
            &value("plain_recall_5"),
            &value("worded_plain_recall_5"),
        ]));
    }
    text
}

/// What is said about the results of the finds whose figures have this prefix, and what the reply costs.
fn belief(rows: &[Row], title: &str, prefix: &str) -> String {
    let mut text = format!(
        "\n{:20} {:>5} {:>6} {:>6}  {:18} {:>8}  {:18}  {}\n",
        title, "n", "unansw", "ready", "ready precision", "recall", "conflict rate", "chars"
    );
    for row in rows {
        let count = |name: &str| row.count(&format!("{prefix}{name}"));
        let figure = |name: &str| row.figure(&format!("{prefix}{name}"));
        text.push_str(&format!(
            "{:20} {:>5} {:>6} {:>6}  {:18} {:>8}  {:18}  {}\n",
            truncate(&row.name, 19),
            count("questions"),
            count("unanswerable"),
            count("ready"),
            with_interval(figure("ready_precision")),
            number(figure("ready_recall").value),
            with_interval(figure("conflict_rate")),
            with_interval(figure("chars")),
        ));
    }
    text
}

fn reliability(reliability: &Reliability, title: &str) -> String {
    let mut text = format!("\n{title:20} {:>5}  {:>10} {:>10}\n", "finds", "mean score", "observed");
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
pub fn conflicts(scores: &ConflictScores) -> String {
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
