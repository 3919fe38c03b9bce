//! Asks the questions, and sums up what was found by facet.

use std::collections::{BTreeMap, BTreeSet};

use annai_library::baseline::PlainIndex;
use serde_json::{Map, Value};

use super::super::Failure;
use super::super::local_session::LocalSession;
use super::bootstrap::Estimate;
use super::calls::{self, Found};
use super::questions::{Hit, Question, Score};
use super::reliability::{Reliability, Statement, calibration_error};
use super::row::{ALL, Row};

/// How many results of each question are scored: the largest k of the recall@k figures.
const MAX_SCORED_HITS: usize = 20;

/// What was found for one question.
struct Outcome {
    facet: String,
    /// The scores of `manual_find` and of the baseline; `None` if the question is unanswerable.
    annai: Option<Score>,
    plain: Option<Score>,
    found: Found,
    /// A description of the question, if its answer was not found, or if it has none and was reported as ready.
    miss: Option<String>,
}

impl Outcome {
    /// Whether the answer is among the first five results.
    fn is_answered(&self) -> bool {
        self.annai.is_some_and(Score::is_answered)
    }

    const fn is_answerable(&self) -> bool {
        self.annai.is_some()
    }

    fn statement(&self) -> Statement {
        Statement { sufficiency: self.found.sufficiency, is_answered: self.is_answered() }
    }
}

/// A figure of a row is the mean of a value over the questions that have it.
type Figure = (&'static str, fn(&Outcome) -> Option<f64>);

const FIGURES: [Figure; 14] = [
    ("recall_5", |outcome| Some(outcome.annai?.recall_5)),
    ("recall_10", |outcome| Some(outcome.annai?.recall_10)),
    ("recall_20", |outcome| Some(outcome.annai?.recall_20)),
    ("mrr", |outcome| Some(outcome.annai?.reciprocal_rank)),
    ("plain_recall_5", |outcome| Some(outcome.plain?.recall_5)),
    ("plain_recall_10", |outcome| Some(outcome.plain?.recall_10)),
    ("plain_recall_20", |outcome| Some(outcome.plain?.recall_20)),
    ("plain_mrr", |outcome| Some(outcome.plain?.reciprocal_rank)),
    ("ready_precision", |outcome| outcome.found.is_ready.then(|| share(outcome.is_answered()))),
    ("ready_recall", |outcome| outcome.is_answered().then(|| share(outcome.found.is_ready))),
    ("conflict_rate", |outcome| Some(share(outcome.found.conflicts > 0))),
    ("chars", |outcome| Some(outcome.found.chars as f64)),
    ("millis", |outcome| Some(outcome.found.millis)),
    ("brier", |outcome| Some(outcome.statement().squared_error())),
];

fn share(counts: bool) -> f64 {
    f64::from(u8::from(counts))
}

/// The figures of a file of questions.
pub(super) struct QuestionScores {
    /// One row per facet in alphabetical order, then one for all questions.
    pub rows: Vec<Row>,
    pub reliability: Reliability,
    pub misses: String,
    /// How many questions were skipped, because their manuals are not served.
    pub skipped: usize,
    /// The rows that the skipped questions would count for.
    pub skipped_rows: BTreeSet<String>,
}

/// Asks the questions about manuals that are served.
pub(super) fn measure(
    session: &LocalSession,
    baseline: &PlainIndex,
    manuals: &BTreeSet<String>,
    questions: &[Question],
) -> Result<QuestionScores, Failure> {
    let (asked, skipped): (Vec<_>, Vec<_>) =
        questions.iter().partition(|question| question.is_served(manuals));
    let outcomes: Result<Vec<_>, _> =
        asked.into_iter().map(|question| ask(session, baseline, question)).collect();
    let outcomes = outcomes?;
    let statements: Vec<_> = outcomes.iter().map(Outcome::statement).collect();
    Ok(QuestionScores {
        rows: rows_by_facet(&outcomes),
        reliability: Reliability::of(&statements),
        misses: outcomes.iter().filter_map(|outcome| outcome.miss.as_deref()).collect(),
        skipped: skipped.len(),
        skipped_rows: skipped
            .into_iter()
            .flat_map(|question| [question.facet.clone(), ALL.to_owned()])
            .collect(),
    })
}

/// Asks one question, and scores the results of `manual_find` and of the baseline.
fn ask(session: &LocalSession, baseline: &PlainIndex, question: &Question) -> Result<Outcome, Failure> {
    let mut arguments = Map::from_iter([("query".to_owned(), question.query.clone().into())]);
    arguments.extend(question.manual_id.clone().map(|id| ("manual_id".to_owned(), id.into())));
    let found = calls::find(session, &Value::Object(arguments))?;
    let items = calls::hits(session, &found, "integrated_top", MAX_SCORED_HITS)?;
    let hits: Vec<_> = items.iter().filter_map(Hit::parse).collect();
    let plain = baseline.search(&question.query, question.manual_id.as_deref(), MAX_SCORED_HITS);
    let plain: Vec<_> = plain.into_iter().map(Hit::from).collect();
    let annai = Score::of(question, &hits);
    let is_missed = annai.map_or(found.is_ready, |score| !score.is_answered());
    Ok(Outcome {
        facet: question.facet.clone(),
        annai,
        plain: Score::of(question, &plain),
        miss: is_missed.then(|| describe_miss(question, &found, &hits)),
        found,
    })
}

/// The question, what was said about it, and the first five results, for `--misses`.
fn describe_miss(question: &Question, found: &Found, hits: &[Hit]) -> String {
    let kind = if question.is_answerable() { "" } else { "unanswerable, " };
    let status = if found.is_ready { "ready" } else { "not ready" };
    let mut text = format!("{} ({kind}{status}, {:.2}) {}\n", question.id, found.sufficiency, question.query);
    for hit in hits.iter().take(5) {
        text.push_str(&format!("  {}/{}:{} {}\n", hit.manual_id, hit.path, hit.line, hit.title));
    }
    text
}

fn rows_by_facet(outcomes: &[Outcome]) -> Vec<Row> {
    let mut facets: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        facets.entry(&outcome.facet).or_default().push(outcome);
    }
    let mut rows: Vec<_> = facets.iter().map(|(facet, outcomes)| row(facet, outcomes)).collect();
    rows.push(row(ALL, &outcomes.iter().collect::<Vec<_>>()));
    rows
}

fn row(facet: &str, outcomes: &[&Outcome]) -> Row {
    let count = |counts: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| counts(outcome)).count();
    let mut figures: Vec<_> = FIGURES
        .into_iter()
        .map(|(name, value)| {
            let values: Vec<_> = outcomes.iter().map(|outcome| value(outcome)).collect();
            (name, Estimate::mean(&values))
        })
        .collect();
    let statements: Vec<_> = outcomes.iter().map(|outcome| outcome.statement()).collect();
    figures.push(("calibration_error", Estimate::of(&statements, calibration_error)));
    Row {
        name: facet.to_owned(),
        counts: vec![
            ("questions", outcomes.len()),
            ("answerable", count(Outcome::is_answerable)),
            ("unanswerable", count(|outcome| !outcome.is_answerable())),
            ("ready", count(|outcome| outcome.found.is_ready)),
        ],
        figures,
    }
}

#[cfg(test)]
#[path = "scores_tests.rs"]
mod tests;
