//! A parsed question: the terms to search for, the terms that a section must not contain, and its intent.

use std::collections::HashSet;
use std::ops::Range;

use annai_core::ToolError;

use super::dictionary::Dictionary;
use super::japanese;
use super::question::{QuestionParts, ScriptRun, script_runs};
use super::terms::{Form, Goal, Intent, Role, Term, lookup_keys};
use super::words::{asked_units, goal_of, intent_of, is_stop_word, strength, without_goal_words};
use crate::error::LibraryError;
use crate::index::{Class, Key, class, word};
use crate::text::{is_separator, kanji_number, kanji_numeral, normalize_line};

/// The maximum number of terms that are searched for. The terms that a section contains are a bit set in a `u64`, and a
/// question of more than 48 terms is hardly one question; the terms beyond are reported as a gap.
pub const MAX_TERMS: usize = 48;
/// The maximum length of a question after normalization. The input schema limits what is sent; this limits what
/// ligatures and compatibility characters expand to. A longer question is rejected.
const MAX_NORMAL_CHARS: usize = 10_000;
/// The maximum number of forms of one term. Every form costs a pass over its postings; forms beyond the first sixteen
/// add cost and hardly any matches, and are dropped.
const MAX_FORMS: usize = 16;
/// The weight of another spelling, relative to 1 for the term as it is written. Slightly below 1, so that the spelling
/// of the question wins a tie.
const SPELLING_WEIGHT: f32 = 0.9;
/// The weight of two neighboring words written as one, relative to each of them alone. Above 1, because the compound
/// is more specific than its parts.
const JOINED_WEIGHT: f32 = 1.2;

/// A parsed question.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The terms that a section must or should contain.
    pub terms: Vec<Term>,
    /// The terms that a section must not contain.
    pub negatives: Vec<Term>,
    /// The intent of the question.
    pub intent: Intent,
    /// The goal that the question states in words.
    pub goal: Goal,
    /// The index keys of the whole question, including those between its terms.
    pub keys: Vec<Key>,
    /// The units that an answer is expected to name.
    pub units: Vec<&'static str>,
    /// The terms beyond [`MAX_TERMS`], which are not searched for.
    pub dropped: Vec<String>,
}

impl Query {
    /// Parses a question. Without an intent, it is derived from the words.
    pub fn new(question: &str, intent: Option<Intent>, dictionary: &Dictionary) -> Result<Self, ToolError> {
        let whole = checked_normal_form(question)?;
        let parts = QuestionParts::of(question);
        let rest = normal_line(&parts.rest);
        // What is quoted or excluded is searched for as it is, and states no goal.
        let goal = goal_of(&rest);
        let subject = without_goal_words(&rest);
        // A question of nothing but such words is about them.
        let normal = if subject.trim().is_empty() { rest } else { subject };
        let (mut terms, dropped) = terms_of(&parts, &normal);
        for term in &mut terms {
            add_spellings(term);
        }
        dictionary.expand(&normal, &mut terms);
        join_neighbors(&normal, &mut terms);
        terms.iter_mut().for_each(|term| term.forms.truncate(MAX_FORMS));
        let negatives = parts
            .negatives
            .iter()
            .filter_map(|text| new_term(Role::Must, &normal_line(text), 0..0))
            .collect();
        Ok(Self {
            terms,
            negatives,
            intent: intent.unwrap_or_else(|| intent_of(&whole)),
            goal,
            keys: lookup_keys(&normal),
            units: asked_units(&whole),
            dropped,
        })
    }
}

impl Query {
    /// The terms that decide whether a section is evidence, as a bit set: all but the parts of identifiers and the words
    /// that say little, or those too where the question has no others.
    pub fn deciding_terms(&self) -> u64 {
        let bits = |is_deciding: &dyn Fn(&Term) -> bool| {
            let terms = self.terms.iter().enumerate().filter(|(_, term)| is_deciding(term));
            terms.fold(0, |bits, (index, _)| bits | 1_u64 << index)
        };
        // `host.docker.internal` is one term; its words are further terms with the same range, and help ranking only.
        let is_part_of_chain = |term: &Term| {
            self.terms.iter().any(|other| {
                other.range == term.range
                    && !term.range.is_empty()
                    && other.text().len() > term.text().len()
                    && other.text().contains(term.text())
            })
        };
        match bits(&|term| term.strength >= 1.0 && !is_part_of_chain(term)) {
            0 => bits(&|_| true),
            strong => strong,
        }
    }
}

/// The normalized question; an error where it has no searchable character, or too many characters.
fn checked_normal_form(question: &str) -> Result<String, ToolError> {
    if !question.chars().any(|character| matches!(class(character), Class::Word | Class::Unspaced)) {
        let problem = "expected words to look for, got only separators and signs";
        return Err(LibraryError::invalid("query", problem).into());
    }
    let whole = normal_line(question);
    if whole.chars().nth(MAX_NORMAL_CHARS).is_some() {
        let problem =
            format!("expected at most {MAX_NORMAL_CHARS} characters in normal form; make it shorter");
        return Err(LibraryError::invalid("query", problem).into());
    }
    Ok(whole)
}

