//! The sections whose text is likely to contain words that are close to a missing term. The index knows words only by
//! their keys, so likely keys are looked up: those of the parts of a compound, those of an abbreviation written out, and
//! those of a misspelled word with one letter changed.

use std::collections::{HashMap, HashSet};

use super::absent_terms::AbsentTerms;
use super::bm25::idf;
use super::close_words::CloseWords;
use super::place::NodePlace;
use super::similarity::similarity_of_respelled;
use super::terms::Term;
use super::word_scan::{WordScript, for_each_word, word_script};
use crate::cancellation::checkpoint;
use crate::index::{Key, Segment, all_of, pair, word};

/// The maximum number of missing terms whose keys are looked up.
const MAX_TERMS: usize = 4;
/// The maximum number of sections for each missing term and way of looking it up.
const MAX_SECTIONS: usize = 6;
/// The lengths of the words whose misspellings are looked up, in letters. Among shorter ones almost any change makes a
/// word.
const SPELLED_LETTERS: std::ops::RangeInclusive<usize> = 5..=16;
/// The maximum number of characters that may follow the first one of an abbreviation; Kanji with more are too common.
const MAX_FOLLOWERS: usize = 400;

/// Finds the sections, in no particular order. Words that a misspelled term becomes by one change are kept as close words.
pub fn near_texts(search: &AbsentTerms<'_>, close: &mut CloseWords) -> Vec<NodePlace> {
    let mut places = Vec::new();
    for (index, term) in search.missing_terms().take(MAX_TERMS) {
        places.extend(sections_with_parts(search, term));
        let text = term.text();
        if SPELLED_LETTERS.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase()) {
            for (word, place) in respelled_words(search, text) {
                close.keep(word, index, similarity_of_respelled(text), place);
            }
        }
        places.extend(sections_with_long_forms(search, text));
    }
    let mut seen = HashSet::new();
    places.retain(|place| seen.insert(*place));
    places
}

/// The sections that contain the most of the keys of a term, by their weight.
fn sections_with_parts(search: &AbsentTerms<'_>, term: &Term) -> Vec<NodePlace> {
    let keys = term.forms.first().map_or(&[][..], |form| form.keys.as_slice());
    if keys.len() < 2 {
        return Vec::new();
    }
    let nodes = search.node_count();
    let mut scores: HashMap<NodePlace, f32> = HashMap::new();
    for key in keys {
        let weight = idf(nodes, search.section_count(&[*key]) as f32);
        for (view, index, segment) in search.segments() {
            for posting in segment.find(*key).filter(|posting| posting.body + posting.title > 0) {
                *scores.entry(NodePlace { view, segment: index, node: posting.node }).or_default() += weight;
            }
        }
    }
    let mut places: Vec<_> = scores.into_iter().collect();
    places.sort_unstable_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    places.into_iter().take(MAX_SECTIONS).map(|(place, _)| place).collect()
}

/// The words that occur and that a misspelled word becomes by one change, each with a section that contains it.
fn respelled_words<'a>(search: &AbsentTerms<'a>, text: &str) -> Vec<(&'a str, NodePlace)> {
    let mut words = Vec::new();
    for key in respelled_keys(text) {
        checkpoint();
        let place = search.segments().find_map(|(view, index, segment)| {
            let mut postings = segment.find(key).filter(|posting| posting.body + posting.title > 0);
            Some(NodePlace { view, segment: index, node: postings.next()?.node })
        });
        let section = place.and_then(|place| Some((place, search.section_at(place)?)));
        if let Some((place, (segment, node))) = section {
            words.extend(word_with_key(segment.text_of(node), key).map(|word| (word, place)));
        }
        if words.len() == MAX_SECTIONS {
            break;
        }
    }
    words
}

/// The first word of a text with this key, which is that of its stem.
fn word_with_key(text: &str, key: Key) -> Option<&str> {
    let mut found = None;
    for_each_word(text, |candidate| {
        if found.is_none() && word(candidate) == key {
            found = Some(candidate);
        }
    });
    found
}

/// The index keys of all words that a misspelled word becomes when one letter is removed, replaced or inserted, or two
/// neighbors are swapped.
fn respelled_keys(text: &str) -> Vec<Key> {
    let letters: Vec<char> = text.chars().collect();
    let mut keys = Vec::new();
    let mut add = |before: &[char], between: &[char], after: &[char]| {
        let changed: String = before.iter().chain(between).chain(after).collect();
        keys.push(word(&changed));
    };
    for at in 0..=letters.len() {
        let (before, after) = letters.split_at(at);
        if let [first, rest @ ..] = after {
            add(before, &[], rest);
            ('a'..='z').for_each(|letter| add(before, &[letter], rest));
            if let [second, rest @ ..] = rest {
                add(before, &[*second, *first], rest);
            }
        }
        ('a'..='z').for_each(|letter| add(before, &[letter], after));
    }
    let own = word(text);
    keys.retain(|key| *key != own);
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The sections that contain what a term of Kanji may abbreviate: 有給休暇 for 有休, where one character stands between two
/// of the term.
fn sections_with_long_forms(search: &AbsentTerms<'_>, text: &str) -> Vec<NodePlace> {
    let letters: Vec<char> = text.chars().collect();
    let is_abbreviation = (2..=4).contains(&letters.len())
        && letters.iter().all(|letter| word_script(*letter) == WordScript::Kanji);
    let mut places = Vec::new();
    for neighbors in letters.windows(2).filter(|_| is_abbreviation) {
        let [first, second] = *neighbors else { continue };
        for (view, index, segment) in search.segments() {
            let nodes = nodes_with_one_between(segment, first, second);
            places.extend(nodes.into_iter().map(|node| NodePlace { view, segment: index, node }));
        }
    }
    places.truncate(MAX_SECTIONS);
    places
}

fn nodes_with_one_between(segment: &Segment, first: char, second: char) -> Vec<u32> {
    let mut nodes = Vec::new();
    for key in segment.keys_in(all_of(first)).take(MAX_FOLLOWERS) {
        let Some(between) = second_char(key).filter(|between| word_script(*between) == WordScript::Kanji)
        else {
            continue;
        };
        let continued = pair(between, second);
        if segment.count(continued) == 0 {
            continue;
        }
        let with_start: HashSet<u32> = segment.find(key).map(|posting| posting.node).collect();
        let both =
            segment.find(continued).map(|posting| posting.node).filter(|node| with_start.contains(node));
        nodes.extend(both.take(MAX_SECTIONS));
    }
    nodes
}

/// The second character of the key of a pair.
fn second_char(key: Key) -> Option<char> {
    char::from_u32(u32::try_from(key & 0x1f_ffff).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::word;

    #[test]
    fn a_misspelled_word_becomes_the_right_one_by_one_change() {
        for (wrong, right) in
            [("refnud", "refund"), ("refnd", "refund"), ("refuund", "refund"), ("rafund", "refund")]
        {
            assert!(respelled_keys(wrong).contains(&word(right)), "{wrong}");
        }
        assert!(!respelled_keys("refund").contains(&word("refund")));
        assert!(!respelled_keys("rfnud").contains(&word("refund")));
    }
}
