//! What was found for each question, as a line of JSON, so that two runs can be compared question by question.

use serde::{Deserialize, Serialize};

use super::outcome::Outcome;
use super::question::Score;

/// 1 / rank of the answer of one question by each search; 0 if it is not among the scored results. A search that was not
/// asked is absent: a question may have no other wordings, and the plain search is optional.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestionRanks {
    pub id: String,
    /// The file of the first expected section, with its manual.
    pub file: String,
    pub bare: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worded: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plain: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worded_plain: Option<f64>,
}

impl QuestionRanks {
    /// `None` if the question is unanswerable: nothing is ranked.
    pub fn of(outcome: &Outcome) -> Option<Self> {
        let ranks = Self {
            id: outcome.id.clone(),
            file: outcome.file.clone()?,
            bare: outcome.bare.score?.reciprocal_rank(),
            worded: outcome.worded_score().map(Score::reciprocal_rank),
            plain: outcome.plain.map(Score::reciprocal_rank),
            worded_plain: outcome.worded_plain.map(Score::reciprocal_rank),
        };
        Some(ranks)
    }

    /// What is wrong with the values, if anything is.
    pub fn problem(&self) -> Option<String> {
        let optional = [("worded", self.worded), ("plain", self.plain), ("worded_plain", self.worded_plain)];
        let values = [("bare", Some(self.bare))].into_iter().chain(optional);
        let mut wrong = values.filter(|(_, value)| value.is_some_and(|value| !(0.0..=1.0).contains(&value)));
        wrong.next().map(|(name, _)| format!("{name}: must be 1 / rank, between 0 and 1"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::outcome::ScoredFind;
    use super::*;

    #[test]
    fn a_search_that_was_not_asked_is_absent() {
        let find = |answered| ScoredFind::of_test(answered, false, 0.5);
        let outcome = Outcome::of_test("q", find(Some(false)), Some(find(Some(true))));
        let all = json!({ "id": "q", "file": "m/a.md", "bare": 0.125, "worded": 1.0, "plain": 0.1, "worded_plain": 0.2 });
        assert_eq!(json!(QuestionRanks::of(&outcome)), all);
        let outcome = Outcome { plain: None, ..Outcome::of_test("q", find(Some(true)), None) };
        let ranks = QuestionRanks::of(&outcome).unwrap();
        assert_eq!(json!(ranks), json!({ "id": "q", "file": "m/a.md", "bare": 1.0 }));
        assert_eq!(ranks.problem(), None);
        let wrong = QuestionRanks { worded: Some(2.0), ..ranks };
        assert_eq!(wrong.problem().unwrap(), "worded: must be 1 / rank, between 0 and 1");
        assert_eq!(QuestionRanks::of(&Outcome::of_test("q", find(None), None)), None);
    }
}
