//! The content words of a sentence: stemmed English words, and runs of Kanji or Katakana.

use std::collections::BTreeSet;
use std::ops::Range;

use super::super::words::is_stop_word;
use super::word_lists::GENERAL;
use crate::facts::Fact;
use crate::index::stem;

/// A content word of a sentence. Words are equal wherever they stand.
#[derive(Debug, Clone)]
pub struct Word {
    /// The stem.
    pub text: String,
    /// Its position in the sentence, in bytes.
    pub range: Range<usize>,
}

impl PartialEq for Word {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Word {}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Kanji,
    Katakana,
    Latin,
    Other,
}

fn script(character: char) -> Script {
    match character {
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '々' | '〇' => Script::Kanji,
        '\u{30a1}'..='\u{30fa}' | 'ー' => Script::Katakana,
        '\u{3041}'..='\u{3096}' => Script::Other,
        _ if character.is_alphanumeric() || matches!(character, '_' | '\'') => Script::Latin,
        _ => Script::Other,
    }
}

/// The content words of a sentence, without those of its values.
pub fn words_of(text: &str, facts: &[Fact]) -> Vec<Word> {
    let mut words = Vec::new();
    let mut characters = text.char_indices().peekable();
    // The facts are in order, and so are the characters.
    let mut facts = facts.iter().peekable();
    while let Some((start, first)) = characters.next() {
        while facts.next_if(|fact| fact.range.end <= start).is_some() {}
        let next_fact = facts.peek().map_or(text.len(), |fact| fact.range.start);
        let kind = script(first);
        if kind == Script::Other || start >= next_fact {
            continue;
        }
        let mut end = start + first.len_utf8();
        while let Some((at, next)) = characters.next_if(|(at, next)| script(*next) == kind && *at < next_fact)
        {
            end = at + next.len_utf8();
        }
        let run = text.get(start..end).unwrap_or_default();
        if let Some(text) = content_word(kind, run) {
            words.push(Word { text, range: start..end });
        }
    }
    words
}

/// The stem of a run of one script; none where it says nothing about the subject.
fn content_word(kind: Script, run: &str) -> Option<String> {
    let is_general = |word: &str| GENERAL.contains(&word);
    match kind {
        Script::Latin => {
            let bare = run.trim_matches('\'').trim_end_matches("'s");
            let is_word = bare.chars().any(char::is_alphabetic) && !is_stop_word(bare) && !is_general(bare);
            is_word.then(|| stem(bare))
        }
        Script::Katakana => Some(run.trim_end_matches('ー').to_owned()).filter(|word| !word.is_empty()),
        Script::Kanji | Script::Other => Some(run.to_owned()).filter(|word| !is_general(word)),
    }
}

/// Whether two words are the same, or one abbreviates the other: 有給 and 有給休暇.
pub fn same_word(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    match short.is_ascii() {
        _ if one == other => true,
        true => {
            let is_name = long.bytes().any(|byte| byte.is_ascii_digit());
            !is_name && short.len() >= 5 && long.len() <= short.len() + 2 && long.starts_with(short)
        }
        // A single character before a word says which one is meant: 父母 and 祖父母, 社員 and 正社員.
        false => {
            let ends = long.strip_suffix(short).is_some_and(|first| first.chars().nth(1).is_some());
            short.chars().nth(1).is_some() && (long.starts_with(short) || ends)
        }
    }
}

/// The words that two lists have in common, each word once.
#[derive(Debug)]
pub struct Likeness {
    /// The number of words that both have.
    pub shared: usize,
    /// The words that only the first one has.
    pub only_one: Vec<String>,
    /// The words that only the other one has.
    pub only_other: Vec<String>,
}

impl Likeness {
    /// Compares two lists of words.
    pub fn of(one: &[&str], other: &[&str]) -> Self {
        let one: BTreeSet<&str> = one.iter().copied().collect();
        let other: BTreeSet<&str> = other.iter().copied().collect();
        let equal = one.intersection(&other).count();
        let (mut mine, mut theirs): (BTreeSet<&str>, BTreeSet<&str>) =
            (one.difference(&other).copied().collect(), other.difference(&one).copied().collect());
        let pairs = mine.iter().flat_map(|word| theirs.iter().map(|known| (*word, *known)));
        let mut pairs: Vec<_> = pairs.filter(|(word, known)| same_word(word, known)).collect();
        // The order of the pairs is the same in both directions, and so is what they leave.
        pairs.sort_unstable_by_key(|&(word, known)| (word.min(known), word.max(known)));
        let mut shared = equal;
        for (word, known) in pairs {
            if mine.contains(word) && theirs.contains(known) {
                mine.remove(word);
                theirs.remove(known);
                shared += 1;
            }
        }
        let owned = |words: BTreeSet<&str>| words.into_iter().map(str::to_owned).collect();
        Self { shared, only_one: owned(mine), only_other: owned(theirs) }
    }

    /// The share of all words that both have.
    pub fn share(&self) -> f64 {
        let all = self.shared + self.only_one.len() + self.only_other.len();
        self.shared as f64 / all.max(1) as f64
    }

    /// The share of the words of the shorter list that both have.
    pub fn containment(&self) -> f64 {
        let shorter = self.shared + self.only_one.len().min(self.only_other.len());
        self.shared as f64 / shorter.max(1) as f64
    }
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
