//! How similar a word of a text is to a term that the text does not contain: by spelling, or by the Kanji that both
//! contain.

use super::word_scan::{WordScript, word_script};

/// The minimum similarity of a word that a caller could use instead of a term.
pub const CLOSE: f32 = 0.6;
/// The minimum similarity of a word that most likely means the same, so that a find with it is suggested.
pub const SAME_MEANING: f32 = 0.75;
/// The minimum similarity of a word that has anything to do with a term.
pub const RELATED: f32 = 0.4;

/// The maximum number of characters of a term that is compared; a longer one is a sentence.
const MAX_CHARS: usize = 24;
/// Spellings of fewer letters are too easily alike by chance to mean the same.
const MIN_RELIABLE_LETTERS: usize = 6;
/// What a word that may be alike by chance, or that may mean the opposite as 入院 and 通院, is worth at most.
const UNRELIABLE: f32 = 0.7;
/// Words that begin with this many equal letters have the same root.
const MIN_STEM_LETTERS: usize = 7;
/// How much of the similarity depends on the share of a compound that one of its parts makes up.
const CONTAINED_SHARE: f32 = 0.5;

/// A term that is compared with many words.
pub struct ComparedTerm {
    text: String,
    chars: Vec<char>,
    /// A bit for each of its characters, by which most words are rejected at once.
    mask: u64,
    has_kanji: bool,
}

impl ComparedTerm {
    /// Prepares a normalized term; none where it is too short or too long to be compared.
    pub fn new(term: &str) -> Option<Self> {
        let chars: Vec<char> = term.chars().collect();
        let fits = (2..=MAX_CHARS).contains(&chars.len());
        fits.then(|| Self {
            text: term.to_owned(),
            mask: mask_of(term),
            has_kanji: chars.iter().any(|character| is_kanji(*character)),
            chars,
        })
    }

    /// The similarity with a word, from 0 to 1. Words whose similarity is below [`RELATED`] have 0.
    pub fn similarity(&self, word: &str) -> f32 {
        let similarity = if self.has_kanji { self.by_kanji(word) } else { self.by_spelling(word) };
        if similarity < RELATED { 0.0 } else { similarity }
    }

    /// The similarity of compounds: how much of the term the word contains in the same order, as 有給休暇 contains 有休.
    fn by_kanji(&self, word: &str) -> f32 {
        let share = |part: usize, of: usize| part as f32 / of.max(1) as f32;
        let contained = if self.text.contains(word) {
            RELATED + CONTAINED_SHARE * share(word.chars().count(), self.chars.len())
        } else {
            0.0
        };
        if word.is_ascii() || self.mask & mask_of(word) == 0 {
            return contained;
        }
        let word: Vec<char> = word.chars().collect();
        let common = common_kanji(&self.chars, &word);
        let in_order = match common {
            0 => 0.0,
            // One Kanji says something only of short words that begin with it: 給料 and 給与.
            1 if self.chars.len() > 2 || word.len() > 2 || self.chars.first() != word.first() => 0.0,
            _ => 0.7 * share(common, self.chars.len()) + 0.3 * share(common, word.len()),
        };
        let is_abbreviation = common == self.chars.len();
        contained.max(if is_abbreviation { in_order } else { in_order.min(UNRELIABLE) })
    }

    /// The similarity of spellings: a few letters differ, or one begins like the other, or ends with it.
    fn by_spelling(&self, word: &str) -> f32 {
        let (term_length, word_length) = (self.chars.len(), word.chars().count());
        let (shorter, longer) = (term_length.min(word_length), term_length.max(word_length));
        let is_alphabet =
            self.chars.first().is_some_and(|character| word_script(*character) == WordScript::Letter);
        let (min_length, min_prefix) = if is_alphabet { (4, 5) } else { (3, 3) };
        if shorter < min_length {
            return 0.0;
        }
        let share = |length: usize| length as f32 / longer as f32;
        let mut similarity = 0.0_f32;
        let allowed = (longer / 4).max(1);
        if longer - shorter <= allowed && self.may_be_spelled(word, allowed) {
            let edits = edits(&self.chars, &word.chars().collect::<Vec<_>>());
            if edits <= allowed {
                let spelled = 1.0 - share(edits);
                let is_reliable = !is_alphabet || longer >= MIN_RELIABLE_LETTERS;
                similarity = if is_reliable { spelled } else { spelled.min(UNRELIABLE) };
            }
        }
        let prefix = self.chars.iter().zip(word.chars()).take_while(|(one, other)| **one == *other).count();
        if prefix >= min_prefix && prefix * 4 >= shorter * 3 {
            similarity = similarity.max(0.5 + 0.5 * share(prefix));
        }
        if prefix >= MIN_STEM_LETTERS && prefix * 2 >= shorter {
            similarity = similarity.max(UNRELIABLE);
        }
        let is_ending = self.text.ends_with(word) || word.ends_with(&self.text);
        if longer > shorter && shorter * 2 >= longer && is_ending {
            similarity = similarity.max((0.3 + 0.6 * share(shorter)).min(UNRELIABLE));
        }
        similarity
    }

    /// Whether few enough characters occur in only one of the two that so many edits could make one of the other.
    fn may_be_spelled(&self, word: &str, allowed: usize) -> bool {
        let mask = mask_of(word);
        let only_in = |one: u64, other: u64| (one & !other).count_ones() as usize;
        only_in(self.mask, mask) <= allowed && only_in(mask, self.mask) <= allowed
    }
}

