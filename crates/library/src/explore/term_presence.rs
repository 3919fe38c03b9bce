//! Where the terms of a question stand, and what could be asked instead, as the summaries of both finds have it.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::absence::{Absence, absence};
use super::absent_terms::AbsentTerms;
use super::dictionary::Dictionary;
use super::query::Query;
use super::scope::SearchScope;
use super::stages::{MatchedWording, StageOutcome};
use super::term_counts::{TermCount, TermCounts, WrittenTerms};
use super::wordings::WordingReport;
use crate::index::View;

/// Where the terms of a question stand, and what could be asked instead.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TermPresence {
    /// Every term of the question, with the number of sections and files that contain it.
    #[schemars(length(max = 48))]
    pub terms: Vec<TermCount>,
    /// The number of sections that contain all terms. 0 means that the terms never stand together.
    pub sections_with_all_terms: usize,
    /// For each of `phrasings` and `hypothetical`, which of its words stand in the searched sections; absent when none
    /// was passed, or when it only repeats the question.
    #[schemars(length(max = 9))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wordings: Vec<WordingReport>,
    /// The nearest headings and other words to ask with; absent when `integration_status` is `ready`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absence: Option<Absence>,
}

impl TermPresence {
    /// The same in numbers only: the words of questions and manuals are never logged.
    pub fn in_numbers(&self) -> Self {
        Self { terms: Vec::new(), wordings: Vec::new(), absence: None, ..*self }
    }
}

/// Where the terms of a question stand, and, unless the find is ready, what could be asked instead. The second value is the
/// question with other words for missing terms.
pub fn term_presence(
    views: &[View],
    scope: &SearchScope<'_>,
    outcome: &StageOutcome,
    question: &str,
    is_ready: bool,
) -> (TermPresence, Option<String>) {
    let counts = TermCounts::of(views, question, outcome);
    let report =
        |other: &MatchedWording| WordingReport::new(&other.wording, &other.matched.document_frequencies);
    let mut presence = TermPresence {
        sections_with_all_terms: counts.sections_with_all,
        wordings: outcome.wordings.iter().map(report).collect(),
        ..TermPresence::default()
    };
    let mut other_question = None;
    if !is_ready {
        let search = AbsentTerms::new(views, scope, outcome, counts.missing());
        let (absence, replacements) = absence(&search);
        presence.absence = Some(absence);
        other_question = rephrased(question, &outcome.query, &replacements);
    }
    presence.terms = counts.terms;
    (presence, other_question)
}

/// A question in which missing terms are replaced by words that most likely mean the same. None where nothing can be
/// replaced, or where the new question would have any other terms: it has fewer missing terms than the old one, so that
/// following such suggestions ends.
fn rephrased(question: &str, query: &Query, replacements: &[(usize, String)]) -> Option<String> {
    let written = WrittenTerms::new(question);
    let mut places: Vec<_> = replacements
        .iter()
        .filter_map(|(index, word)| {
            let (place, _) = written.find(query.terms.get(*index)?.text())?;
            Some((place, word.as_str()))
        })
        .collect();
    places.sort_by_key(|(place, _)| place.start);
    places.dedup_by(|later, first| later.0.start < first.0.end);
    let mut rephrased = question.to_owned();
    for (place, word) in places.iter().rev() {
        rephrased.replace_range(place.clone(), word);
    }
    let replaced: HashSet<usize> = replacements.iter().map(|(index, _)| *index).collect();
    let kept = query.terms.iter().enumerate().filter(|(index, _)| !replaced.contains(index));
    let mut allowed: HashSet<&str> = kept.map(|(_, term)| term.text()).collect();
    allowed.extend(replacements.iter().map(|(_, word)| word.as_str()));
    let parsed = Query::new(&rephrased, None, &Dictionary::empty()).ok()?;
    let has_only_known_terms = parsed.terms.iter().all(|term| allowed.contains(term.text()));
    let has_word = |word: &str| parsed.terms.iter().any(|term| term.text() == word);
    let is_safe = !places.is_empty() && has_only_known_terms && places.iter().all(|(_, word)| has_word(word));
    is_safe.then_some(rephrased)
}

#[cfg(test)]
#[path = "term_presence_tests.rs"]
mod tests;
