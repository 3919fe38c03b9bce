//! What a find that is not ready says about what it did not find: the nearest headings, and words of the searched text
//! that a caller could ask with instead.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::absent_terms::AbsentTerms;
use super::near_headings::{NearHeadings, heading_path, near_headings};
use super::near_texts::near_texts;
use super::place::NodePlace;
use super::ranking::covered_weight;
use super::reading_order::MAX_SHOWN;
use super::vocabulary::{Vocabulary, vocabulary};

/// The maximum number of nearest headings.
const MAX_NEAREST: usize = 3;
/// The number of nearest headings, and of candidates, that are looked at for words.
const MAX_NEAR_HEADINGS: usize = 5;
const MAX_NEAR_TEXTS: usize = 20;

/// What could be asked instead. A find that is `ready` has none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Absence {
    /// The headings whose wording is nearest to the question, nearest first, at most three. Those of `top` are left out
    /// when there are others.
    #[schemars(length(max = 3))]
    pub nearest_headings: Vec<NearestHeading>,
    /// Words that occur in the searched text and that you could ask with instead, the most promising first, at most eight.
    /// Each of them finds something.
    #[schemars(length(max = 8))]
    pub vocabulary: Vec<String>,
}

/// A heading that is near to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NearestHeading {
    /// The titles from the top of the file down to the section.
    pub heading_path: Vec<String>,
    /// The id of the manual; absent for the vault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manual_id: Option<String>,
    /// The file's path, relative to its manual or to the vault.
    pub path: String,
    /// The line of the heading.
    pub line: u64,
}

/// What could be asked instead, and the words that most likely mean the same as a missing term.
pub fn absence(search: &AbsentTerms<'_>) -> (Absence, Vec<(usize, String)>) {
    let NearHeadings { ranked, mut close } = near_headings(search);
    let best = || search.outcome.inside().iter().map(|candidate| candidate.place);
    let near = || ranked.iter().copied().take(MAX_NEAR_HEADINGS);
    // A section with little of the question says nothing about what to ask instead.
    let weights = search.outcome.matched.term_weights.as_slice();
    let total: f32 = weights.iter().sum();
    let is_about = |terms: u64| covered_weight(weights, terms) * 2.0 >= total;
    let shown = search.outcome.inside().iter().take(MAX_SHOWN).filter(|candidate| is_about(candidate.terms));
    let headings: Vec<_> = near().chain(shown.map(|candidate| candidate.place)).collect();
    let near_texts = near_texts(search, &mut close);
    let texts: Vec<_> = best().take(MAX_NEAR_TEXTS).chain(near_texts).chain(near()).collect();
    let Vocabulary { words, replacements, places } = vocabulary(search, close, &headings, &texts);
    (Absence { nearest_headings: nearest(search, &ranked, &places), vocabulary: words }, replacements)
}

/// The nearest headings: those that a reply does not show anyway, else those that it shows. Where no heading is near,
/// those of sections with words that are close to missing terms, of candidates with the rarest term, or of any candidates.
fn nearest(
    search: &AbsentTerms<'_>,
    ranked: &[NodePlace],
    with_close_words: &[NodePlace],
) -> Vec<NearestHeading> {
    let inside = search.outcome.inside();
    let has_evidence = search.outcome.evidence().next().is_some();
    let shown = inside.iter().take(if has_evidence { MAX_SHOWN } else { 0 });
    let shown: HashSet<_> = shown.map(|candidate| candidate.place).collect();
    let related: Vec<_> = inside.iter().map(|candidate| candidate.place).collect();
    let rarest = search.rarest_term_bit();
    let with_rarest = inside.iter().filter(|candidate| candidate.terms & rarest != 0);
    let with_rarest: Vec<_> = with_rarest.map(|candidate| candidate.place).collect();
    let is_new = |place: &NodePlace| !shown.contains(place);
    for (places, is_shown) in
        [(ranked, false), (ranked, true), (with_close_words, false), (&with_rarest, false), (&related, false)]
    {
        let places = places.iter().copied().filter(|place| is_new(place) != is_shown);
        let headings = distinct_headings(search, places);
        if !headings.is_empty() {
            return headings;
        }
    }
    Vec::new()
}

/// The first headings of these sections, each once.
fn distinct_headings(
    search: &AbsentTerms<'_>,
    places: impl Iterator<Item = NodePlace>,
) -> Vec<NearestHeading> {
    let mut headings: Vec<NearestHeading> = Vec::new();
    for place in places {
        if let Some(heading) = heading(search, place)
            && !headings.iter().any(|known| {
                known.heading_path == heading.heading_path && known.manual_id == heading.manual_id
            })
        {
            headings.push(heading);
        }
        if headings.len() == MAX_NEAREST {
            break;
        }
    }
    headings
}

fn heading(search: &AbsentTerms<'_>, place: NodePlace) -> Option<NearestHeading> {
    let (segment, node) = search.section_at(place)?;
    Some(NearestHeading {
        heading_path: heading_path(segment, node),
        manual_id: search.manual_id(place),
        path: segment.file_of(node)?.path.clone(),
        line: node.start_line.into(),
    })
}

#[cfg(test)]
#[path = "absence_tests.rs"]
mod tests;
