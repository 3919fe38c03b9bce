//! Asks the questions, and sums up by facet and split what was found.

use std::collections::{BTreeMap, BTreeSet};

use annai_core::JsonObject;

use super::each::QuestionRanks;
use super::figures::{Baseline, bare_statements, row, worded_statements};
use super::outcome::{Outcome, ScoredFind, describe_miss, describe_worsening};
use super::question::{Question, Score};
use super::reliability::Reliability;
use crate::calls::{self, Tools};
use crate::error::EvalError;
use crate::hit::Hit;
use crate::plain::PlainIndex;
use crate::row::{ALL, Row};

/// How many results of each question are scored: the largest k of the recall@k figures.
const MAX_SCORED_HITS: usize = 20;

/// The figures of a file of questions.
pub struct QuestionScores {
    /// One row per facet in alphabetical order, then one per split if there are several, then one for all questions.
    pub rows: Vec<Row>,
    /// What the search was compared with.
    pub baseline: Baseline,
    pub reliability: Reliability,
    /// The same for the finds with other wordings; `None` if there are none.
    pub worded_reliability: Option<Reliability>,
    /// What was found for each answerable question.
    pub each: Vec<QuestionRanks>,
    pub misses: String,
    /// How many questions were skipped, because their manuals are not served.
    pub skipped: usize,
    /// The rows that the skipped questions would count for.
    pub skipped_rows: BTreeSet<String>,
}

/// Asks the questions about manuals that are served, and the plain search too if there is one.
pub fn measure(
    tools: &dyn Tools,
    plain: Option<&PlainIndex>,
    manuals: &BTreeSet<String>,
    questions: &[Question],
) -> Result<QuestionScores, EvalError> {
    // The row of the only split would repeat the one of all questions.
    let splits: BTreeSet<_> = questions.iter().map(|question| question.split.as_ref()).collect();
    let split_row = |question: &Question| question.split_row().filter(|_| splits.len() > 1);
    let (asked, skipped): (Vec<_>, Vec<_>) =
        questions.iter().partition(|question| question.is_served(manuals));
    let mut outcomes = Vec::with_capacity(asked.len());
    for question in asked {
        outcomes.push(ask(tools, plain, question, split_row(question))?);
    }
    let skipped_rows = skipped
        .iter()
        .flat_map(|question| split_row(question).into_iter().chain([question.facet.clone(), ALL.to_owned()]));
    let baseline = plain.map_or(Baseline::Absent, |_| Baseline::Plain);
    let scores = sum_up(&outcomes, baseline);
    Ok(QuestionScores { skipped: skipped.len(), skipped_rows: skipped_rows.collect(), ..scores })
}

/// The figures of the questions that were asked.
fn sum_up(outcomes: &[Outcome], baseline: Baseline) -> QuestionScores {
    let all: Vec<_> = outcomes.iter().collect();
    let worded = worded_statements(&all);
    QuestionScores {
        rows: rows(&all, baseline),
        baseline,
        reliability: Reliability::of(&bare_statements(&all)),
        worded_reliability: (!worded.is_empty()).then(|| Reliability::of(&worded)),
        each: outcomes.iter().filter_map(QuestionRanks::of).collect(),
        misses: outcomes.iter().map(|outcome| outcome.misses.as_str()).collect(),
        skipped: 0,
        skipped_rows: BTreeSet::new(),
    }
}

fn rows(outcomes: &[&Outcome], baseline: Baseline) -> Vec<Row> {
    let mut facets: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    let mut splits: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        facets.entry(&outcome.facet).or_default().push(outcome);
        if let Some(split) = &outcome.split_row {
            splits.entry(split).or_default().push(outcome);
        }
    }
    let groups = facets.iter().chain(&splits);
    let mut rows: Vec<_> = groups.map(|(name, outcomes)| row(name, outcomes, baseline)).collect();
    rows.push(row(ALL, outcomes, baseline));
    rows
}

/// Asks one question bare and, if it has any, with its other wordings, and scores the results and those of the plain search.
fn ask(
    tools: &dyn Tools,
    plain: Option<&PlainIndex>,
    question: &Question,
    split_row: Option<String>,
) -> Result<Outcome, EvalError> {
    let (bare, hits) = find(tools, question, question.arguments())?;
    let mut misses = describe_miss(question, &bare, &hits).unwrap_or_default();
    let mut worded = None;
    if let Some(arguments) = question.worded_arguments() {
        let (scored, hits) = find(tools, question, arguments)?;
        misses.extend(describe_worsening(question, &bare, &scored, &hits));
        worded = Some(scored);
    }
    let ask_plain = |other_wordings: &[&str]| {
        let manual_id = question.manual_id.as_deref();
        Score::of(question, &plain?.search(&question.query, other_wordings, manual_id, MAX_SCORED_HITS))
    };
    let other_wordings = question.other_wordings();
    let worded_plain = worded.as_ref().and_then(|_| ask_plain(&other_wordings));
    Ok(Outcome {
        id: question.id.clone(),
        file: question.file(),
        facet: question.facet.clone(),
        split_row,
        plain: ask_plain(&[]),
        worded_plain,
        bare,
        worded,
        misses,
    })
}

/// Calls `manual_find`, and scores its results.
fn find(
    tools: &dyn Tools,
    question: &Question,
    arguments: JsonObject,
) -> Result<(ScoredFind, Vec<Hit>), EvalError> {
    let found =
        calls::find(tools, arguments).map_err(|error| error.about(&format!("question {}", question.id)))?;
    let items = calls::hits(tools, &found, "integrated_top", MAX_SCORED_HITS)?;
    let hits: Vec<_> = items.iter().filter_map(Hit::parse).collect();
    Ok((ScoredFind { score: Score::of(question, &hits), found }, hits))
}

#[cfg(test)]
#[path = "question_scores_tests.rs"]
mod tests;
