//! What means the same, and what announces an exception: built in, and added to by the manuals' `synonyms.yaml`.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use aho_corasick::{AhoCorasick, MatchKind};
use annai_core::config::yaml;
use serde_json::Value;

use super::terms::{Form, Term};
use crate::fs::Sha256;
use crate::index::{Class, class};
use crate::manuals::Manuals;
use crate::text::normalize_text;

/// What ships with the program.
const BUILT_IN: &str = include_str!("dictionary.yaml");
/// What a synonym is worth beside the term itself. Found with `annai eval`, as all weights.
const SYNONYM: f32 = 0.65;
/// What a synonym of a part of a term is worth where it stands alone.
const SYNONYM_OF_PART: f32 = 0.3;
/// The maximum number of words in one file. The automaton that finds them in a question grows with them; 20,000 words
/// take a few megabytes. A larger file is refused as a whole, and `annai doctor` says so.
const MAX_WORDS: usize = 20_000;

/// WordList that mean the same, and words that announce exceptions.
pub struct Dictionary {
    groups: Vec<Vec<String>>,
    /// Every word of every group, and which group it is of.
    words: Vec<usize>,
    /// Finds the words; none where there are none.
    finder: Option<AhoCorasick>,
    exception_finder: Option<AhoCorasick>,
}

/// The words of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WordList {
    synonyms: Vec<Vec<String>>,
    exceptions: Vec<String>,
}

#[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
static BUILT_IN_WORDS: LazyLock<WordList> =
    LazyLock::new(|| WordList::read(BUILT_IN).expect("dictionary.yaml is a valid list of words"));

impl WordList {
    /// Reads a file: `synonyms` is a list of groups, or of keys with their synonyms; `exceptions` a list of words.
    pub fn read(text: &str) -> Result<Self, String> {
        let document = yaml::read(text)?;
        let list = |value: &Value, key: &str| -> Result<Vec<String>, String> {
            let items = match value {
                Value::Array(items) => items.clone(),
                Value::String(_) => vec![value.clone()],
                Value::Null => Vec::new(),
                _ => return Err(format!("{key}: expected a list of words")),
            };
            let word = |item: &Value| match item {
                Value::String(word) => Ok(word.clone()),
                Value::Number(number) => Ok(number.to_string()),
                _ => Err(format!("{key}: expected words")),
            };
            items.iter().map(word).collect()
        };
        let mut words = Self::default();
        for (key, value) in &document.values {
            match (key.as_str(), value) {
                ("synonyms", Value::Array(groups)) => {
                    for group in groups {
                        words.synonyms.push(list(group, key)?);
                    }
                }
                ("synonyms", Value::Object(entries)) => {
                    for (word, others) in entries {
                        let mut group = vec![word.clone()];
                        group.extend(list(others, &format!("synonyms.{word}"))?);
                        words.synonyms.push(group);
                    }
                }
                ("synonyms", Value::Null) => {}
                ("exceptions", value) => words.exceptions = list(value, key)?,
                (other, _) => return Err(format!("{other}: expected synonyms or exceptions here")),
            }
        }
        let count = words.synonyms.iter().map(Vec::len).sum::<usize>() + words.exceptions.len();
        if count > MAX_WORDS {
            return Err(format!("expected at most {MAX_WORDS} words, got {count}"));
        }
        Ok(words)
    }
}

impl Dictionary {
    /// A dictionary of what is built in and what files add.
    pub fn new(added: &[WordList]) -> Self {
        let all = || std::iter::once(&*BUILT_IN_WORDS).chain(added);
        let groups: Vec<Vec<String>> = all()
            .flat_map(|words| &words.synonyms)
            .map(|group| {
                group.iter().map(|word| normalize_text(word)).filter(|word| !word.is_empty()).collect()
            })
            .collect();
        let (mut words, mut patterns) = (Vec::new(), Vec::new());
        for (index, group) in groups.iter().enumerate() {
            for word in group {
                words.push(index);
                patterns.push(word.clone());
            }
        }
        let exceptions: Vec<String> = all()
            .flat_map(|words| &words.exceptions)
            .map(|word| normalize_text(word))
            .filter(|word| !word.is_empty())
            .collect();
        let finder = AhoCorasick::new(&patterns).ok();
        let exception_finder =
            AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&exceptions).ok();
        Self { groups, words, finder, exception_finder }
    }

    /// Adds to the terms of a question the synonyms of them, or of a part of them.
    pub fn expand(&self, question: &str, terms: &mut [Term]) {
        let Some(finder) = &self.finder else { return };
        for found in finder.find_overlapping_iter(question) {
            let range = found.range();
            let Some(word) = question.get(range.clone()) else { continue };
            if !stands_alone(question, range.start, range.end) {
                continue;
            }
            let Some(group) =
                self.words.get(found.pattern().as_usize()).and_then(|group| self.groups.get(*group))
            else {
                continue;
            };
            let overlaps = |term: &&mut Term| term.range.start < range.end && range.start < term.range.end;
            for term in terms.iter_mut().filter(overlaps) {
                add_synonyms(term, word, group);
            }
        }
    }

    /// The first word in a text that announces an exception, in bytes.
    pub fn exception(&self, text: &str) -> Option<std::ops::Range<usize>> {
        let found = self.exception_finder.as_ref()?.find_iter(text);
        let mut found = found.map(|found| found.range());
        found.find(|range| stands_alone(text, range.start, range.end))
    }
}

