//! The dictionary: the synonyms of the `synonyms.yaml` files of the manuals, and the vocabulary of exceptions, which they
//! extend.

use std::sync::{Arc, Mutex, PoisonError};

use aho_corasick::{AhoCorasick, MatchKind};
use annai_core::config::yaml;
use annai_language::{ENGLISH, JAPANESE};
use serde_json::Value;

use crate::index::{Class, class};
use crate::query::terms::{Form, Term};
use annai_files::fs::Sha256;
use annai_files::manuals::Manuals;
use annai_text::normalize_text;

/// The weight of a synonym, relative to 1 for the term itself. Tuned with `annai eval`, as all weights.
const SYNONYM_WEIGHT: f32 = 0.65;
/// The weight of a synonym of only a part of a term, when the rest of the term is missing.
const PART_SYNONYM_WEIGHT: f32 = 0.3;
/// The maximum number of words in one file. The automaton that finds them in a question grows with them; 20,000 words
/// take a few megabytes. A larger file is rejected as a whole, and `annai doctor` says so.
const MAX_WORDS: usize = 20_000;

/// Groups of synonyms, and the vocabulary of exceptions.
pub struct Dictionary {
    groups: Vec<Vec<String>>,
    /// The group of each word, by the word's number in `finder`.
    words: Vec<usize>,
    /// Finds the synonyms in a question; none where the automaton could not be built.
    finder: Option<AhoCorasick>,
    /// Finds the exception vocabulary in a text; none where the automaton could not be built.
    exception_finder: Option<AhoCorasick>,
}

/// The words of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WordList {
    synonyms: Vec<Vec<String>>,
    exceptions: Vec<String>,
}

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
    /// A dictionary of these files and the exception vocabulary that is part of the program.
    pub fn new(files: &[WordList]) -> Self {
        let groups: Vec<Vec<String>> = files
            .iter()
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
        let exceptions: Vec<String> = files
            .iter()
            .flat_map(|words| &words.exceptions)
            .chain(&ENGLISH.exceptions)
            .chain(&JAPANESE.exceptions)
            .map(|word| normalize_text(word))
            .filter(|word| !word.is_empty())
            .collect();
        let finder = AhoCorasick::new(&patterns).ok();
        let exception_finder =
            AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&exceptions).ok();
        Self { groups, words, finder, exception_finder }
    }

    /// The number of automata that could not be built. The words of users may exceed what an automaton can hold; then
    /// its words are not found, and every find counts that as a warning.
    fn missing_automata(&self) -> usize {
        usize::from(self.finder.is_none()) + usize::from(self.exception_finder.is_none())
    }

    /// Adds to the terms of a normalized question the synonyms of them, or of a part of them.
    pub fn expand(&self, question: &str, terms: &mut [Term]) {
        let Some(finder) = &self.finder else { return };
        for found in finder.find_overlapping_iter(question) {
            let range = found.range();
            let Some(word) = question.get(range.clone()) else { continue };
            if !is_whole_word(question, range.start, range.end) {
                continue;
            }
            let group = self.words.get(found.pattern().as_usize());
            let Some(group) = group.and_then(|group| self.groups.get(*group)) else { continue };
            let overlaps = |term: &&mut Term| term.range.start < range.end && range.start < term.range.end;
            for term in terms.iter_mut().filter(overlaps) {
                add_synonyms(term, word, group);
            }
        }
    }

    /// The first exception word in a normalized text, as a byte range.
    pub fn exception(&self, text: &str) -> Option<std::ops::Range<usize>> {
        let found = self.exception_finder.as_ref()?.find_iter(text);
        let mut found = found.map(|found| found.range());
        found.find(|range| is_whole_word(text, range.start, range.end))
    }
}

/// Adds the other words of a group to a term. A word that is a part of the term is replaced within it; a word that is
/// the term or longer is replaced as a whole.
fn add_synonyms(term: &mut Term, word: &str, group: &[String]) {
    let text = term.text().to_owned();
    let is_part = text.contains(word) && text != word;
    for synonym in group.iter().filter(|synonym| *synonym != word) {
        let forms = match is_part {
            true => {
                vec![
                    (text.replacen(word, synonym, 1), SYNONYM_WEIGHT),
                    (synonym.clone(), PART_SYNONYM_WEIGHT),
                ]
            }
            false => vec![(synonym.clone(), SYNONYM_WEIGHT)],
        };
        for (form, weight) in forms {
            if !term.forms.iter().any(|known| known.text == form) {
                term.forms.extend(Form::synonym(&form, weight));
            }
        }
    }
}

/// Whether a byte range of a text is not a part of a longer word.
pub fn is_whole_word(text: &str, start: usize, end: usize) -> bool {
    let is_word =
        |character: Option<char>| character.is_some_and(|character| class(character) == Class::Word);
    let before = text.get(..start).and_then(|before| before.chars().next_back());
    let after = text.get(end..).and_then(|after| after.chars().next());
    let first = text.get(start..).and_then(|part| part.chars().next());
    let last = text.get(..end).and_then(|part| part.chars().next_back());
    let goes_on = (is_word(before) && is_word(first)) || (is_word(after) && is_word(last));
    !goes_on
}

/// A dictionary, and the files that it was built from.
struct CachedDictionary {
    /// The hash of each file and its words; none where the file is not valid.
    files: Vec<(Sha256, Option<WordList>)>,
    dictionary: Arc<Dictionary>,
}

impl CachedDictionary {
    /// The number of files that are not valid, and of automata that could not be built from the words.
    fn problems(&self) -> usize {
        let invalid_files = self.files.iter().filter(|(_, words)| words.is_none()).count();
        invalid_files + self.dictionary.missing_automata()
    }
}

/// The dictionary that was used last. It is rebuilt when the next find uses other files, or when a file changes.
#[derive(Default)]
pub struct DictionaryCache {
    last: Mutex<Option<CachedDictionary>>,
}

impl DictionaryCache {
    /// The dictionary for these manuals, and the number of problems with its files: those that could not be read, and
    /// automata that could not be built from their words.
    pub fn of(&self, manuals: &Manuals, ids: &[String]) -> (Arc<Dictionary>, usize) {
        let (files, unreadable) = manuals.word_files(ids);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = last.as_ref()
            && known.files.iter().map(|(sha256, _)| *sha256).eq(files.iter().map(|found| found.file.sha256))
        {
            return (known.dictionary.clone(), unreadable + known.problems());
        }
        let files: Vec<_> =
            files.iter().map(|found| (found.file.sha256, WordList::read(&found.file.text).ok())).collect();
        let words: Vec<_> = files.iter().filter_map(|(_, words)| words.clone()).collect();
        let dictionary = Arc::new(Dictionary::new(&words));
        let made = CachedDictionary { files, dictionary: dictionary.clone() };
        let problems = unreadable + made.problems();
        *last = Some(made);
        (dictionary, problems)
    }
}

#[cfg(test)]
#[path = "dictionary_tests.rs"]
mod tests;
