//! The headings that are nearest to a question in their wording: those that contain its rarest words, or words that are
//! spelled like the ones that stand nowhere.

use std::collections::{HashMap, HashSet};

use super::absent_terms::AbsentTerms;
use super::bm25::idf;
use super::close_words::CloseWords;
use super::place::NodePlace;
use super::reading_order::MAX_SHOWN;
use super::similarity::CLOSE;
use super::word_scan::for_each_word;
use crate::index::{Key, NodeEntry, Posting, Segment, tokens};
use crate::text::normalize_line;

/// The maximum number of headings whose words are compared with the question. Beyond them a manual is so large that the
/// comparison would take longer than the search itself.
const MAX_HEADINGS: usize = 20_000;
/// The maximum number of index keys of the question that are looked up in headings, the rarest first.
const MAX_KEYS: usize = 64;
/// Half of the score of a heading of this many characters is kept: of two headings with the same words, the shorter one
/// is nearer.
const HALF_LENGTH: f32 = 40.0;
/// The factor for a heading in a file of the best candidates.
const SAME_FILE_BOOST: f32 = 1.5;
/// A heading with a lower share of the best score is not near.
const MIN_SHARE: f32 = 0.4;
/// The weight below which a form of a term is a synonym of only a part of it.
pub const MIN_FORM_WEIGHT: f32 = 0.5;

/// The nearest headings, best first, and the words of all headings that are close to missing terms.
pub struct NearHeadings {
    /// The headings with their scores, best first.
    pub ranked: Vec<NodePlace>,
    /// The close words.
    pub close: CloseWords,
}

/// Compares the headings with the question.
pub fn near_headings(search: &AbsentTerms<'_>) -> NearHeadings {
    let wanted = WantedKeys::of(search);
    let mut keys_of: HashMap<NodePlace, HashSet<Key>> = HashMap::new();
    for (view, segment_index, segment) in search.segments() {
        for key in wanted.weights.keys() {
            for Posting { node, .. } in segment.find(*key).filter(|posting| posting.title > 0) {
                keys_of.entry(NodePlace { view, segment: segment_index, node }).or_default().insert(*key);
            }
        }
    }
    let scored = keys_of.into_iter().map(|(place, keys)| (place, wanted.score(&keys)));
    let mut scores: HashMap<NodePlace, f32> = scored.filter(|(_, score)| *score > 0.0).collect();
    let mut close = CloseWords::new(search);
    compare_words(search, &wanted, &mut scores, &mut close);
    let best = search.outcome.inside().iter().take(MAX_SHOWN);
    let best_files: HashSet<_> = best
        .filter_map(|candidate| search.section_at(candidate.place))
        .map(|(segment, node)| file_id(segment, node))
        .collect();
    let mut ranked: Vec<(NodePlace, f32)> = scores
        .into_iter()
        .filter_map(|(place, score)| {
            let (segment, node) = search.section_at(place)?;
            let chars = node.title.chars().count() as f32;
            let boost = if best_files.contains(&file_id(segment, node)) { SAME_FILE_BOOST } else { 1.0 };
            Some((place, score * boost * HALF_LENGTH / (HALF_LENGTH + chars)))
        })
        .collect();
    ranked.sort_unstable_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    let least = ranked.first().map_or(0.0, |(_, best)| best * MIN_SHARE);
    let ranked = ranked.into_iter().take_while(|(_, score)| *score >= least).map(|(place, _)| place);
    NearHeadings { ranked: ranked.collect(), close }
}

/// What tells the file of a node apart from all others.
fn file_id(segment: &Segment, node: &NodeEntry) -> (*const Segment, u32) {
    (std::ptr::from_ref(segment), node.file)
}

/// The index keys of the terms.
struct WantedKeys {
    /// The keys of each form of a term, and how many of them have to be there.
    forms: Vec<(Vec<Key>, usize)>,
    /// The weights of the keys: rare ones say more about what a heading is about.
    weights: HashMap<Key, f32>,
}

