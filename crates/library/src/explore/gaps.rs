//! What a question asks for and nothing was found for, and how far the rest answers it.

use super::candidate::{Candidate, Signals};
use super::place::node_at;
use super::query::{MAX_TERMS, Query};
use super::ranking::{covered_weight, is_worded_for};
use super::terms::Intent;
use crate::index::View;

/// Evidence for the intent of a question is looked for among the best 10 candidates: what ranks lower is seldom read.
const INTENT_CANDIDATES: usize = 10;
/// How far the question is answered is judged by the best 5 candidates, which are those that a reply shows.
const SUFFICIENCY_CANDIDATES: usize = 5;

/// What is missing.
#[derive(Debug, Default)]
pub struct Gaps {
    /// Terms that no candidate covers, as bits.
    pub terms: u64,
    /// Whether nothing found is worded as the question wants.
    pub no_evidence: bool,
    /// A sentence for each gap.
    pub hints: Vec<String>,
}

impl Gaps {
    /// The same without asking whether anything is worded as the question wants, which says nothing about notes.
    pub fn ignoring_intent(mut self) -> Self {
        if std::mem::take(&mut self.no_evidence) {
            self.hints.pop();
        }
        self
    }
}

/// Finds what no candidate covers.
pub fn gaps(views: &[View], query: &Query, candidates: &[Candidate]) -> Gaps {
    let covered = candidates.iter().fold(0, |bits, candidate| bits | candidate.terms);
    let mut found = Gaps::default();
    for (index, term) in query.terms.iter().enumerate() {
        if covered >> index & 1 == 0 {
            found.terms |= 1 << index;
            found.hints.push(format!("no section mentions \"{}\"", term.text()));
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
        found.no_evidence = true;
        found.hints.push(missing.to_owned());
    }
    found
}

/// What the intent of a question wants and no candidate shows.
fn missing_evidence(views: &[View], query: &Query, candidates: &[Candidate]) -> Option<&'static str> {
    let speaks_of_exceptions =
        || candidates.iter().any(|candidate| candidate.signals.has(Signals::EXCEPTIONS));
    let shows = || shows(views, query.intent, candidates);
    match query.intent {
        Intent::Exceptions if !speaks_of_exceptions() => Some("no section speaks of an exception"),
        Intent::Definition if !shows() => Some("no section reads like a definition"),
        Intent::Procedure if !shows() => Some("no section reads like steps to follow"),
        Intent::Eligibility if !shows() => Some("no section states conditions"),
        Intent::Compare if candidates.len() < 2 => Some("there is only one section to compare"),
        _ => None,
    }
}

fn shows(views: &[View], intent: Intent, candidates: &[Candidate]) -> bool {
    candidates.iter().take(INTENT_CANDIDATES).any(|candidate| {
        node_at(views, candidate.place)
            .is_some_and(|(segment, node)| is_worded_for(intent, segment.text_of(node)))
    })
}

/// How far the best candidates answer the question: what they cover together, what the best covers alone, and whether
/// there is more than a stray hit.
pub fn sufficiency(weights: &[f32], candidates: &[Candidate], gaps: &Gaps) -> f64 {
    let total: f32 = weights.iter().sum();
    if candidates.is_empty() || total <= 0.0 {
        return 0.0;
    }
    let covered = |bits: u64| covered_weight(weights, bits) / total;
    let together =
        candidates.iter().take(SUFFICIENCY_CANDIDATES).fold(0, |bits, candidate| bits | candidate.terms);
    let alone = candidates
        .iter()
        .take(SUFFICIENCY_CANDIDATES)
        .map(|candidate| covered(candidate.terms))
        .fold(0.0, f32::max);
    let evidence = if gaps.no_evidence { 0.0 } else { 0.1 };
    let several = 0.1 * (candidates.len().min(3) as f32 / 3.0);
    f64::from((0.4 * covered(together) + 0.4 * alone + several + evidence).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::dictionary::Dictionary;
    use crate::explore::place::NodePlace;

    fn query(question: &str, intent: Intent) -> Query {
        Query::new(question, Some(intent), &Dictionary::new(&[])).unwrap()
    }

    fn candidate(terms: u64) -> Candidate {
        let place = NodePlace { view: 0, segment: 0, node: 0 };
        Candidate { place, score: 1.0, signals: Signals::NORMALIZED, terms }
    }

    #[test]
    fn what_no_candidate_covers_is_a_gap() {
        let query = query("refund window", Intent::Unknown);
        let found = gaps(&[], &query, &[candidate(0b01)]);
        assert_eq!((found.terms, found.no_evidence), (0b10, false));
        assert_eq!(found.hints, ["no section mentions \"window\""]);
    }

    #[test]
    fn an_intent_without_evidence_is_a_gap_unless_it_is_ignored() {
        let query = query("refund", Intent::Exceptions);
        let found = gaps(&[], &query, &[candidate(0b1)]);
        assert_eq!(
            (found.no_evidence, found.hints.as_slice()),
            (true, &["no section speaks of an exception".to_owned()][..])
        );
        let ignored = found.ignoring_intent();
        assert!(!ignored.no_evidence && ignored.hints.is_empty());
        // Where nothing was found at all, that is gap enough.
        assert!(!gaps(&[], &query, &[]).no_evidence);
    }

    #[test]
    fn more_coverage_is_more_sufficient() {
        let weights = [1.0, 1.0];
        let score = |candidates: &[Candidate]| sufficiency(&weights, candidates, &Gaps::default());
        assert_eq!(score(&[]), 0.0);
        assert!(score(&[candidate(0b01)]) < score(&[candidate(0b01), candidate(0b10)]));
        assert!(score(&[candidate(0b01), candidate(0b10)]) < score(&[candidate(0b11), candidate(0b11)]));
        assert!(score(&[candidate(0b11), candidate(0b11), candidate(0b11)]) <= 1.0);
    }
}