/// The terms of a question, each once and in the order of the question, and the texts of those beyond the limit.
fn terms_of(parts: &QuestionParts, normal: &str) -> (Vec<Term>, Vec<String>) {
    let mut terms: Vec<Term> = Vec::new();
    for phrase in &parts.quoted {
        let phrase = normal_line(phrase);
        terms.extend(new_term(Role::Must, &phrase, 0..0).map(|term| Term { is_phrase: true, ..term }));
    }
    for run in script_runs(normal) {
        match run {
            ScriptRun::Words(range) => word_terms(&parts.rest, normal, range, &mut terms),
            ScriptRun::Unspaced(range) => {
                let found = japanese::terms(normal.get(range.clone()).unwrap_or_default());
                terms.extend(found.into_iter().filter_map(|(part, role)| {
                    let range = range.start + part.start..range.start + part.end;
                    new_term(role, normal.get(range.clone())?, range)
                }));
            }
        }
    }
    if terms.is_empty() && parts.negatives.is_empty() {
        // A question of nothing but stop words is searched for as it is.
        terms.extend(new_term(Role::Soft, normal, 0..normal.len()));
    }
    let mut seen = HashSet::new();
    terms.retain(|term| seen.insert(without_separators(term.text())));
    // Of too many terms, the required ones are kept.
    terms.sort_by_key(|term| term.role == Role::Soft);
    let dropped = terms.iter().skip(MAX_TERMS).map(|term| term.text().to_owned()).collect();
    terms.truncate(MAX_TERMS);
    terms.sort_by_key(|term| term.range.start);
    (terms, dropped)
}

fn new_term(role: Role, text: &str, range: Range<usize>) -> Option<Term> {
    Term::new(role, text, strength(text), range)
}

fn normal_line(text: &str) -> String {
    let mut normal = String::new();
    normalize_line(text, &mut normal);
    normal
}

fn without_separators(text: &str) -> String {
    text.chars().filter(|character| !is_separator(*character)).collect()
}

/// The terms of a run of words such as `user-id`: its words, and the whole run if that is more than one word.
fn word_terms(original: &str, normal: &str, range: Range<usize>, terms: &mut Vec<Term>) {
    let text = normal.get(range.clone()).unwrap_or_default();
    let text = text.trim_matches(is_separator);
    let parts: Vec<_> = text.split(is_separator).filter(|part| !part.is_empty()).collect();
    if parts.len() > 1 || is_code(text) {
        let only_stop_words = parts.iter().all(|part| is_stop_word(part) || part.len() < 2);
        let role = if is_code(text) || original_form(original, text).is_some_and(is_name) {
            Role::Must
        } else {
            Role::Soft
        };
        if !only_stop_words || is_code(text) {
            terms.extend(new_term(role, text, range.clone()));
        }
        if !is_code(text) || parts.len() > 2 {
            let own = parts.iter().filter(|part| !is_stop_word(part) && part.len() > 2);
            terms.extend(own.filter_map(|part| new_term(Role::Soft, part, range.clone())));
        }
        return;
    }
    let Some(only) = parts.first().filter(|part| !is_stop_word(part)) else { return };
    let named = original_form(original, only).is_some_and(is_name);
    terms.extend(new_term(if named { Role::Must } else { Role::Soft }, only, range));
}

/// Whether a word contains a digit, as codes, model numbers and versions do.
fn is_code(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// The word as the question spells it. The first word counts only with an upper-case letter after its first one,
/// because every sentence begins with a capital.
fn original_form<'a>(original: &'a str, normal: &str) -> Option<&'a str> {
    let mut words = original
        .split(|character: char| character.is_whitespace() || "?？,、。()".contains(character))
        .filter(|word| !word.is_empty());
    let first = words.next();
    let same = |word: &&str| word.to_lowercase() == normal;
    words.find(same).or(first.filter(same).filter(|word| word.chars().skip(1).any(char::is_uppercase)))
}

/// Whether a word is spelled like a proper noun.
fn is_name(word: &str) -> bool {
    word.chars().any(char::is_uppercase)
}

/// Adds the other spellings of a term: numbers in Kanji numerals and in digits, and words without their okurigana.
fn add_spellings(term: &mut Term) {
    let text = term.text().to_owned();
    let mut others = Vec::new();
    let digits: String = text
        .chars()
        .skip_while(|character| !character.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    if let Ok(number) = digits.parse::<u64>()
        && text.chars().any(|character| class(character) == Class::Unspaced)
        && !text.contains('第')
    {
        others.extend(kanji_numeral(number).iter().map(|numeral| text.replacen(&digits, numeral, 1)));
    }
    let numeral: String =
        text.chars().take_while(|character| kanji_number(std::iter::once(*character)).is_some()).collect();
    if !numeral.is_empty()
        && let Some(number) = kanji_number(numeral.chars())
        && let Some(unit) = text.strip_prefix(numeral.as_str())
        && !unit.is_empty()
    {
        others.push(format!("{number}{unit}"));
    }
    if let Some(bare) = japanese::without_okurigana(&text) {
        others.push(bare);
    }
    term.forms.extend(others.iter().filter_map(|other| Form::new(other, SPELLING_WEIGHT)));
}

/// Neighbouring words are also searched for as one word: `use effect` finds `useEffect`.
fn join_neighbors(normal: &str, terms: &mut [Term]) {
    let is_single_word = |term: &Term| {
        term.range.end > term.range.start && term.text().bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    for index in 1..terms.len() {
        let Some([one, other]) = terms.get_mut(index - 1..=index) else { continue };
        let between = normal.get(one.range.end..other.range.start);
        if is_single_word(one) && is_single_word(other) && between == Some(" ") {
            let joined = format!("{}{}", one.text(), other.text());
            let form = Form {
                keys: vec![word(&joined)],
                text: joined,
                single_char: None,
                weight: JOINED_WEIGHT,
                is_spelling: true,
            };
            one.forms.push(form.clone());
            other.forms.push(form);
        }
    }
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
