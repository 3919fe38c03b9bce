//! What single words of a question say: nothing, little, its intent, that it asks for everything or for a number.

use std::sync::LazyLock;

use annai_language::{ENGLISH, JAPANESE};

use crate::query::terms::{Goal, Intent};

static FUNCTION_WORDS: LazyLock<Vec<Vec<char>>> =
    LazyLock::new(|| JAPANESE.function_words.iter().map(|word| word.chars().collect()).collect());

/// The weight of a word: a weak word counts half as much as any other.
pub fn strength(word: &str) -> f32 {
    let is_weak = ENGLISH.weak_words.contains(word) || JAPANESE.weak_words.contains(word);
    if is_weak { 0.5 } else { 1.0 }
}

/// Words that ask for everything about a subject.
fn everything_words() -> impl Iterator<Item = &'static String> {
    ENGLISH.everything_words.iter().chain(&JAPANESE.everything_words)
}

/// The goal that a normalized question states in words.
pub fn goal_of(question: &str) -> Goal {
    let mut words = everything_words().chain(&ENGLISH.everything_phrases);
    if words.any(|word| find_word(question, word).is_some()) { Goal::Everything } else { Goal::Answer }
}

/// A normalized question without the words that ask for everything.
pub fn without_goal_words(question: &str) -> String {
    let mut question = question.to_owned();
    for word in everything_words() {
        while let Some(start) = find_word(&question, word) {
            question.replace_range(start..start + word.len(), " ");
        }
    }
    question
}

/// The position of a word that is not a part of a longer one. Japanese words have no boundary, so the compounds that
/// contain one by accident are listed.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_letter = |character: Option<char>| character.is_some_and(|letter| letter.is_ascii_alphanumeric());
    let is_in_compound = |start: usize, word: &str| {
        let starts_here = |compound: &str, at: usize| {
            let start = start.checked_sub(at).and_then(|start| text.get(start..));
            start.is_some_and(|rest| rest.starts_with(compound))
        };
        JAPANESE
            .everything_compounds
            .iter()
            .any(|compound| compound.match_indices(word).any(|(at, _)| starts_here(compound, at)))
    };
    let found = text.match_indices(word).find(|(start, word)| {
        let before = text.get(..*start).and_then(|before| before.chars().next_back());
        let after = text.get(start + word.len()..).and_then(|after| after.chars().next());
        match word.is_ascii() {
            true => !is_letter(before) && !is_letter(after),
            false => !is_in_compound(*start, word),
        }
    });
    found.map(|(start, _)| start)
}

/// Whether an English word is a stop word.
pub fn is_stop_word(word: &str) -> bool {
    ENGLISH.stop_words.contains(word)
}

/// Whether a Japanese noun is a stop noun.
pub fn is_stop_noun(word: &str) -> bool {
    JAPANESE.stop_words.contains(word)
}

/// Whether a character can inflect the Kanji before it.
pub fn is_okurigana(character: char) -> bool {
    JAPANESE.okurigana.contains(character)
}

/// For each position of a run of Hiragana, the end included: whether the rest from there is made of function words
/// alone.
pub fn function_word_suffixes(run: &[char]) -> Vec<bool> {
    let mut tails = vec![false; run.len() + 1];
    if let Some(end) = tails.last_mut() {
        *end = true;
    }
    for start in (0..run.len()).rev() {
        let fits = FUNCTION_WORDS.iter().any(|word| {
            let length = word.len();
            run.get(start..start + length).is_some_and(|part| part == word.as_slice())
                && tails.get(start + length).copied().unwrap_or_default()
        });
        if let Some(tail) = tails.get_mut(start) {
            *tail = fits;
        }
    }
    tails
}

/// For each position of a run of Hiragana, the start included: whether the part up to there is made of function words
/// alone.
pub fn function_word_prefixes(run: &[char]) -> Vec<bool> {
    let mut heads = vec![false; run.len() + 1];
    if let Some(start) = heads.first_mut() {
        *start = true;
    }
    for end in 1..=run.len() {
        let fits = FUNCTION_WORDS.iter().any(|word| {
            let length = word.len();
            end.checked_sub(length).is_some_and(|start| {
                run.get(start..end).is_some_and(|part| part == word.as_slice())
                    && heads.get(start).copied().unwrap_or_default()
            })
        });
        if let Some(head) = heads.get_mut(end) {
            *head = fits;
        }
    }
    heads
}

/// The intent of a normalized question.
pub fn intent_of(question: &str) -> Intent {
    let (english, japanese) = (&ENGLISH.intents, &JAPANESE.intents);
    let intents = [
        (Intent::Exceptions, &english.exceptions, &japanese.exceptions),
        (Intent::Compare, &english.compare, &japanese.compare),
        (Intent::Eligibility, &english.eligibility, &japanese.eligibility),
        (Intent::Procedure, &english.procedure, &japanese.procedure),
        (Intent::Definition, &english.definition, &japanese.definition),
    ];
    let asks = |words: &[String]| words.iter().any(|word| question.contains(word));
    intents.iter().find(|(_, one, other)| asks(one) || asks(other)).map_or(Intent::Unknown, |found| found.0)
}

/// Whether a text is worded like an answer to a question of this intent.
pub fn has_intent_wording(intent: Intent, text: &str) -> bool {
    let (english, japanese) = (&ENGLISH.answers, &JAPANESE.answers);
    let (one, other) = match intent {
        Intent::Definition => (&english.definition, &japanese.definition),
        Intent::Procedure => (&english.procedure, &japanese.procedure),
        Intent::Eligibility => (&english.eligibility, &japanese.eligibility),
        Intent::Exceptions | Intent::Compare | Intent::Unknown => return false,
    };
    one.iter().chain(other).any(|word| text.contains(word))
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
