//! A find that is not ready, for those who look for what it could have been asked instead: what was searched, and which
//! terms of the question occur.

use std::collections::HashSet;

use super::place::{NodePlace, node_at};
use super::scope::SearchScope;
use super::stages::StageOutcome;
use super::terms::Term;
use super::unscanned::manual_id;
use crate::index::{Key, NodeEntry, Segment, View};

/// The number of headings that stand for a text of which nothing is near to the question.
const MAX_FIRST_HEADINGS: usize = 200;

/// A find whose question was not fully answered.
pub struct AbsentTerms<'a> {
    views: &'a [View],
    scope: &'a SearchScope<'a>,
    /// The result of the stages.
    pub outcome: &'a StageOutcome,
    /// The terms that no section contains, as a bit set.
    missing: u64,
    /// Whether the manual that was asked for has no sections, so that the others are looked at.
    looks_outside: bool,
    /// The segments that were searched, with the indexes of view and segment.
    segments: Vec<(u32, u32, &'a Segment)>,
}

impl<'a> AbsentTerms<'a> {
    /// Prepares a find.
    pub fn new(
        views: &'a [View],
        scope: &'a SearchScope<'a>,
        outcome: &'a StageOutcome,
        missing: u64,
    ) -> Self {
        let inside = Self { views, scope, outcome, missing, looks_outside: false, segments: Vec::new() };
        let inside = Self { segments: inside.searched_segments(), ..inside };
        if inside.sections().next().is_some() || outcome.outside_views.is_empty() {
            return inside;
        }
        let all = Self { looks_outside: true, ..inside };
        Self { segments: all.searched_segments(), ..all }
    }

    fn searched_segments(&self) -> Vec<(u32, u32, &'a Segment)> {
        let skipped: HashSet<_> = self.outcome.matched.skipped_segments.iter().copied().collect();
        let views = (0..).zip(self.views).filter(|(index, _)| self.is_asked_for(*index));
        let segments = views.flat_map(|(view, segments)| {
            (0..).zip(&segments.segments).map(move |(index, segment)| (view, index, segment.as_ref()))
        });
        segments.filter(|(view, segment, _)| !skipped.contains(&(*view, *segment))).collect()
    }

    /// The segments that were searched, with the indexes of view and segment.
    pub fn segments(&self) -> impl Iterator<Item = (u32, u32, &'a Segment)> {
        self.segments.iter().copied()
    }

    fn is_asked_for(&self, view: u32) -> bool {
        self.looks_outside || !self.outcome.outside_views.contains(&view)
    }

    /// The sections that were searched, in document order.
    pub fn sections(&self) -> impl Iterator<Item = (NodePlace, &'a Segment, &'a NodeEntry)> {
        self.segments().flat_map(move |(view, index, segment)| {
            let nodes = (0..).zip(&segment.nodes).filter(|(_, node)| !node.is_continuation);
            let nodes = nodes.map(move |(node, entry)| (NodePlace { view, segment: index, node }, entry));
            nodes
                .filter(move |(place, node)| self.was_searched(*place, node))
                .map(move |(place, node)| (place, segment, node))
        })
    }

    fn was_searched(&self, place: NodePlace, node: &NodeEntry) -> bool {
        let is_stale = self.views.get(place.view as usize).is_some_and(|view| {
            !view.stale.is_empty() && view.stale.contains(&(place.segment as usize, node.file))
        });
        !is_stale && self.scope.allows(self.views, place)
    }

    /// A section that was searched; none where it was not.
    pub fn section_at(&self, place: NodePlace) -> Option<(&'a Segment, &'a NodeEntry)> {
        let found = node_at(self.views, place)?;
        (self.is_asked_for(place.view) && self.was_searched(place, found.1)).then_some(found)
    }

    /// The headings at the start of files, as many as say what the text is about.
    pub fn first_headings(&self) -> impl Iterator<Item = NodePlace> {
        let is_top = |node: &NodeEntry| node.parent.is_none();
        self.sections()
            .filter(move |(_, _, node)| is_top(node))
            .take(MAX_FIRST_HEADINGS)
            .map(|(place, ..)| place)
    }

    /// The number of nodes in the segments that were searched.
    pub fn node_count(&self) -> f32 {
        self.segments().map(|(_, _, segment)| segment.nodes.len()).sum::<usize>().max(1) as f32
    }

    /// About how many sections contain a word with these index keys: as many as contain its rarest key.
    pub fn section_count(&self, keys: &[Key]) -> usize {
        let count = |key: &Key| self.segments().map(|(_, _, segment)| segment.count(*key)).sum::<usize>();
        keys.iter().map(count).min().unwrap_or_default()
    }

    /// The terms that no section contains, with their indexes.
    pub fn missing_terms(&self) -> impl Iterator<Item = (usize, &'a Term)> {
        let missing = self.missing;
        self.outcome.query.terms.iter().enumerate().filter(move |(index, _)| missing >> index & 1 == 1)
    }

    /// The terms that a section contains, the rarest first.
    pub fn rarest_terms(&self) -> Vec<&'a Term> {
        let weights = &self.outcome.matched.term_weights;
        let missing = self.missing;
        let terms = self.outcome.query.terms.iter().zip(weights).enumerate();
        let mut found: Vec<_> = terms
            .filter(|(index, _)| missing >> index & 1 == 0)
            .map(|(_, (term, weight))| (*weight, term))
            .collect();
        found.sort_by(|one, other| other.0.total_cmp(&one.0));
        found.into_iter().map(|(_, term)| term).collect()
    }

    /// The terms that a section contains.
    pub fn found_terms(&self) -> impl Iterator<Item = &'a Term> {
        let missing = self.missing;
        let terms = self.outcome.query.terms.iter().enumerate();
        terms.filter(move |(index, _)| missing >> index & 1 == 0).map(|(_, term)| term)
    }

    /// The bit of the rarest term that a section contains; 0 where none does.
    pub fn rarest_term_bit(&self) -> u64 {
        let weights = self.outcome.matched.term_weights.iter().enumerate();
        let found = weights.filter(|(index, _)| self.missing >> index & 1 == 0);
        found.max_by(|one, other| one.1.total_cmp(other.1)).map_or(0, |(index, _)| 1 << index)
    }

    /// The id of the manual that a section belongs to; none for the vault.
    pub fn manual_id(&self, place: NodePlace) -> Option<String> {
        manual_id(self.views.get(place.view as usize)?).as_deref().map(str::to_owned)
    }
}