impl WantedKeys {
    fn of(search: &AbsentTerms<'_>) -> Self {
        let (mut forms, mut strengths) = (Vec::new(), HashMap::<Key, f32>::new());
        for term in &search.outcome.query.terms {
            for form in term.forms.iter().filter(|form| form.weight >= MIN_FORM_WEIGHT) {
                for key in &form.keys {
                    let known = strengths.entry(*key).or_default();
                    *known = known.max(form.weight * term.strength);
                }
                // A part of the caller's own word is a clue: 慶弔 of 慶弔見舞金. A pair of characters of another word is
                // there by chance: 自動更新 is not about 自動車, which stands for 車.
                let is_own = form.text == term.text();
                forms.push((form.keys.clone(), if is_own { 1 } else { (form.keys.len() * 2).div_ceil(3) }));
            }
        }
        let nodes = search.node_count();
        let weight = |(key, strength): (Key, f32)| {
            let count: usize = search.segments().map(|(_, _, segment)| segment.count(key)).sum();
            (count > 0).then(|| (key, strength * idf(nodes, count as f32)))
        };
        let mut weights: Vec<_> = strengths.into_iter().filter_map(weight).collect();
        weights.sort_unstable_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        weights.truncate(MAX_KEYS);
        Self { forms, weights: weights.into_iter().collect() }
    }

    /// How near a heading with these keys is.
    fn score(&self, keys: &HashSet<Key>) -> f32 {
        let is_there = |(form, least): &&(Vec<Key>, usize)| {
            form.iter().filter(|key| keys.contains(key)).count() >= *least
        };
        let found = self.forms.iter().filter(is_there).flat_map(|(form, _)| form);
        let counted: HashSet<Key> = found.filter(|key| keys.contains(key)).copied().collect();
        counted.iter().filter_map(|key| self.weights.get(key)).sum()
    }
}

/// Compares the words of the headings with the terms that stand nowhere, and looks for the keys of the question in the
/// headings that the index does not know as such: those of paragraphs, and the names of files.
fn compare_words(
    search: &AbsentTerms<'_>,
    wanted: &WantedKeys,
    scores: &mut HashMap<NodePlace, f32>,
    close: &mut CloseWords,
) {
    let unknown = idf(search.node_count(), 1.0);
    let (mut title, mut last_title) = (String::new(), "");
    for (place, segment, node) in search.sections().take(MAX_HEADINGS) {
        if node.heading_lines > 0 && close.is_idle() {
            continue;
        }
        let mut score = 0.0_f32;
        let heading = if node.heading_lines > 0 {
            // The index knows the keys of this heading, and its first line is normalized already.
            segment.text_of(node).lines().next().unwrap_or_default()
        } else {
            // The paragraphs below a heading all have its title; the first one stands for them.
            if std::mem::replace(&mut last_title, node.title.as_str()) == node.title {
                continue;
            }
            title.clear();
            normalize_line(&node.title, &mut title);
            let mut keys = HashSet::new();
            tokens(&title, &mut |key| keys.extend(wanted.weights.contains_key(&key).then_some(key)));
            score += wanted.score(&keys);
            title.as_str()
        };
        let mut best = 0.0_f32;
        if !close.is_idle() {
            for_each_word(heading, |word| best = best.max(close.compare(word, place)));
        }
        if best >= CLOSE {
            score += best * unknown;
        }
        if score > 0.0 {
            *scores.entry(place).or_default() += score;
        }
    }
}

/// The titles from the top of the file down to a section.
pub fn heading_path(segment: &Segment, node: &NodeEntry) -> Vec<String> {
    let mut titles = Vec::new();
    let mut next = Some(node);
    while let Some(node) = next {
        // A passage after the first one has the heading of its section.
        if !node.is_continuation {
            titles.push(node.title.clone());
        }
        next = node.parent.and_then(|parent| segment.node(parent));
    }
    titles.reverse();
    titles
}
