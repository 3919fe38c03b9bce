//! What a question asks for and nothing was found for, and how far the rest answers it.

use super::query::{Intent, MOST_TERMS, Query};
use super::rank::{Candidate, Signals, at, is_worded_for};
use crate::index::View;

/// The evidence for an intent is looked for in so many of the best.
const CLOSELY: usize = 10;

/// What is missing.
#[derive(Debug, Default)]
pub struct Gaps {
    /// Terms that no candidate covers, as bits.
    pub terms: u64,
    /// Whether nothing found is worded as the question wants.
    pub no_evidence: bool,
    /// In words.
    pub hints: Vec<String>,
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
            "{} terms were not looked for, from \"{first}\" on: a question has room for {MOST_TERMS}",
            query.dropped.len()
        );
        found.hints.push(hint);
    }
    let missing = match query.intent {
        Intent::Exceptions
            if !candidates.iter().any(|candidate| candidate.signals.has(Signals::EXCEPTIONS)) =>
        {
            Some("no section speaks of an exception")
        }
        Intent::Definition if !shows(views, query.intent, candidates) => {
            Some("no section reads like a definition")
        }
        Intent::Procedure if !shows(views, query.intent, candidates) => {
            Some("no section reads like steps to follow")
        }
        Intent::Eligibility if !shows(views, query.intent, candidates) => {
            Some("no section states conditions")
        }
        Intent::Compare if candidates.len() < 2 => Some("there is only one section to compare"),
        _ => None,
    };
    if let (Some(missing), false) = (missing, candidates.is_empty()) {
        found.no_evidence = true;
        found.hints.push(missing.to_owned());
    }
    found
}

fn shows(views: &[View], intent: Intent, candidates: &[Candidate]) -> bool {
    candidates.iter().take(CLOSELY).any(|candidate| {
        at(views, candidate.place).is_some_and(|(segment, node)| is_worded_for(intent, segment.text_of(node)))
    })
}

/// How far the best candidates answer the question: what they cover together, what the best covers alone, and whether
/// there is more than a stray hit.
pub fn sufficiency(weights: &[f32], candidates: &[Candidate], gaps: &Gaps) -> f64 {
    let total: f32 = weights.iter().sum();
    if candidates.is_empty() || total <= 0.0 {
        return 0.0;
    }
    let covered = |bits: u64| -> f32 {
        let weights = weights.iter().enumerate();
        weights.filter(|(index, _)| bits >> index & 1 == 1).map(|(_, weight)| weight).sum::<f32>() / total
    };
    let together = candidates.iter().take(5).fold(0, |bits, candidate| bits | candidate.terms);
    let alone = candidates.iter().take(5).map(|candidate| covered(candidate.terms)).fold(0.0, f32::max);
    let evidence = if gaps.no_evidence { 0.0 } else { 0.1 };
    let several = 0.1 * (candidates.len().min(3) as f32 / 3.0);
    f64::from((0.4 * covered(together) + 0.4 * alone + several + evidence).min(1.0))
}