/// Adds to a term the other words of a group. A part of a term is replaced within it; a term that is part of the word is
/// replaced whole.
fn add_synonyms(term: &mut Term, word: &str, group: &[String]) {
    let text = term.text().to_owned();
    let is_part = text.contains(word) && text != word;
    for synonym in group.iter().filter(|synonym| *synonym != word) {
        let forms = match is_part {
            true => {
                vec![(text.replacen(word, synonym, 1), SYNONYM), (synonym.clone(), SYNONYM_OF_PART)]
            }
            false => vec![(synonym.clone(), SYNONYM)],
        };
        for (form, weight) in forms {
            if !term.forms.iter().any(|known| known.text == form) {
                term.forms.extend(Form::new(&form, weight));
            }
        }
    }
}

/// Whether what stands between two places is not part of a longer word.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let is_word = |letter: Option<char>| letter.is_some_and(|letter| class(letter) == Class::Word);
    let before = text.get(..start).and_then(|before| before.chars().next_back());
    let after = text.get(end..).and_then(|after| after.chars().next());
    let first = text.get(start..).and_then(|part| part.chars().next());
    let last = text.get(..end).and_then(|part| part.chars().next_back());
    let goes_on = (is_word(before) && is_word(first)) || (is_word(after) && is_word(last));
    !goes_on
}

/// The files that a dictionary was made of, and the dictionary.
struct CachedDictionary {
    /// The hash of each file and its words; none where it could not be read.
    files: Vec<(Sha256, Option<WordList>)>,
    dictionary: Arc<Dictionary>,
}

impl CachedDictionary {
    fn invalid_files(&self) -> usize {
        self.files.iter().filter(|(_, words)| words.is_none()).count()
    }
}

/// The dictionary of the manuals that were asked for last, made again when other files hold for them or a file changes.
#[derive(Default)]
pub struct DictionaryCache {
    last: Mutex<Option<CachedDictionary>>,
}

impl DictionaryCache {
    /// The dictionary for these manuals, and how many files of words could not be read.
    pub fn of(&self, manuals: &Manuals, ids: &[String]) -> (Arc<Dictionary>, usize) {
        let (files, unreadable) = manuals.word_files(ids);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = last.as_ref()
            && known.files.iter().map(|(sha256, _)| *sha256).eq(files.iter().map(|found| found.file.sha256))
        {
            return (known.dictionary.clone(), unreadable + known.invalid_files());
        }
        let files: Vec<_> =
            files.iter().map(|found| (found.file.sha256, WordList::read(&found.file.text).ok())).collect();
        let words: Vec<_> = files.iter().filter_map(|(_, words)| words.clone()).collect();
        let dictionary = Arc::new(Dictionary::new(&words));
        let made = CachedDictionary { files, dictionary: dictionary.clone() };
        let invalid = made.invalid_files();
        *last = Some(made);
        (dictionary, unreadable + invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_in_both_forms() {
        let read = |text: &str| WordList::read(text).unwrap();
        let expected =
            WordList { synonyms: vec![vec!["a".into(), "b".into()]], exceptions: vec!["x".into()] };
        assert_eq!(read("synonyms:\n  - [a, b]\nexceptions: [x]"), expected);
        assert_eq!(read("synonyms:\n  a: [b]\nexceptions: x"), expected);
        assert_eq!(read(""), WordList::default());
        for (text, error) in [
            ("synonyms: 3", "synonyms: expected synonyms or exceptions here"),
            ("other: []", "other: expected synonyms or exceptions here"),
            ("exceptions: [[a]]", "exceptions: expected words"),
        ] {
            assert_eq!(WordList::read(text).unwrap_err(), error, "{text}");
        }
    }

    #[test]
    fn the_built_in_words_are_valid() {
        assert!(!BUILT_IN_WORDS.synonyms.is_empty() && !BUILT_IN_WORDS.exceptions.is_empty());
        let dictionary = Dictionary::new(&[]);
        assert!(dictionary.finder.is_some() && dictionary.exception_finder.is_some());
    }

    #[test]
    fn exceptions_are_whole_words() {
        let dictionary = Dictionary::new(&[]);
        for (text, expected) in [
            ("給付の対象外です", Some("対象外")),
            ("this is not covered here", Some("not covered")),
            ("it is unexceptional", None),
            ("通常どおり", None),
        ] {
            assert_eq!(dictionary.exception(text).map(|range| &text[range]), expected, "{text}");
        }
    }
}
