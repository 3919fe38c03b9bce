//! Contradictions: statements about the same subject that cannot both hold.
//!
//! `sentences` splits the best sections into sentences; `statements`, `claims`, `bounds`, `named_values`,
//! `everyday_values`, `cues` and `polarity` say what each one states; `compare` finds statements in nearly the same words;
//! `answers` and `yes_no` find two answers to the question in other words, of the kind that `asked_kinds` says, where
//! neither `qualifiers` nor `value_pairs` tell them apart; `variants` tells sections that differ by design. Precision comes
//! first: a false conflict costs a caller more than a missed one.

mod answers;
mod asked_kinds;
mod bounds;
mod claims;
mod compare;
mod cues;
mod everyday_values;
mod named_values;
mod polarity;
mod qualifiers;
mod section;
mod statements;
mod value_pairs;
mod variants;
// Its lists are packed, several words to a line.
#[rustfmt::skip]
mod word_lists;
mod words;
mod yes_no;

use self::answers::Asked;
use self::compare::{is_denial, value_difference};
pub use self::section::Quote;
use self::section::{Difference, Section, TermFinder};
use super::candidate::Candidate;
use super::place::NodePlace;
use super::query::Query;
use crate::cancellation::checkpoint;
use crate::index::View;

/// Statements are compared among the best 20 candidates only: pairs grow quadratically, and 20 cover the sections that a
/// caller sees.
const MAX_COMPARED: usize = 20;
/// The maximum number of conflicts that are reported, and of variants. The caller resolves them one by one, and a new find
/// reports the rest.
const MAX_REPORTED: usize = 20;

/// Two sections that contradict each other, or differ by design.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// The section with the better rank.
    pub one: NodePlace,
    /// The other section.
    pub other: NodePlace,
    /// The term, and the two statements about it.
    pub about: String,
    /// The two sentences.
    pub sentences: [Quote; 2],
}

/// The contradictions of a find.
#[derive(Debug, Default)]
pub struct Contradictions {
    /// The statements that cannot both hold.
    pub conflicts: Vec<Conflict>,
    /// The statements that differ because their sections are about other products, plans, editions or years.
    pub variants: Vec<Conflict>,
    /// Whether there are more of one kind than are listed.
    pub is_limited: bool,
}

/// Finds the statements of the best candidates that contradict each other.
pub fn contradictions(
    views: &[View],
    query: &Query,
    weights: &[f32],
    candidates: &[Candidate],
) -> Contradictions {
    let finder = TermFinder::new(query);
    let compared = candidates.iter().filter(|candidate| candidate.terms != 0).take(MAX_COMPARED);
    let sections: Vec<Section> = compared
        .enumerate()
        .filter_map(|(rank, candidate)| Section::read(views, candidate.place, &finder, rank))
        .collect();
    let asked = Asked::new(query, weights, &finder);
    let mut found = Contradictions::default();
    for (index, one) in sections.iter().enumerate() {
        for other in sections.iter().skip(index + 1) {
            let Some(conflict) = conflict(views, &asked, one, other) else { continue };
            let is_variant =
                one.context.differs_by_design(&other.context) || one.is_parallel_to(views, other);
            let list = if is_variant { &mut found.variants } else { &mut found.conflicts };
            match list.len() < MAX_REPORTED {
                true => list.push(conflict),
                false => found.is_limited = true,
            }
        }
    }
    found
}

/// The conflict between two sections.
fn conflict(views: &[View], asked: &Asked<'_>, one: &Section, other: &Section) -> Option<Conflict> {
    let found = difference(one, other).or_else(|| asked.difference(one, other))?;
    let term = asked.query.terms.get(found.terms.trailing_zeros() as usize).map_or("", |term| term.text());
    Some(Conflict {
        one: one.place,
        other: other.place,
        about: format!("{term}: {}", found.about),
        sentences: [one.quote(views, found.one)?, other.quote(views, found.other)?],
    })
}

/// Two statements in nearly the same words that cannot both hold.
fn difference(one: &Section, other: &Section) -> Option<Difference> {
    for (left, (statement, terms)) in one.statements.iter().enumerate() {
        checkpoint();
        for (right, (against, other_terms)) in other.statements.iter().enumerate() {
            let shared = terms & other_terms;
            if shared == 0
                || statement.cues.is_exception != against.cues.is_exception
                || statement.is_opposed_to(against)
            {
                continue;
            }
            let about = value_difference((statement, &one.context), (against, &other.context))
                .or_else(|| is_denial(statement, against).then(|| "yes / no".to_owned()));
            if let Some(about) = about {
                return Some(Difference { about, terms: shared, one: left, other: right });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;

#[cfg(test)]
#[path = "limits_tests.rs"]
mod limits_tests;
