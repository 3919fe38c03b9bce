//! The words of the searched text that a caller could ask with instead of its own.

use std::collections::{HashMap, HashSet};

use super::absent_terms::AbsentTerms;
use super::bm25::idf;
use super::chosen_words::ChosenWords;
use super::close_words::{CloseWords, MAX_COMPARED_TERMS};
use super::dictionary::Dictionary;
use super::place::NodePlace;
use super::query::Query;
use super::similarity::{CLOSE, SAME_MEANING};
use super::terms::{Term, lookup_keys};
use super::word_scan::for_each_word;

/// The maximum number of words of headings that are suggested: they are about what is near, not about the question.
const MAX_HEADING_WORDS: usize = 4;
/// The number of words that are merely related to a missing term and come before the words of headings.
const MAX_RELATED_FIRST: usize = 2;
/// The number of headings whose words are suggested.
const MAX_WORDED_HEADINGS: usize = 10;
/// The maximum weight of rarity: beyond it, rare words would win over those of the nearest headings.
const MAX_IDF: f32 = 4.0;
/// The maximum number of compounds of the terms that are suggested, so that the words of headings have room too.
const MAX_COMPOUNDS: usize = 4;
/// The maximum number of bytes of a section whose words are compared.
const MAX_SCANNED_BYTES: usize = 2000;
/// A word that more than this share of the sections contain tells nothing apart.
const MAX_COMMON_SHARE: f32 = 0.3;
/// The minimum number of sections for judging how common a word is.
const MIN_JUDGED_SECTIONS: f32 = 20.0;

/// Words that a caller could ask with instead.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Vocabulary {
    /// The words, the most useful first.
    pub words: Vec<String>,
    /// The words that most likely mean the same as a missing term, with the index of that term.
    pub replacements: Vec<(usize, String)>,
    /// Sections that contain a word that is close to a missing term, the closest first.
    pub places: Vec<NodePlace>,
}

/// Collects the vocabulary: words that are close to missing terms, compounds of the terms that occur, and words of the
/// nearest headings. `headings` are the sections whose headings are looked at, `texts` those whose texts are; nearest first.
pub fn vocabulary(
    search: &AbsentTerms<'_>,
    mut close: CloseWords,
    headings: &[NodePlace],
    texts: &[NodePlace],
) -> Vocabulary {
    let compounds = compounds(search, &mut close, texts);
    let mut chosen = ChosenWords::new(search);
    let (close, related): (Vec<_>, Vec<_>) =
        close.ranked().into_iter().partition(|(_, word)| word.similarity >= CLOSE);
    let mut replacements: Vec<(usize, String)> = Vec::new();
    // The best word of every term comes before the second best of any.
    for is_first in [true, false] {
        for (word, found) in &close {
            let is_known = replacements.iter().any(|(term, _)| *term == found.term);
            if is_known != is_first && chosen.add(word, found.place) && !is_known {
                replacements.push((found.term, word.clone()));
            }
        }
    }
    let similarity =
        |word: &str| close.iter().find(|(other, _)| other == word).map(|(_, found)| found.similarity);
    replacements.retain(|(_, word)| similarity(word).is_some_and(|similarity| similarity >= SAME_MEANING));
    let before = chosen.words.len();
    for (word, place) in &compounds {
        if chosen.words.len() < before + MAX_COMPOUNDS {
            chosen.add(word, *place);
        }
    }
    for (word, found) in related.iter().take(MAX_RELATED_FIRST) {
        chosen.add(word, found.place);
    }
    let before = chosen.words.len();
    for (word, place) in heading_words(search, headings) {
        if chosen.words.len() < before + MAX_HEADING_WORDS {
            chosen.add_distinct(&word, place);
        }
    }
    for (word, found) in &related {
        chosen.add(word, found.place);
    }
    if headings.is_empty() && close.is_empty() {
        // Nothing is near: words of headings from all over the text say at least what it is about.
        let first: Vec<_> = search.first_headings().collect();
        let step = first.len().div_ceil(MAX_WORDED_HEADINGS).max(1);
        let spread: Vec<_> = first.into_iter().step_by(step).collect();
        for (word, place) in heading_words(search, &spread) {
            chosen.add_distinct(&word, place);
        }
    }
    let places = close.iter().map(|(_, found)| found.place).collect();
    Vocabulary { words: chosen.words, replacements, places }
}

/// The compounds that contain a term of the question, those in the most sections first. The texts are compared with the
/// missing terms on the way.
fn compounds(
    search: &AbsentTerms<'_>,
    close: &mut CloseWords,
    near: &[NodePlace],
) -> Vec<(String, NodePlace)> {
    let found = search.rarest_terms().into_iter().map(Term::text).filter(|text| is_compoundable(text));
    let found: Vec<&str> = found.take(MAX_COMPARED_TERMS).collect();
    let mut counts: HashMap<String, (usize, NodePlace)> = HashMap::new();
    for place in near {
        let Some((segment, node)) = search.section_at(*place) else { continue };
        let text = segment.text_of(node);
        let text = text.get(..text.floor_char_boundary(MAX_SCANNED_BYTES)).unwrap_or(text);
        let mut seen = HashSet::new();
        for_each_word(text, |word| {
            if !seen.insert(word) {
                return;
            }
            close.compare(word, *place);
            if found.iter().any(|term| word.len() > term.len() && word.contains(term)) {
                counts.entry(word.to_owned()).or_insert((0, *place)).0 += 1;
            }
        });
    }
    let mut words: Vec<_> = counts.into_iter().collect();
    words.sort_by(|one, other| other.1.0.cmp(&one.1.0).then_with(|| one.0.cmp(&other.0)));
    words.into_iter().map(|(word, (_, place))| (word, place)).collect()
}

/// Whether longer words with a term in them are about it: not those with a few letters in common.
fn is_compoundable(term: &str) -> bool {
    term.chars().count() >= if term.is_ascii() { 4 } else { 2 }
}

/// The words of the headings of these sections, the most distinctive first.
fn heading_words(search: &AbsentTerms<'_>, sections: &[NodePlace]) -> Vec<(String, NodePlace)> {
    let mut titles = HashSet::new();
    let mut words: HashMap<String, (f32, NodePlace)> = HashMap::new();
    for place in sections {
        let Some((_, node)) = search.section_at(*place) else { continue };
        let rank = titles.len();
        if rank == MAX_WORDED_HEADINGS || !titles.insert(node.title.as_str()) {
            continue;
        }
        let Ok(query) = Query::new(&node.title, None, &Dictionary::empty()) else { continue };
        for term in &query.terms {
            let weight = 1.0 / (1.0 + rank as f32 / 3.0);
            words.entry(term.text().to_owned()).or_insert((0.0, *place)).0 += weight;
        }
    }
    let nodes = search.node_count();
    let weighed = |(word, (weight, place)): (String, (f32, NodePlace))| {
        let sections = search.section_count(&lookup_keys(&word)) as f32;
        let is_common = nodes >= MIN_JUDGED_SECTIONS && sections > nodes * MAX_COMMON_SHARE;
        // A word of one section leads to that section only, which is known already.
        let reach = if sections > 1.0 { 1.0 } else { 0.5 };
        (!is_common).then(|| (weight * reach * idf(nodes, sections).min(MAX_IDF), word, place))
    };
    let mut words: Vec<_> = words.into_iter().filter_map(weighed).collect();
    words.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    words.into_iter().map(|(_, word, place)| (word, place)).collect()
}
