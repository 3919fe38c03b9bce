//! Where the terms of a question stand, and where to look instead, as the summaries of both finds have it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::conclusion::absence::{Absence, absence};
use crate::conclusion::term_counts::{TermCount, TermCounts};
use crate::index::View;
use crate::query::wordings::WordingReport;
use crate::stages::scope::SearchScope;
use crate::stages::{MatchedWording, StageOutcome};

/// Where the terms of a question stand, and where to look instead.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TermPresence {
    /// Every term of the question, with the number of sections and files that contain it; absent when
    /// `integration_status` is `ready`.
    #[schemars(length(max = 48))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<TermCount>,
    /// The number of sections that contain all terms; absent when `integration_status` is `ready`. 0 means that the terms
    /// never stand together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sections_with_all_terms: Option<usize>,
    /// For each of `phrasings` and `hypothetical`, which of its words stand in the searched sections; absent when none
    /// was passed, or when it only repeats the question.
    #[schemars(length(max = 9))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wordings: Vec<WordingReport>,
    /// The nearest headings; absent when `integration_status` is `ready`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absence: Option<Absence>,
}

impl TermPresence {
    /// The same in numbers only: the words of questions and manuals are never logged.
    pub fn in_numbers(&self) -> Self {
        Self { terms: Vec::new(), wordings: Vec::new(), absence: None, ..*self }
    }
}

/// Where the terms of a question stand, and where to look instead. A find that is ready needs neither, and computes
/// neither.
pub fn term_presence(
    views: &[View],
    scope: &SearchScope<'_>,
    outcome: &StageOutcome,
    question: &str,
    is_ready: bool,
) -> TermPresence {
    let report =
        |other: &MatchedWording| WordingReport::new(&other.wording, &other.matched.document_frequencies);
    let wordings = outcome.wordings.iter().map(report).collect();
    if is_ready {
        return TermPresence { wordings, ..TermPresence::default() };
    }
    let counts = TermCounts::of(views, question, outcome);
    TermPresence {
        terms: counts.terms,
        sections_with_all_terms: Some(counts.sections_with_all),
        wordings,
        absence: Some(absence(views, scope, outcome)),
    }
}

#[cfg(test)]
#[path = "term_presence_tests.rs"]
mod tests;
