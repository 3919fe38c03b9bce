//! The figures of a row of questions.

use super::outcome::{Outcome, ScoredFind};
use super::question::Score;
use super::reliability::{Statement, calibration_error};
use crate::bootstrap::Estimate;
use crate::row::Row;

/// What the names of the figures of finds with other wordings begin with.
pub const WORDED: &str = "worded_";

// Each figure is the mean of a value over the questions that have it.
/// A figure of retrieval, with its names for the bare question and with other wordings, and for the same by the plain search.
type RetrievalFigure = ([&'static str; 2], [&'static str; 2], fn(Score) -> f64);
/// A figure of what is said about a find, with its names for the bare question and with other wordings.
type BeliefFigure = ([&'static str; 2], fn(&ScoredFind) -> Option<f64>);
/// A difference between two searches for the same question.
type Gain = (&'static str, fn(&Outcome) -> Option<f64>);

const RETRIEVAL: [RetrievalFigure; 5] = [
    (["recall_1", "worded_recall_1"], ["plain_recall_1", "worded_plain_recall_1"], |score| score.recall_1),
    (["recall_5", "worded_recall_5"], ["plain_recall_5", "worded_plain_recall_5"], |score| score.recall_5),
    (["recall_10", "worded_recall_10"], ["plain_recall_10", "worded_plain_recall_10"], |score| {
        score.recall_10
    }),
    (["recall_20", "worded_recall_20"], ["plain_recall_20", "worded_plain_recall_20"], |score| {
        score.recall_20
    }),
    (["mrr", "worded_mrr"], ["plain_mrr", "worded_plain_mrr"], Score::reciprocal_rank),
];

const BELIEF: [BeliefFigure; 6] = [
    (["ready_precision", "worded_ready_precision"], |find| {
        find.found.is_ready.then(|| share(find.is_answered()))
    }),
    (["ready_recall", "worded_ready_recall"], |find| find.is_answered().then(|| share(find.found.is_ready))),
    (["conflict_rate", "worded_conflict_rate"], |find| Some(share(find.found.conflicts > 0))),
    (["chars", "worded_chars"], |find| Some(find.found.chars as f64)),
    (["millis", "worded_millis"], |find| Some(find.found.millis)),
    (["brier", "worded_brier"], |find| Some(find.statement().squared_error())),
];

const GAINS: [Gain; 2] = [
    ("gain_of_wording_mrr", |outcome| {
        Some(outcome.worded_score()?.reciprocal_rank() - outcome.bare.score?.reciprocal_rank())
    }),
    ("gain_of_wording_recall_5", |outcome| {
        Some(outcome.worded_score()?.recall_5 - outcome.bare.score?.recall_5)
    }),
];

const GAINS_OVER_PLAIN: [Gain; 2] = [
    ("gain_over_plain_mrr", |outcome| {
        Some(outcome.bare.score?.reciprocal_rank() - outcome.plain?.reciprocal_rank())
    }),
    ("worded_gain_over_plain_mrr", |outcome| {
        Some(outcome.worded_score()?.reciprocal_rank() - outcome.worded_plain?.reciprocal_rank())
    }),
];

/// What the search is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// Nothing: the figures that need the plain search are absent.
    Absent,
    /// The plain search.
    Plain,
}

impl Baseline {
    /// The figures that rows do not have because the plain search was not run.
    pub fn absent_figures(self) -> Vec<&'static str> {
        match self {
            Self::Plain => Vec::new(),
            Self::Absent => {
                let retrieval = RETRIEVAL.into_iter().flat_map(|(_, plain, _)| plain);
                retrieval.chain(GAINS_OVER_PLAIN.map(|(name, _)| name)).collect()
            }
        }
    }
}

fn share(counts: bool) -> f64 {
    f64::from(u8::from(counts))
}

/// The row of some questions.
pub fn row(name: &str, outcomes: &[&Outcome], baseline: Baseline) -> Row {
    let mut figures = figures(outcomes);
    if baseline == Baseline::Plain {
        figures.extend(figures_of_plain(outcomes));
    }
    Row { name: name.to_owned(), counts: counts(outcomes), figures }
}

fn counts(outcomes: &[&Outcome]) -> Vec<(&'static str, usize)> {
    let count = |counts: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| counts(outcome)).count();
    vec![
        ("questions", outcomes.len()),
        ("answerable", count(Outcome::is_answerable)),
        ("unanswerable", count(|outcome| !outcome.is_answerable())),
        ("ready", count(|outcome| outcome.bare.found.is_ready)),
        ("worded_questions", count(|outcome| outcome.worded.is_some())),
        ("worded_unanswerable", count(|outcome| outcome.worded.is_some() && !outcome.is_answerable())),
        ("worded_ready", count(|outcome| outcome.worded.as_ref().is_some_and(|find| find.found.is_ready))),
    ]
}

/// The mean of a value over the questions that have it.
fn mean(outcomes: &[&Outcome], value: impl Fn(&Outcome) -> Option<f64>) -> Estimate {
    let values: Vec<_> = outcomes.iter().map(|outcome| value(outcome)).collect();
    Estimate::mean(&values)
}

fn figures(outcomes: &[&Outcome]) -> Vec<(&'static str, Estimate)> {
    let mut figures = Vec::new();
    for ([bare, worded], _, value) in RETRIEVAL {
        figures.push((bare, mean(outcomes, |outcome| Some(value(outcome.bare.score?)))));
        figures.push((worded, mean(outcomes, |outcome| Some(value(outcome.worded_score()?)))));
    }
    for ([bare, worded], value) in BELIEF {
        figures.push((bare, mean(outcomes, |outcome| value(&outcome.bare))));
        figures.push((worded, mean(outcomes, |outcome| value(outcome.worded.as_ref()?))));
    }
    for (name, finds) in [
        ("calibration_error", bare_statements(outcomes)),
        ("worded_calibration_error", worded_statements(outcomes)),
    ] {
        figures.push((name, Estimate::of(&finds, calibration_error)));
    }
    figures.extend(GAINS.map(|(name, value)| (name, mean(outcomes, value))));
    figures
}

/// The figures of the plain search, and what the search gains over it.
fn figures_of_plain(outcomes: &[&Outcome]) -> Vec<(&'static str, Estimate)> {
    let mut figures = Vec::new();
    for (_, [bare, worded], value) in RETRIEVAL {
        figures.push((bare, mean(outcomes, |outcome| Some(value(outcome.plain?)))));
        figures.push((worded, mean(outcomes, |outcome| Some(value(outcome.worded_plain?)))));
    }
    figures.extend(GAINS_OVER_PLAIN.map(|(name, value)| (name, mean(outcomes, value))));
    figures
}

/// What the finds of the bare questions say.
pub fn bare_statements(outcomes: &[&Outcome]) -> Vec<Statement> {
    outcomes.iter().map(|outcome| outcome.bare.statement()).collect()
}

/// What the finds with other wordings say.
pub fn worded_statements(outcomes: &[&Outcome]) -> Vec<Statement> {
    outcomes.iter().filter_map(|outcome| Some(outcome.worded.as_ref()?.statement())).collect()
}

#[cfg(test)]
#[path = "figures_tests.rs"]
mod tests;
