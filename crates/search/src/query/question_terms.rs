//! The terms of a question, from its phrases, words and Japanese text.

use std::collections::HashSet;
use std::ops::Range;

use crate::index::{Class, class};
use crate::query::japanese;
use crate::query::question::{QuestionParts, ScriptRun, script_runs};
use crate::query::terms::{Form, Role, Term};
use crate::query::words::{is_stop_word, strength};
use crate::rules::{RuleGroup, Rules};
use annai_text::{is_separator, normalize_line};

/// The maximum number of terms that are searched for. The terms that a section contains are a bit set in a `u64`, and a
/// question of more than 48 terms is hardly one question; the terms beyond are reported as a gap.
pub const MAX_TERMS: usize = 48;

/// The terms of a question.
pub struct ParsedTerms {
    /// Each term once, in the order of the question.
    pub terms: Vec<Term>,
    /// The texts of those beyond the limit.
    pub dropped: Vec<String>,
}

/// The terms of a question.
pub fn terms_of(parts: &QuestionParts, normal: &str, rules: Rules) -> ParsedTerms {
    let mut terms: Vec<Term> = Vec::new();
    for phrase in &parts.quoted {
        let phrase = normal_line(phrase);
        terms.extend(new_term(Role::Must, &phrase, 0..0).map(|term| Term { is_phrase: true, ..term }));
    }
    let original = OriginalWords { text: &parts.rest, rules };
    let runs = script_runs(normal);
    for (number, run) in runs.iter().enumerate() {
        match run.clone() {
            ScriptRun::Words(range) => word_terms(&original, normal, range, &mut terms),
            ScriptRun::Unspaced(range) => {
                let found = japanese::terms(normal.get(range.clone()).unwrap_or_default());
                if found.is_empty() {
                    let before = number.checked_sub(1).and_then(|before| runs.get(before));
                    terms.extend(lone_character(normal, range.clone(), [before, runs.get(number + 1)]));
                }
                terms.extend(found.into_iter().filter_map(|(part, role)| {
                    let range = range.start + part.start..range.start + part.end;
                    new_term(role, normal.get(range.clone())?, range)
                }));
            }
        }
    }
    if !rules.has(RuleGroup::StopWords) {
        terms.iter_mut().for_each(|term| term.strength = 1.0);
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
    ParsedTerms { terms, dropped }
}

/// The term of a single Kanji between spaces, which may be a word, or the beginning or the end of the word beside it, as in
/// `対 象外`.
fn lone_character(normal: &str, range: Range<usize>, beside: [Option<&ScriptRun>; 2]) -> Option<Term> {
    let own = normal.get(range.clone())?;
    let mut characters = own.chars();
    let is_kanji =
        |character: char| class(character) == Class::Unspaced && !('ぁ'..='ヿ').contains(&character);
    characters.next().filter(|character| is_kanji(*character) && characters.next().is_none())?;
    let mut term = new_term(Role::Soft, own, range.clone())?;
    let is_other = |character: char| !is_kanji(character);
    for other in beside.into_iter().flatten() {
        let ScriptRun::Unspaced(other) = other else { continue };
        let text = normal.get(other.clone())?;
        let joined = match other.start < range.start {
            true => format!("{}{own}", text.rsplit(is_other).next().unwrap_or_default()),
            false => format!("{own}{}", text.split(is_other).next().unwrap_or_default()),
        };
        let is_near = other.end.max(range.end) - other.start.min(range.start) == text.len() + own.len() + 1;
        if is_near && joined != own {
            term.forms.extend(Form::new(&joined, 1.0));
        }
    }
    Some(term)
}

/// A term with the strength of its text; none where the index has nothing to look it up by.
pub fn new_term(role: Role, text: &str, range: Range<usize>) -> Option<Term> {
    Term::new(role, text, strength(text), range)
}

/// A normalized line.
pub fn normal_line(text: &str) -> String {
    let mut normal = String::new();
    normalize_line(text, &mut normal);
    normal
}

/// A text without its separators.
pub fn without_separators(text: &str) -> String {
    text.chars().filter(|character| !is_separator(*character)).collect()
}

/// The terms of a run of words such as `user-id`: its words, and the whole run if that is more than one word.
fn word_terms(original: &OriginalWords<'_>, normal: &str, range: Range<usize>, terms: &mut Vec<Term>) {
    let text = normal.get(range.clone()).unwrap_or_default();
    let text = text.trim_matches(is_separator);
    let parts: Vec<_> = text.split(is_separator).filter(|part| !part.is_empty()).collect();
    if parts.len() > 1 || is_code(text) {
        let only_stop_words = parts.iter().all(|part| is_stop_word(part) || part.len() < 2);
        let role =
            if is_code(text) || original.form(text).is_some_and(is_name) { Role::Must } else { Role::Soft };
        if !only_stop_words || is_code(text) {
            terms.extend(new_term(role, text, range.clone()));
        }
        if !is_code(text) || parts.len() > 2 {
            let own = parts.iter().filter(|part| !is_stop_word(part) && part.len() > 2);
            terms.extend(own.filter_map(|part| new_term(Role::Soft, part, range.clone())));
        }
        return;
    }
    let is_left_out = |word: &str| original.rules.has(RuleGroup::StopWords) && is_stop_word(word);
    let Some(only) = parts.first().filter(|part| !is_left_out(part)) else { return };
    let role = if original.form(only).is_some_and(is_name) { Role::Must } else { Role::Soft };
    terms.extend(new_term(role, only, range));
}

/// Whether a word contains a digit, as codes, model numbers and versions do.
fn is_code(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// The words of a question as it spells them.
struct OriginalWords<'a> {
    text: &'a str,
    /// The rules that the question is parsed by.
    rules: Rules,
}

impl<'a> OriginalWords<'a> {
    /// The word as the question spells it. The first word counts only with an upper-case letter after its first one,
    /// because every sentence begins with a capital.
    fn form(&self, normal: &str) -> Option<&'a str> {
        let mut words = self
            .text
            .split(|character: char| {
                let is_unspaced = class(character) == Class::Unspaced;
                character.is_whitespace() || is_unspaced || "?？,、。()".contains(character)
            })
            .filter(|word| !word.is_empty());
        let first = words.next();
        let same = |word: &&str| word.to_lowercase() == normal;
        words.find(same).or(first.filter(same).filter(|word| word.chars().skip(1).any(char::is_uppercase)))
    }
}

/// Whether a word is spelled like a proper noun.
fn is_name(word: &str) -> bool {
    word.chars().any(char::is_uppercase)
}