fn mask_of(text: &str) -> u64 {
    text.chars().fold(0, |mask, character| mask | 1 << (u32::from(character) % 64))
}

fn is_kanji(character: char) -> bool {
    word_script(character) == WordScript::Kanji
}

/// The length of the longest common subsequence of Kanji.
fn common_kanji(one: &[char], other: &[char]) -> usize {
    let mut row = vec![0_usize; other.len() + 1];
    for character in one.iter().filter(|character| is_kanji(**character)) {
        let mut diagonal = 0;
        for (at, candidate) in (1..).zip(other) {
            let (left, above) = (at_or_zero(&row, at - 1), at_or_zero(&row, at));
            let best = if candidate == character { diagonal + 1 } else { left.max(above) };
            diagonal = above;
            if let Some(cell) = row.get_mut(at) {
                *cell = best;
            }
        }
    }
    row.last().copied().unwrap_or_default()
}

fn at_or_zero(row: &[usize], at: usize) -> usize {
    row.get(at).copied().unwrap_or_default()
}

/// The similarity of a term and a word that it becomes when one letter is changed, whatever the ending of the word.
pub const fn similarity_of_respelled(term: &str) -> f32 {
    if term.len() >= MIN_RELIABLE_LETTERS { SAME_MEANING } else { UNRELIABLE }
}

/// The number of letters to insert, remove, replace or swap with their neighbor (optimal string alignment).
fn edits(one: &[char], other: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    let mut last = None;
    for (number, character) in (1..).zip(one) {
        let mut next = vec![number];
        let mut other_last = None;
        for (at, candidate) in (1..).zip(other) {
            let replaced = at_or_zero(&row, at - 1) + usize::from(candidate != character);
            let changed = (at_or_zero(&row, at) + 1).min(at_or_zero(&next, at - 1) + 1);
            let mut best = replaced.min(changed);
            if at >= 2 && last == Some(candidate) && other_last == Some(character) {
                best = best.min(at_or_zero(&before, at - 2) + 1);
            }
            next.push(best);
            other_last = Some(candidate);
        }
        before = std::mem::replace(&mut row, next);
        last = Some(character);
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn similarity(term: &str, word: &str) -> f32 {
        ComparedTerm::new(term).unwrap().similarity(word)
    }

    #[test]
    fn abbreviations_and_parts_of_compounds_mean_the_same() {
        for (term, word) in [
            ("有休", "有給休暇"),
            ("有休", "年次有給休暇"),
            ("育児休業給付金申請", "育児休業給付金"),
            ("refnud", "refund"),
            ("kubernets", "kubernetes"),
            ("installation", "installer"),
            ("インターフェイス", "インターフェース"),
        ] {
            assert!(similarity(term, word) >= SAME_MEANING, "{term} {word} {}", similarity(term, word));
        }
    }

    #[test]
    fn related_words_are_close_and_others_are_not() {
        for (term, word) in [
            ("支払日", "支払額"),
            ("ログイン", "ログオン"),
            ("color", "colour"),
            ("メールアドレス", "メール"),
            ("authentificate", "authentication"),
        ] {
            assert!(similarity(term, word) >= CLOSE, "{term} {word} {}", similarity(term, word));
        }
        assert!((RELATED..CLOSE).contains(&similarity("給料", "給与")));
        for (term, word) in [
            ("install", "instance"),
            ("port", "sort"),
            ("authentication", "authorization"),
            ("通院給付金", "入院給付金"),
            ("通院給付金", "給付金"),
            ("休日出勤", "出張"),
            ("サーバ", "有給"),
            ("cat", "cut"),
            ("refund", "返金"),
        ] {
            let found = similarity(term, word);
            assert!(found < SAME_MEANING, "{term} {word} {found}");
        }
        assert_eq!(
            (similarity("authentication", "authorization"), similarity("install", "instance")),
            (0.0, 0.0)
        );
    }

    #[test]
    fn short_words_that_differ_by_one_letter_never_mean_the_same() {
        for (term, word) in [("port", "post"), ("event", "evens"), ("ports", "parts")] {
            assert!(similarity(term, word) < SAME_MEANING, "{term} {word}");
        }
    }

    #[test]
    fn edits_count_inserted_removed_replaced_and_swapped_letters() {
        let edits = |one: &str, other: &str| {
            edits(&one.chars().collect::<Vec<_>>(), &other.chars().collect::<Vec<_>>())
        };
        for (one, other, count) in [
            ("abc", "abc", 0),
            ("abc", "acb", 1),
            ("abc", "ab", 1),
            ("abc", "abxc", 1),
            ("", "abc", 3),
            ("abcd", "badc", 2),
        ] {
            assert_eq!(edits(one, other), count, "{one} {other}");
        }
    }

    proptest! {
        #[test]
        fn a_similarity_is_a_share_and_a_word_is_most_like_itself(term in "[a-d有給休カ]{2,12}", word in "[a-d有給休カ]{2,12}") {
            let found = similarity(&term, &word);
            prop_assert!((0.0..=1.0).contains(&found), "{found}");
            let itself = similarity(&term, &term);
            prop_assert!(itself == 0.0 || itself >= found - 0.31, "{term} {word}: {found} above {itself}");
        }

        #[test]
        fn edits_are_symmetric(one in "[ab]{0,8}", other in "[ab]{0,8}") {
            let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
            prop_assert_eq!(edits(&one, &other), edits(&other, &one));
        }
    }
}
