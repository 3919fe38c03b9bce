//! The headings that are nearest to a question: those that have, together with the headings above them, the most of its
//! index keys.

use std::collections::HashMap;

use super::place::{NodePlace, node_at};
use super::scope::SearchScope;
use super::stages::StageOutcome;
use super::terms::{FormKind, lookup_keys};
use crate::index::{Key, NodeEntry, Posting, Segment, Shape, View};
use crate::text::normalize_line;

/// The maximum number of postings that are read, those of the rarest keys first, so that the headings cost a fraction of
/// the search. The keys beyond it are in so many sections that they say little about a heading.
const MAX_POSTINGS: usize = 100_000;
/// A heading with a lower share of the best score is not near.
const MIN_SHARE: f32 = 0.4;

/// The weights of the keys that one heading has.
#[derive(Default)]
struct HeadingScore {
    /// Of those in the heading itself.
    own: f32,
    /// Of those that only the headings above it, or the path of the file, have.
    above: f32,
}

/// The headings that were searched and have keys of the question, nearest first. Those outside the manual that was asked
/// for are only returned where it has none.
pub fn near_headings(views: &[View], scope: &SearchScope<'_>, outcome: &StageOutcome) -> Vec<NodePlace> {
    let mut scores: HashMap<NodePlace, HeadingScore> = HashMap::new();
    let mut title_keys: HashMap<NodePlace, Vec<Key>> = HashMap::new();
    for (key, weight) in weighted_keys(views, outcome) {
        for (view, index, segment) in segments(views) {
            for Posting { node, title, path, .. } in segment.find(key) {
                let place = NodePlace { view, segment: index, node };
                let is_own = title > 0
                    || segment.node(node).filter(|node| is_paragraph(segment, node)).is_some_and(|node| {
                        title_keys.entry(place).or_insert_with(|| keys_of_title(node)).contains(&key)
                    });
                if is_own {
                    scores.entry(place).or_default().own += weight;
                } else if path > 0 {
                    scores.entry(place).or_default().above += weight;
                }
            }
        }
    }
    // A section whose own heading has no key has nothing that its parent does not have.
    let near = scores.into_iter().filter(|(_, score)| score.own > 0.0).filter_map(|(place, score)| {
        let (_, node) = node_at(views, place).filter(|(_, node)| was_searched(views, scope, place, node))?;
        let is_outside = outcome.outside_views.contains(&place.view);
        Some((is_outside, score.own + score.above, node.title.len(), place))
    });
    let mut near: Vec<_> = near.collect();
    // Of two headings with the same keys, the shorter one is nearer.
    near.sort_unstable_by(|one, other| {
        one.0.cmp(&other.0).then(other.1.total_cmp(&one.1)).then((one.2, one.3).cmp(&(other.2, other.3)))
    });
    let Some(&(is_outside, best, ..)) = near.first() else { return Vec::new() };
    let is_near =
        |heading: &(bool, f32, usize, NodePlace)| heading.0 == is_outside && heading.1 >= best * MIN_SHARE;
    near.into_iter().take_while(is_near).map(|(.., place)| place).collect()
}

/// The keys of the terms as they are written, with their weights. Synonyms are left out: one of the pairs of characters of
/// another word is in a heading by chance, as that of 自動車, which stands for 車, in 自動更新.
fn weighted_keys(views: &[View], outcome: &StageOutcome) -> Vec<(Key, f32)> {
    let mut strengths: HashMap<Key, f32> = HashMap::new();
    for term in &outcome.query.terms {
        for form in term.forms.iter().filter(|form| form.kind == FormKind::Spelling) {
            for key in &form.keys {
                let known = strengths.entry(*key).or_default();
                *known = known.max(form.weight * term.strength);
            }
        }
    }
    let nodes: usize = segments(views).map(|(_, _, segment)| segment.nodes.len()).sum();
    let counted = strengths.into_iter().map(|(key, strength)| {
        let count: usize = segments(views).map(|(_, _, segment)| segment.count(key)).sum();
        (count, key, strength * (1.0 + nodes as f32 / count.max(1) as f32).ln())
    });
    let mut counted: Vec<_> = counted.filter(|(count, ..)| *count > 0).collect();
    counted.sort_unstable_by_key(|(count, key, _)| (*count, *key));
    let mut read = 0;
    counted.retain(|(count, ..)| {
        read += count;
        read <= MAX_POSTINGS
    });
    counted.into_iter().map(|(_, key, weight)| (key, weight)).collect()
}

fn segments(views: &[View]) -> impl Iterator<Item = (u32, u32, &Segment)> {
    (0..).zip(views).flat_map(|(view, segments)| {
        (0..).zip(&segments.segments).map(move |(index, segment)| (view, index, segment.as_ref()))
    })
}

/// Whether a node is a paragraph: the index knows the heading of a paragraph only as a part of its text.
fn is_paragraph(segment: &Segment, node: &NodeEntry) -> bool {
    segment.file_of(node).is_some_and(|file| file.shape == Shape::Paragraphs)
}

fn keys_of_title(node: &NodeEntry) -> Vec<Key> {
    let mut title = String::new();
    normalize_line(&node.title, &mut title);
    lookup_keys(&title)
}

fn was_searched(views: &[View], scope: &SearchScope<'_>, place: NodePlace, node: &NodeEntry) -> bool {
    let view = views.get(place.view as usize);
    let is_stale = view.is_some_and(|view| view.stale.contains(&(place.segment as usize, node.file)));
    !is_stale && !node.is_continuation && scope.allows(views, place)
}
