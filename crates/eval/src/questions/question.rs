//! The questions, and the sections that answer them.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::hit::Hit;
use crate::row::ALL;

/// What the name of the row of a split begins with.
const SPLIT_PREFIX: &str = "split:";

/// A question and the sections that answer it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    pub id: String,
    #[serde(default)]
    pub facet: String,
    /// The set of questions that it belongs to.
    pub split: Option<String>,
    pub query: String,
    /// Other ways to ask the question.
    #[serde(default)]
    pub phrasings: Vec<String>,
    /// A passage that would answer the question.
    pub hypothetical: Option<String>,
    /// A part of the expected section, word for word, that answers the question.
    pub answer: Option<String>,
    /// The manual to search, as a caller would name it; all manuals if absent.
    pub manual_id: Option<String>,
    /// The sections that answer the question together; none if the manuals do not answer it.
    #[serde(default)]
    pub expected: Vec<Expected>,
    /// Sections that each also hold the whole answer.
    #[serde(default)]
    pub also: Vec<Expected>,
}

/// A section that answers a question, identified by its line or its heading; a whole file if neither is given.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    pub manual_id: String,
    pub path: String,
    pub title: Option<String>,
    pub line: Option<u64>,
}

impl Question {
    /// What is wrong with the fields, if anything is.
    pub fn problem(&self) -> Option<String> {
        if self.expected.is_empty() && !self.also.is_empty() {
            let fix = "move one of its sections to `expected`";
            return Some(format!("also: must be empty when `expected` is; {fix}"));
        }
        if self.answer.as_deref().is_some_and(|answer| answer.trim().is_empty()) {
            return Some("answer: must not be empty; leave it out, or quote the section".to_owned());
        }
        if self.split.as_deref() == Some("") {
            return Some("split: must not be empty; leave it out, or give it a name".to_owned());
        }
        if self.facet.starts_with(SPLIT_PREFIX) {
            return Some(format!("facet: must not begin with `{SPLIT_PREFIX}`, as the rows of splits do"));
        }
        (self.facet == ALL).then(|| format!("facet: `{ALL}` is the name of the total; use another name"))
    }

    /// The name of the row of its split; `None` if it belongs to none.
    pub fn split_row(&self) -> Option<String> {
        self.split.as_ref().map(|split| format!("{SPLIT_PREFIX}{split}"))
    }

    /// The arguments of `manual_find` that ask the bare question.
    pub fn arguments(&self) -> Map<String, Value> {
        let mut arguments = Map::from_iter([("query".to_owned(), self.query.clone().into())]);
        arguments.extend(self.manual_id.clone().map(|id| ("manual_id".to_owned(), id.into())));
        arguments
    }

    /// The arguments that ask it with its other wordings; `None` if it has none.
    pub fn worded_arguments(&self) -> Option<Map<String, Value>> {
        let mut arguments = self.arguments();
        let bare = arguments.len();
        if !self.phrasings.is_empty() {
            arguments.insert("phrasings".to_owned(), self.phrasings.clone().into());
        }
        arguments
            .extend(self.hypothetical.clone().map(|passage| ("hypothetical".to_owned(), passage.into())));
        (arguments.len() > bare).then_some(arguments)
    }

    /// Its other wordings: the phrasings and the passage.
    pub fn other_wordings(&self) -> Vec<&str> {
        self.phrasings.iter().chain(&self.hypothetical).map(String::as_str).collect()
    }

    /// The file of the first expected section, with its manual; `None` if the question is unanswerable.
    pub fn file(&self) -> Option<String> {
        self.expected.first().map(|section| format!("{}/{}", section.manual_id, section.path))
    }

    pub const fn is_answerable(&self) -> bool {
        !self.expected.is_empty()
    }

    /// Whether all manuals that the question needs are served.
    pub fn is_served(&self, manuals: &BTreeSet<String>) -> bool {
        let expected = self.expected.iter().map(|section| &section.manual_id);
        self.manual_id.iter().chain(expected).all(|id| manuals.contains(id))
    }
}

impl Expected {
    fn matches(&self, hit: &Hit) -> bool {
        self.manual_id == hit.manual_id
            && self.path == hit.path
            && match (self.line, &self.title) {
                (Some(line), _) => line == hit.line,
                (None, Some(title)) => *title == hit.title,
                (None, None) => true,
            }
    }
}

/// The retrieval scores of an answerable question: how much of the answer is among the first 1, 5, 10 and 20 results, and
/// the rank of the first section that belongs to an answer, if one does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    pub recall_1: f64,
    pub recall_5: f64,
    pub recall_10: f64,
    pub recall_20: f64,
    pub rank: Option<usize>,
}

impl Score {
    /// The scores of some results; `None` if the question is unanswerable.
    pub fn of(question: &Question, hits: &[Hit]) -> Option<Self> {
        if !question.is_answerable() {
            return None;
        }
        let (expected, also) = (&question.expected, &question.also);
        let recall = |k: usize| {
            let is_found = |section: &&Expected| hits.iter().take(k).any(|hit| section.matches(hit));
            if also.iter().any(|section| is_found(&section)) {
                return 1.0;
            }
            expected.iter().filter(is_found).count() as f64 / expected.len() as f64
        };
        let is_part = |hit: &Hit| expected.iter().chain(also).any(|section| section.matches(hit));
        Some(Self {
            recall_1: recall(1),
            recall_5: recall(5),
            recall_10: recall(10),
            recall_20: recall(20),
            rank: hits.iter().position(is_part).map(|index| index + 1),
        })
    }

