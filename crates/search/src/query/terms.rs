//! The terms of a question: the role of each, and every form in which it is searched for.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::index::{Class, Key, class, exact, pair_of, tokens};
use annai_text::is_separator;

/// What a question wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the comment of a variant would be published, and the names say it")]
pub enum Intent {
    Definition,
    Procedure,
    Eligibility,
    Exceptions,
    Compare,
    Unknown,
}

/// How much of the evidence a caller wants to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the comment of a variant would be published, and the names say it")]
pub enum Goal {
    Answer,
    Everything,
}

/// Whether a term is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A quoted phrase, a number with its unit, a code or a proper noun.
    Must,
    /// Any other term.
    Soft,
}

/// A term of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// Whether it is required.
    pub role: Role,
    /// The term as it is written, then its other spellings and its synonyms.
    pub forms: Vec<Form>,
    /// Its weight relative to the other terms of the question: lower for words that say little.
    pub strength: f32,
    /// Whether it was quoted: then its words match only together.
    pub is_phrase: bool,
    /// Its position in the normalized question, in bytes; empty for a quoted phrase.
    pub range: Range<usize>,
}

impl Term {
    /// A normalized term; none where the index has nothing to look it up by.
    pub fn new(role: Role, text: &str, strength: f32, range: Range<usize>) -> Option<Self> {
        Some(Self { role, strength, forms: vec![Form::new(text, 1.0)?], is_phrase: false, range })
    }

    /// The term as it is written, normalized.
    pub fn text(&self) -> &str {
        self.forms.first().map_or("", |form| form.text.as_str())
    }
}

/// One form of a term: the term itself, another spelling, or a synonym.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// The normalized text.
    pub text: String,
    /// The index keys that it is looked up by, sorted and each once.
    pub keys: Vec<Key>,
    /// The only character of a form that is too short for a pair of characters, and therefore has no key.
    pub single_char: Option<char>,
    /// Its weight, relative to 1 for the term as it is written.
    pub weight: f32,
    /// Whether it has words and characters of a script without spaces: the keys do not tell that they are together.
    pub is_mixed: bool,
    /// How it is related to the term.
    pub kind: FormKind,
}

/// How a form is related to its term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormKind {
    /// The term itself, or another spelling of it.
    Spelling,
    /// A word that means the same.
    Synonym,
}

impl Form {
    /// A form of a term; none where the index has nothing to look it up by.
    pub fn new(text: &str, weight: f32) -> Option<Self> {
        let text = text.trim();
        let mut keys = lookup_keys(text);
        // A chain such as `user-id` is looked up by its words, because a text may separate them differently.
        if word_count(text) > 1 {
            let joined: String = text.chars().filter(|character| !is_separator(*character)).collect();
            keys.retain(|key| *key != exact(&joined));
        }
        let mut characters = text.chars().filter(|character| class(*character) == Class::Unspaced);
        let single_char = match (characters.next(), characters.next(), keys.is_empty()) {
            (Some(character), None, true) => Some(character),
            _ => None,
        };
        let has = |wanted: Class| text.chars().any(|character| class(character) == wanted);
        let is_mixed = has(Class::Word) && has(Class::Unspaced);
        (single_char.is_some() || !keys.is_empty()).then(|| Self {
            is_mixed,
            text: text.to_owned(),
            keys,
            single_char,
            weight,
            kind: FormKind::Spelling,
        })
    }

    /// A synonym of a term; none where the index has nothing to look it up by.
    pub fn synonym(text: &str, weight: f32) -> Option<Self> {
        Some(Self { kind: FormKind::Synonym, ..Self::new(text, weight)? })
    }
}

/// The index keys of a text, sorted and each once. The key of a final character is left out: what ends here in the
/// question may continue in a document.
pub fn lookup_keys(text: &str) -> Vec<Key> {
    let mut keys = Vec::new();
    tokens(text, &mut |key| keys.push(key));
    keys.retain(|key| !is_final_char_key(*key));
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The weight of a pair of Hiragana, relative to 1 for any other key: particles and endings stand in every section.
const HIRAGANA_WEIGHT: f32 = 0.1;
/// The weight of a pair of which one character is Hiragana, as at the beginning of an ending.
const HALF_HIRAGANA_WEIGHT: f32 = 0.5;

/// How much an index key counts in the score of a section, relative to the others of a question.
pub fn key_weight(key: Key) -> f32 {
    let is_hiragana = |character: u64| (0x3041..=0x3096).contains(&character);
    match pair_of(key).map(|(first, second)| (is_hiragana(first), is_hiragana(second))) {
        Some((true, true)) => HIRAGANA_WEIGHT,
        Some((true, false) | (false, true)) => HALF_HIRAGANA_WEIGHT,
        Some((false, false)) | None => 1.0,
    }
}

/// Whether a key represents a character that no other follows.
const fn is_final_char_key(key: Key) -> bool {
    key >> 63 == 0 && key & 0x1f_ffff == 0
}

fn word_count(text: &str) -> usize {
    text.split(is_separator)
        .filter(|part| part.chars().any(|character| class(character) == Class::Word))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_needs_a_key_or_a_letter() {
        let form =
            |text: &str| Form::new(text, 1.0).map(|form| (form.text, form.keys.len(), form.single_char));
        assert_eq!(form(" 給付金 "), Some(("給付金".into(), 2, None)));
        assert_eq!(form("癌"), Some(("癌".into(), 0, Some('癌'))));
        assert_eq!(form("-"), None);
        // Two words, and not also what they make together.
        assert_eq!(form("user-id"), Some(("user-id".into(), 2, None)));
    }

    #[test]
    fn a_term_is_found_by_its_words_whatever_separates_them() {
        let keys = |text: &str| Form::new(text, 1.0).map(|form| form.keys);
        assert_eq!(keys("user-id"), keys("user id"));
        assert_eq!(keys("user-id"), keys("id_user"));
        assert_ne!(keys("user-id"), keys("userid"));
        assert_eq!(keys("給付金"), keys("給・付金"));
    }

    #[test]
    fn the_last_character_of_a_question_may_continue_in_a_text() {
        // Two pairs, not a third key for the end.
        assert_eq!(lookup_keys("給付金").len(), 2);
        let longer = lookup_keys("給付金額");
        assert!(lookup_keys("給付金").iter().all(|key| longer.contains(key)));
        assert!(lookup_keys("癌").is_empty());
    }
}
