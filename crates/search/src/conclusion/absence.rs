//! What a find that is not ready says about what it did not find: the nearest headings.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::conclusion::near_headings::near_headings;
use crate::conclusion::term_counts::section_of;
use crate::index::{NodeEntry, Segment, View};
use crate::matching::place::{NodePlace, node_at};
use crate::ranking::MAX_SHOWN;
use crate::stages::StageOutcome;
use crate::stages::scope::SearchScope;
use crate::trace::unscanned::manual_id;

/// The maximum number of nearest headings.
const MAX_NEAREST: usize = 3;

/// Where to look instead. A find that is `ready` has none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Absence {
    /// The headings that have the most words of the question, nearest first, at most three. Those of `top` are left out
    /// when there are others.
    #[schemars(length(max = 3))]
    pub nearest_headings: Vec<NearestHeading>,
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

/// The nearest headings: those that the reply does not show anyway, else those that it shows. Where no heading is near,
/// those of the sections that are related to the question.
pub fn absence(views: &[View], scope: &SearchScope<'_>, outcome: &StageOutcome) -> Absence {
    let has_evidence = outcome.evidence().next().is_some();
    let candidates = || outcome.candidates.iter().map(|candidate| section_of(views, candidate.place));
    let shown: HashSet<_> = candidates().take(if has_evidence { MAX_SHOWN } else { 0 }).collect();
    let (near_shown, near): (Vec<_>, Vec<_>) =
        near_headings(views, scope, outcome).into_iter().partition(|place| shown.contains(place));
    let related = candidates().filter(|place| !shown.contains(place)).collect();
    let headings = [near, near_shown, related].map(|places| distinct_headings(views, &places));
    let nearest_headings = headings.into_iter().find(|headings| !headings.is_empty());
    Absence { nearest_headings: nearest_headings.unwrap_or_default() }
}

/// The first headings of these sections, each once.
fn distinct_headings(views: &[View], places: &[NodePlace]) -> Vec<NearestHeading> {
    let mut headings: Vec<NearestHeading> = Vec::new();
    for heading in places.iter().filter_map(|place| heading(views, *place)) {
        let is_same = |known: &NearestHeading| {
            known.heading_path == heading.heading_path && known.manual_id == heading.manual_id
        };
        if !headings.iter().any(is_same) {
            headings.push(heading);
        }
        if headings.len() == MAX_NEAREST {
            break;
        }
    }
    headings
}

fn heading(views: &[View], place: NodePlace) -> Option<NearestHeading> {
    let (segment, node) = node_at(views, place)?;
    Some(NearestHeading {
        heading_path: heading_path(segment, node),
        manual_id: manual_id(views.get(place.view as usize)?).as_deref().map(str::to_owned),
        path: segment.file_of(node)?.path.clone(),
        line: node.start_line.into(),
    })
}

/// The titles from the top of the file down to a section.
fn heading_path(segment: &Segment, node: &NodeEntry) -> Vec<String> {
    let parent_of = |node: &&NodeEntry| node.parent.and_then(|parent| segment.node(parent));
    let mut titles: Vec<_> =
        std::iter::successors(Some(node), parent_of).map(|node| node.title.clone()).collect();
    titles.reverse();
    titles
}

#[cfg(test)]
#[path = "absence_tests.rs"]
mod tests;
