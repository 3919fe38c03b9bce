//! The gaps of a result: the terms that stand nowhere, and missing evidence for the intent.

use crate::index::View;
use crate::matching::candidate::{Candidate, Signals};
use crate::matching::place::node_at;
use crate::query::terms::Intent;
use crate::query::words::has_intent_wording;
use crate::query::{MAX_TERMS, Query};

/// Evidence for the intent of a question is searched for among the best 10 candidates: what ranks lower is seldom read.
const INTENT_CANDIDATES: usize = 10;

/// The gaps of a result.
#[derive(Debug, Default)]
pub struct Gaps {
    /// The terms that no candidate contains, as a bit set.
    pub terms: u64,
    /// Whether no candidate is worded like an answer to a question of this intent.
    pub lacks_intent_evidence: bool,
    /// A sentence for each gap.
    pub hints: Vec<String>,
}

impl Gaps {
    /// The same without the gap of the intent: notes are not worded like manuals, so it says nothing about them.
    pub fn ignoring_intent(mut self) -> Self {
        if std::mem::take(&mut self.lacks_intent_evidence) {
            self.hints.pop();
        }
        self
    }
}

/// Finds the gaps: the terms that are not `covered`, as a bit set, and missing evidence for the intent.
pub fn gaps(views: &[View], query: &Query, candidates: &[Candidate], covered: u64) -> Gaps {
    let mut found = Gaps::default();
    for (index, term) in query.terms.iter().enumerate() {
        if covered >> index & 1 == 0 {
            found.terms |= 1 << index;
            let is_character = term.forms.first().is_some_and(|form| form.single_char.is_some());
            found.hints.push(match is_character {
                true => format!("no section has \"{}\" as a word of its own", term.text()),
                false => format!("no section mentions \"{}\"", term.text()),
            });
        }
    }
    if let Some(first) = query.dropped.first() {
        let hint = format!(
            "{} terms were not looked for, from \"{first}\" on: a question has room for {MAX_TERMS}",
            query.dropped.len()
        );
        found.hints.push(hint);
    }
    if let (Some(missing), false) = (missing_evidence(views, query, candidates), candidates.is_empty()) {
        found.lacks_intent_evidence = true;
        found.hints.push(missing.to_owned());
    }
    found
}

/// The evidence that the intent of a question calls for and no candidate provides.
fn missing_evidence(views: &[View], query: &Query, candidates: &[Candidate]) -> Option<&'static str> {
    let has_exceptions = || candidates.iter().any(|candidate| candidate.signals.has(Signals::EXCEPTIONS));
    let has_evidence = || any_has_intent_wording(views, query.intent, candidates);
    match query.intent {
        Intent::Exceptions if !has_exceptions() => Some("no section speaks of an exception"),
        Intent::Definition if !has_evidence() => Some("no section reads like a definition"),
        Intent::Procedure if !has_evidence() => Some("no section reads like steps to follow"),
        Intent::Eligibility if !has_evidence() => Some("no section states conditions"),
        Intent::Compare if candidates.len() < 2 => Some("there is only one section to compare"),
        _ => None,
    }
}

fn any_has_intent_wording(views: &[View], intent: Intent, candidates: &[Candidate]) -> bool {
    candidates.iter().take(INTENT_CANDIDATES).any(|candidate| {
        node_at(views, candidate.place)
            .is_some_and(|(segment, node)| has_intent_wording(intent, segment.text_of(node)))
    })
}

#[cfg(test)]
#[path = "gaps_tests.rs"]
mod tests;
