//! The headings that are nearest to a question: those that have, together with the headings above them, the most of its
//! index keys.

use std::collections::HashMap;

use crate::index::{Key, Posting, Segment, View};
use crate::matching::place::NodePlace;
use crate::query::terms::{FormKind, lookup_keys};
use crate::stages::StageOutcome;
use crate::stages::scope::SearchScope;
use annai_text::{Structure, normalize_line};

/// The maximum number of postings that are read, those of the rarest keys first, so that the headings cost a fraction of
/// the search. The keys beyond it are in so many sections that they say little about a heading.
const MAX_POSTINGS: usize = 100_000;
/// A heading with a lower share of the best score is not near.
const MIN_SHARE: f32 = 0.4;

/// The headings that were searched and have keys of the question, nearest first. Those outside the manual that was asked
/// for are only returned where it has none.
pub fn near_headings(views: &[View], scope: &SearchScope<'_>, outcome: &StageOutcome) -> Vec<NodePlace> {
    let keys = weighted_keys(views, outcome);
    let mut near = Vec::new();
    for (view_index, view) in (0..).zip(views) {
        for (segment_index, segment) in (0..).zip(&view.segments) {
            for ((node, entry), score) in (0..).zip(&segment.nodes).zip(heading_scores(segment, &keys)) {
                let place = NodePlace { view: view_index, segment: segment_index, node };
                let is_current = !view.stale.contains(&(segment_index as usize, entry.file));
                if score > 0.0 && !entry.is_continuation && is_current && scope.allows(views, place) {
                    near.push((score, entry.title.len(), place));
                }
            }
        }
    }
    let is_outside = |place: NodePlace| outcome.outside_views.contains(&place.view);
    let has_inside = near.iter().any(|(.., place)| !is_outside(*place));
    near.retain(|(.., place)| is_outside(*place) != has_inside);
    // Of two headings with the same keys, the shorter one is nearer.
    near.sort_unstable_by(|one, other| {
        other.0.total_cmp(&one.0).then((one.1, one.2).cmp(&(other.1, other.2)))
    });
    let least = near.first().map_or(0.0, |(best, ..)| best * MIN_SHARE);
    near.into_iter().take_while(|(score, ..)| *score >= least).map(|(.., place)| place).collect()
}

/// The weight of the keys that the heading of each node and the headings above it have; 0 where its own heading has none,
/// because then the heading above says as much.
fn heading_scores(segment: &Segment, keys: &[(Key, f32)]) -> Vec<f32> {
    let mut own = vec![0.0; segment.nodes.len()];
    let mut above = own.clone();
    let mut titles: HashMap<&str, Vec<Key>> = HashMap::new();
    // The index knows the heading of a paragraph only as a part of its text.
    let mut is_in_paragraph_title = |node: u32, key: Key| {
        let node = segment
            .node(node)
            .filter(|node| segment.file_of(node).is_some_and(|file| file.structure == Structure::Paragraphs));
        node.is_some_and(|node| {
            titles.entry(&node.title).or_insert_with(|| keys_of(&node.title)).contains(&key)
        })
    };
    for (key, weight) in keys {
        for Posting { node, title, path, .. } in segment.find(*key) {
            let is_own = title > 0 || is_in_paragraph_title(node, *key);
            let field = if is_own { &mut own } else { &mut above };
            if let Some(score) = field.get_mut(node as usize).filter(|_| is_own || path > 0) {
                *score += weight;
            }
        }
    }
    own.iter().zip(above).map(|(own, above)| if *own > 0.0 { own + above } else { 0.0 }).collect()
}

fn keys_of(title: &str) -> Vec<Key> {
    let mut normal = String::new();
    normalize_line(title, &mut normal);
    lookup_keys(&normal)
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
    let segments = || views.iter().flat_map(|view| &view.segments);
    let nodes = segments().map(|segment| segment.nodes.len()).sum::<usize>() as f32;
    let count = |key: Key| segments().map(|segment| segment.count(key)).sum::<usize>();
    let mut counted: Vec<_> =
        strengths.into_iter().map(|(key, strength)| (count(key), key, strength)).collect();
    counted.sort_unstable_by_key(|(count, key, _)| (*count, *key));
    let mut postings = 0;
    let rarest = counted.into_iter().take_while(|(count, ..)| {
        postings += count;
        postings <= MAX_POSTINGS
    });
    let idf = |count: usize| (1.0 + nodes / count.max(1) as f32).ln();
    rarest.map(|(count, key, strength)| (key, strength * idf(count))).collect()
}
