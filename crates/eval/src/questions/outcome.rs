//! What was found for one question, bare and with its other wordings: by the search, and by the plain search.

use super::question::{Question, Score};
use super::reliability::Statement;
use crate::calls::Found;
use crate::hit::Hit;

/// How many results a description shows.
const MAX_SHOWN_HITS: usize = 5;

/// A find of `manual_find`, and how much of the answer it holds.
pub struct ScoredFind {
    /// `None` if the question is unanswerable.
    pub score: Option<Score>,
    pub found: Found,
}

impl ScoredFind {
    /// Whether the answer is among the first five results.
    pub fn is_answered(&self) -> bool {
        self.score.is_some_and(Score::is_answered)
    }

    pub fn statement(&self) -> Statement {
        Statement { sufficiency: self.found.sufficiency, is_answered: self.is_answered() }
    }
}

#[cfg(test)]
impl ScoredFind {
    /// A find for tests of what is made of it: of a question with the answer first (or eighth), or without one.
    pub fn of_test(answered: Option<bool>, is_ready: bool, sufficiency: f64) -> Self {
        let score = answered.map(|answered| {
            let first = f64::from(u8::from(answered));
            let rank = Some(if answered { 1 } else { 8 });
            Score { recall_1: first, recall_5: first, recall_10: 1.0, recall_20: 1.0, rank }
        });
        Self { score, found: Found::of_test(sufficiency, is_ready, u64::from(sufficiency < 0.5)) }
    }
}

/// What was found for one question.
pub struct Outcome {
    pub id: String,
    /// The file of the first expected section, with its manual; `None` if the question is unanswerable.
    pub file: Option<String>,
    pub facet: String,
    /// The row of its split, if the file has several.
    pub split_row: Option<String>,
    /// The score of the plain search; `None` if it was not run, or if the question is unanswerable.
    pub plain: Option<Score>,
    /// The same with the other wordings, if there are any.
    pub worded_plain: Option<Score>,
    /// The find of the question alone.
    pub bare: ScoredFind,
    /// The find with its other wordings, if it has any.
    pub worded: Option<ScoredFind>,
    /// Descriptions of what is wrong with the finds, for `--misses`; empty if nothing is.
    pub misses: String,
}

impl Outcome {
    pub const fn is_answerable(&self) -> bool {
        self.bare.score.is_some()
    }

    /// The score with other wordings; `None` if the question has none, or if it is unanswerable.
    pub fn worded_score(&self) -> Option<Score> {
        self.worded.as_ref()?.score
    }
}

#[cfg(test)]
impl Outcome {
    /// An outcome for tests of what is made of it: the plain search finds the answer, if there is one, tenth with the bare
    /// question and fifth with other wordings.
    pub fn of_test(facet: &str, bare: ScoredFind, worded: Option<ScoredFind>) -> Self {
        let score = |rank, recall_5| Score {
            recall_1: 0.0,
            recall_5,
            recall_10: 1.0,
            recall_20: 1.0,
            rank: Some(rank),
        };
        Self {
            id: facet.to_owned(),
            file: bare.score.map(|_| "m/a.md".to_owned()),
            facet: facet.to_owned(),
            split_row: None,
            plain: bare.score.map(|_| score(10, 0.0)),
            worded_plain: worded.as_ref().and_then(|find| find.score).map(|_| score(5, 1.0)),
            bare,
            worded,
            misses: String::new(),
        }
    }
}

/// Describes a question whose answer was not found, or that has none and was reported as ready: what was said about it,
/// and the first results.
pub fn describe_miss(question: &Question, bare: &ScoredFind, hits: &[Hit]) -> Option<String> {
    let found = &bare.found;
    let is_missed = if question.is_answerable() { !bare.is_answered() } else { found.is_ready };
    let kind = if question.is_answerable() { "" } else { "unanswerable, " };
    let status = if found.is_ready { "ready" } else { "not ready" };
    let verdict = format!("{kind}{status}, {:.2}", found.sufficiency);
    is_missed.then(|| describe(question, &verdict, hits))
}

/// Describes a question that its other wordings made worse: the answer ranks lower, less of it is among the first five, or
/// there is none and only the find with other wordings is ready.
pub fn describe_worsening(
    question: &Question,
    bare: &ScoredFind,
    worded: &ScoredFind,
    worded_hits: &[Hit],
) -> Option<String> {
    let verdict = match (bare.score, worded.score) {
        (Some(before), Some(after)) => {
            let rank = |score: Score| score.rank.map_or("none".to_owned(), |rank| rank.to_string());
            let ranks = format!("rank {} before, {} after", rank(before), rank(after));
            let recall = format!("; recall@5 {:.2} before, {:.2} after", before.recall_5, after.recall_5);
            let has_less = after.recall_5 < before.recall_5;
            let is_worse = has_less || after.reciprocal_rank() < before.reciprocal_rank();
            is_worse.then(|| if has_less { ranks + &recall } else { ranks })
        }
        _ => (worded.found.is_ready && !bare.found.is_ready)
            .then(|| format!("unanswerable, ready, {:.2}", worded.found.sufficiency)),
    };
    verdict.map(|verdict| describe(question, &format!("worse with other wordings: {verdict}"), worded_hits))
}

fn describe(question: &Question, verdict: &str, hits: &[Hit]) -> String {
    let mut text = format!("{} ({verdict}) {}\n", question.id, question.query);
    for hit in hits.iter().take(MAX_SHOWN_HITS) {
        text.push_str(&format!("  {}/{}:{} {}\n", hit.manual_id, hit.path, hit.line, hit.title));
    }
    text
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
