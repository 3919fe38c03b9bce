//! A parsed question: the terms to search for, the terms that a section must not contain, and its intent.

pub mod asked_value;
pub mod dictionary;
pub mod japanese;
pub mod question;
pub mod question_terms;
pub mod script;
pub mod terms;
pub mod wordings;
pub mod words;

use annai_core::ToolError;

use crate::index::{Class, Key, class};
use crate::query::asked_value::AskedValue;
use crate::query::dictionary::Dictionary;
use crate::query::question::QuestionParts;
pub use crate::query::question_terms::MAX_TERMS;
use crate::query::question_terms::{ParsedTerms, new_term, normal_line, terms_of};
use crate::query::terms::{Form, Goal, Intent, Role, Term, lookup_keys};
use crate::query::words::{goal_of, intent_of, is_stop_word, without_goal_words};
use crate::rules::{RuleGroup, Rules};
use annai_files::LibraryError;
use annai_text::{is_separator, kanji_number, kanji_numeral};

/// The maximum length of a question after normalization. The input schema limits what is sent; this limits what
/// ligatures and compatibility characters expand to. A longer question is rejected.
const MAX_NORMAL_CHARS: usize = 10_000;
/// The maximum number of forms of one term. Every form costs a pass over its postings; forms beyond the first sixteen
/// add cost and hardly any matches, and are dropped.
const MAX_FORMS: usize = 16;
/// The weight of another spelling, relative to 1 for the term as it is written. Slightly below 1, so that the spelling
/// of the question wins a tie.
const SPELLING_WEIGHT: f32 = 0.9;

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
    /// The index keys that sections are scored by: those of the whole question but its stop words.
    pub keys: Vec<Key>,
    /// The value that is asked for; none where the question asks for something else.
    pub asked_value: Option<AskedValue>,
    /// The terms beyond [`MAX_TERMS`], which are not searched for.
    pub dropped: Vec<String>,
    /// The rules that it was parsed by, and that sections are ranked by.
    pub rules: Rules,
}

impl Query {
    /// Parses a question. Without an intent, it is derived from the words.
    pub fn new(question: &str, intent: Option<Intent>, dictionary: &Dictionary) -> Result<Self, ToolError> {
        Self::parse("query", question, intent, dictionary, Rules::default())
    }

    /// Parses the question in this argument by some rules.
    pub fn parse(
        argument: &str,
        question: &str,
        intent: Option<Intent>,
        dictionary: &Dictionary,
        rules: Rules,
    ) -> Result<Self, ToolError> {
        let whole = checked_normal_form(argument, question)?;
        let parts = QuestionParts::of(question);
        let rest = normal_line(&parts.rest);
        // What is quoted or excluded is searched for as it is, and states no goal.
        let goal = goal_of(&rest);
        let without_goal = without_goal_words(&rest);
        // A question of nothing but such words is about them.
        let subject = if has_words(&without_goal) || !parts.quoted.is_empty() { without_goal } else { rest };
        let normal = japanese::with_plain_connectives(subject.clone());
        let ParsedTerms { mut terms, dropped } = terms_of(&parts, &normal, rules);
        terms.iter_mut().for_each(add_spellings);
        dictionary.expand(&normal, &mut terms);
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
            keys: scored_keys(&subject, &parts.quoted, rules),
            asked_value: rules.has(RuleGroup::AskedValue).then(|| AskedValue::of(&whole)).flatten(),
            dropped,
            rules,
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

/// The index keys of a question without its stop words, each once.
fn scored_keys(normal: &str, quoted: &[String], rules: Rules) -> Vec<Key> {
    let is_left_out =
        |word: &str| rules.has(RuleGroup::StopWords) && is_stop_word(word.trim_matches(is_separator));
    let words = normal.split_inclusive(' ').filter(|word| !is_left_out(word));
    let mut text: String = words.collect();
    for phrase in quoted {
        text.push(' ');
        text.push_str(&normal_line(phrase));
    }
    lookup_keys(&text)
}

/// Whether a text has a searchable character.
fn has_words(text: &str) -> bool {
    text.chars().any(|character| matches!(class(character), Class::Word | Class::Unspaced))
}

/// The normalized question; an error where it has no searchable character, or too many characters.
fn checked_normal_form(argument: &str, question: &str) -> Result<String, ToolError> {
    if !has_words(question) {
        let problem = "expected words to look for, got only separators and signs";
        return Err(LibraryError::invalid(argument.to_owned(), problem).into());
    }
    let whole = normal_line(question);
    if whole.chars().nth(MAX_NORMAL_CHARS).is_some() {
        let problem =
            format!("expected at most {MAX_NORMAL_CHARS} characters in normal form; make it shorter");
        return Err(LibraryError::invalid(argument.to_owned(), problem).into());
    }
    Ok(whole)
}

/// Adds the other spelling of a number: Kanji numerals or digits.
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
    term.forms.extend(others.iter().filter_map(|other| Form::new(other, SPELLING_WEIGHT)));
}

#[cfg(test)]
mod tests;
