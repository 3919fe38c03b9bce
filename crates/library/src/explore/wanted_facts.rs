//! Whether a text has a fact of the kind that a question wants.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::tokens::is_hiragana;
use super::wanted::Wanted;
use super::wanted_words::{NAMES, NUMBER_WORDS, UNITS};
use crate::text::kanji_number;

impl Wanted {
    /// Whether a normalized text has a fact of one of these kinds.
    pub fn is_stated_in(self, text: &str) -> bool {
        let mut finders = NAME_FINDERS.iter().filter(|(kind, _)| self.has_any(*kind));
        finders.any(|(_, finder)| finder.is_match(text)) || has_number_of(self, text)
    }
}

/// Finds the names of each kind; empty for a list that no automaton can be built from, which a test rules out.
static NAME_FINDERS: LazyLock<Vec<(Wanted, AhoCorasick)>> = LazyLock::new(|| {
    let finders = NAMES.iter().filter_map(|(kind, words)| Some((*kind, AhoCorasick::new(*words).ok()?)));
    finders.collect()
});

/// Whether a normalized text has a number with a unit of one of these kinds. The text is read once.
fn has_number_of(wanted: Wanted, text: &str) -> bool {
    let mut before = '\n';
    let mut characters = text.char_indices();
    while let Some((start, first)) = characters.next() {
        let rest = text.get(start..).unwrap_or_default();
        let length = match first {
            _ if first.is_ascii_digit() || is_kanji_digit(first) => number_length(rest),
            'a'..='z' if !before.is_ascii_alphanumeric() => word_number_length(rest),
            '数' => first.len_utf8(),
            '$' | '€' | '£' | '¥' if wanted.has_any(Wanted::MONEY) => {
                let amount = rest.trim_start_matches(['$', '€', '£', '¥', ' ']);
                if amount.starts_with(|character: char| character.is_ascii_digit()) {
                    return true;
                }
                0
            }
            _ => 0,
        };
        let number = rest.get(..length).unwrap_or_default();
        if length > 0 && before != '第' && states(wanted, number, rest.get(length..).unwrap_or_default()) {
            return true;
        }
        before = first;
        // The rest of the number was read with it.
        while length > 0 && characters.as_str().len() > rest.len() - length {
            if let Some((_, character)) = characters.next() {
                before = character;
            }
        }
    }
    false
}

fn is_kanji_digit(character: char) -> bool {
    kanji_number(std::iter::once(character)).is_some()
}

/// The length of a number in digits or Kanji numerals, in bytes.
fn number_length(text: &str) -> usize {
    let is_part = |character: char| {
        character.is_ascii_digit() || is_kanji_digit(character) || ",.:/-".contains(character)
    };
    let number =
        text.find(|character| !is_part(character)).map_or(text, |end| text.get(..end).unwrap_or(text));
    number.trim_end_matches([',', '.', ':', '/', '-']).len()
}

/// The length of a word that is a number, in bytes; 0 where it is none.
fn word_number_length(text: &str) -> usize {
    let end = text.find(|character: char| !character.is_ascii_alphanumeric()).unwrap_or(text.len());
    if NUMBER_WORDS.contains(&text.get(..end).unwrap_or_default()) { end } else { 0 }
}

/// Whether a number followed by this text states a fact of one of these kinds.
fn states(wanted: Wanted, number: &str, after: &str) -> bool {
    let is_clock = number.contains(':');
    let is_date = number.matches(['-', '/']).count() == 2;
    if (is_clock && wanted.has_any(Wanted::TIME)) || (is_date && wanted.has_any(Wanted::DATE)) {
        return true;
    }
    let spaced = after.starts_with([' ', '-']);
    let after = after.trim_start_matches([' ', '-']);
    let is_digits = number.starts_with(|character: char| character.is_ascii_digit());
    // In English any noun can be counted.
    if wanted.has_any(Wanted::COUNT)
        && spaced
        && is_digits
        && after.starts_with(|character: char| character.is_ascii_alphabetic())
    {
        return true;
    }
    let units = UNITS
        .iter()
        .filter(|(kind, _)| wanted.has_any(*kind))
        .flat_map(|(_, units)| units.split_whitespace());
    units.into_iter().any(|unit| after.strip_prefix(unit).is_some_and(|rest| ends_unit(unit, rest)))
}

/// Whether a unit is not the beginning of a longer word.
fn ends_unit(unit: &str, rest: &str) -> bool {
    let next = rest.chars().next();
    match unit.is_ascii() {
        true => next.is_none_or(|next| !next.is_ascii_alphanumeric()),
        // 3度目 and 3時間 have another unit, which is on the list itself; 3日曜 has none.
        false => next.is_none_or(|next| is_hiragana(next) || !matches!(next, '曜')),
    }
}

#[cfg(test)]
#[path = "wanted_facts_tests.rs"]
mod tests;