    /// 1 / rank; 0 if no result belongs to an answer.
    pub fn reciprocal_rank(self) -> f64 {
        self.rank.map_or(0.0, |rank| 1.0 / rank as f64)
    }

    /// Whether the whole answer is among the first five results.
    pub fn is_answered(self) -> bool {
        self.recall_5 >= 1.0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn question(json: &str) -> Question {
        serde_json::from_str(json).unwrap()
    }

    fn hits(lines: &[u64]) -> Vec<Hit> {
        let hit = |line: &u64| Hit {
            manual_id: "m".into(),
            path: "a.md".into(),
            title: format!("T{line}"),
            line: *line,
        };
        lines.iter().map(hit).collect()
    }

    const BOTH: &str = r#"{"id": "q", "query": "x",
        "expected": [{"manual_id": "m", "path": "a.md", "line": 10}, {"manual_id": "m", "path": "a.md", "title": "T20"}],
        "also": [{"manual_id": "m", "path": "a.md", "line": 30}]}"#;

    #[test]
    fn an_answer_is_all_expected_sections_or_one_of_the_others() {
        let question = question(BOTH);
        let score = |lines: &[u64]| Score::of(&question, &hits(lines)).unwrap();
        let half = score(&[1, 10, 2]);
        assert_eq!((half.recall_5, half.reciprocal_rank(), half.is_answered()), (0.5, 0.5, false));
        assert!(score(&[20, 1, 10]).is_answered());
        let other = score(&[1, 2, 3, 30]);
        assert_eq!((other.recall_5, other.reciprocal_rank(), other.is_answered()), (1.0, 0.25, true));
        let late = score(&[1, 2, 3, 4, 10, 30]);
        assert_eq!((late.recall_5, late.recall_10, late.recall_20), (0.5, 1.0, 1.0));
        assert_eq!((late.recall_1, late.rank), (0.0, Some(5)));
        assert_eq!((score(&[20]).recall_1, score(&[30]).recall_1), (0.5, 1.0));
        assert_eq!((score(&[1, 2]).rank, score(&[1, 2]).reciprocal_rank()), (None, 0.0));
    }

    #[test]
    fn unanswerable_questions_have_no_score() {
        let question = question(r#"{"id": "q", "query": "x", "expected": []}"#);
        assert_eq!(Score::of(&question, &hits(&[1])), None);
        assert_eq!(question.problem(), None);
    }

    #[test]
    fn a_question_needs_its_manual_and_those_of_the_expected_sections() {
        let served = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<BTreeSet<_>>();
        let asked = question(r#"{"id": "q", "query": "x", "manual_id": "n", "expected": []}"#);
        assert!(asked.is_served(&served(&["m", "n"])) && !asked.is_served(&served(&["m"])));
        assert!(question(BOTH).is_served(&served(&["m"])) && !question(BOTH).is_served(&served(&["n"])));
        assert!(question(r#"{"id": "q", "query": "x"}"#).is_served(&served(&[])));
    }

    #[test]
    fn contradictory_fields_are_refused() {
        let alone = r#"{"id": "q", "query": "x", "also": [{"manual_id": "m", "path": "a.md"}]}"#;
        assert!(question(alone).problem().unwrap().starts_with("also: "));
        assert!(
            question(r#"{"id": "q", "facet": "all", "query": "x"}"#)
                .problem()
                .unwrap()
                .starts_with("facet: ")
        );
        for (field, value) in [("facet", "split:dev"), ("split", "")] {
            let json = format!(r#"{{"id": "q", "query": "x", "{field}": "{value}"}}"#);
            assert!(question(&json).problem().unwrap().starts_with(&format!("{field}: ")));
        }
    }

    #[test]
    fn other_wordings_are_asked_with_the_manual_of_the_question() {
        let bare = question(r#"{"id": "q", "query": "x", "manual_id": "m", "split": "dev"}"#);
        assert_eq!(Value::Object(bare.arguments()), json!({ "query": "x", "manual_id": "m" }));
        assert_eq!((bare.worded_arguments(), bare.split_row().as_deref()), (None, Some("split:dev")));
        let worded = question(
            r#"{"id": "q", "query": "x", "manual_id": "m", "phrasings": ["y", "z"], "hypothetical": "w"}"#,
        );
        assert_eq!(Value::Object(worded.arguments()), json!({ "query": "x", "manual_id": "m" }));
        let arguments = worded.worded_arguments().map(Value::Object);
        let expected =
            json!({ "query": "x", "manual_id": "m", "phrasings": ["y", "z"], "hypothetical": "w" });
        assert_eq!(arguments, Some(expected));
        assert_eq!((worded.other_wordings(), bare.other_wordings()), (vec!["y", "z", "w"], vec![]));
        let passage = question(r#"{"id": "q", "query": "x", "hypothetical": "w"}"#);
        let arguments = passage.worded_arguments().map(Value::Object);
        assert_eq!(arguments, Some(json!({ "query": "x", "hypothetical": "w" })));
    }
}
