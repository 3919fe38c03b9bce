//! The terms of a question: how much each matters, and every way to write it.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::index::{Class, Key, class, exact, tokens};
use crate::text::is_separator;

/// What a question wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Intent {
    Definition,
    Procedure,
    Eligibility,
    Exceptions,
    Compare,
    Unknown,
}

/// How much a term matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A quoted phrase, a number, a code or a name.
    Must,
    /// Any other.
    Soft,
}

/// A term of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// How much it matters.
    pub role: Role,
    /// The term itself, then its other spellings and its synonyms.
    pub forms: Vec<Form>,
    /// How much it says beside the other terms of the question.
    pub strength: f32,
    /// Whether it was quoted: then its words count only together.
    pub phrase: bool,
    /// Where it stands in the question's normal form.
    pub range: Range<usize>,
}

impl Term {
    /// A term in normal form; none where nothing can be looked up by it.
    pub fn new(role: Role, text: &str, strength: f32, range: Range<usize>) -> Option<Self> {
        Some(Self { role, strength, forms: vec![Form::new(text, 1.0)?], phrase: false, range })
    }

    /// The term as it is written, in normal form.
    pub fn text(&self) -> &str {
        self.forms.first().map_or("", |form| form.text.as_str())
    }
}

/// One way to write a term.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// In normal form.
    pub text: String,
    /// The keys of the index that it is looked up by, each once.
    pub keys: Vec<Key>,
    /// The only letter of a form that is too short for a pair of letters, and so has no key.
    pub letter: Option<char>,
    /// How much it is worth beside the term itself.
    pub weight: f32,
}

impl Form {
    /// A way to write a term; none where nothing can be looked up by it.
    pub fn new(text: &str, weight: f32) -> Option<Self> {
        let text = text.trim();
        let mut keys = lookup_keys(text);
        // A chain of words is looked up by its words, because a text may set them apart in another way.
        if word_count(text) > 1 {
            let joined: String = text.chars().filter(|letter| !is_separator(*letter)).collect();
            keys.retain(|key| *key != exact(&joined));
        }
        let mut letters = text.chars().filter(|letter| class(*letter) == Class::Unspaced);
        let letter = match (letters.next(), letters.next(), keys.is_empty()) {
            (Some(letter), None, true) => Some(letter),
            _ => None,
        };
        (letter.is_some() || !keys.is_empty()).then(|| Self { text: text.to_owned(), keys, letter, weight })
    }
}

/// The keys of a text, sorted and each once, without those of a last letter that nothing follows: what ends in a question
/// may go on in a text.
pub fn lookup_keys(text: &str) -> Vec<Key> {
    let mut keys = Vec::new();
    tokens(text, &mut |key| keys.push(key));
    keys.retain(|key| !is_last_letter(*key));
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Whether a key is of a letter that nothing follows.
const fn is_last_letter(key: Key) -> bool {
    key >> 63 == 0 && key & 0x1f_ffff == 0
}

fn word_count(text: &str) -> usize {
    text.split(is_separator).filter(|part| part.chars().any(|letter| class(letter) == Class::Word)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_needs_a_key_or_a_letter() {
        let form = |text: &str| Form::new(text, 1.0).map(|form| (form.text, form.keys.len(), form.letter));
        assert_eq!(form(" 給付金 "), Some(("給付金".into(), 2, None)));
        assert_eq!(form("癌"), Some(("癌".into(), 0, Some('癌'))));
        assert_eq!(form("-"), None);
        // Two words, and not also what they make together.
        assert_eq!(form("user-id"), Some(("user-id".into(), 2, None)));
    }
}
