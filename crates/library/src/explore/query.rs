//! A question, read: the terms to look for, the ones that must not stand in a section, and what it wants to know.

use std::collections::HashSet;
use std::ops::Range;

use annai_core::ToolError;

use super::dictionary::Dictionary;
use super::japanese;
use super::question::{QuestionParts, ScriptRun, script_runs};
use super::terms::{Form, Intent, Role, Term, lookup_keys};
use super::words::{asked_units, intent_of, is_stop, strength};
use crate::error::LibraryError;
use crate::index::{Class, Key, class, word};
use crate::text::{is_separator, kanji_number, kanji_numeral, normalize_line};

/// The maximum number of terms that are looked for. Which terms a section holds is kept in the bits of a `u64`, and a
/// question of more than 48 terms is no question; the terms beyond are reported as a gap.
pub const MAX_TERMS: usize = 48;
/// The maximum length of a question once its letters are in normal form. The input schema limits what is sent; this
/// bounds what ligatures and compatibility characters expand to. A longer question is refused.
const MAX_NORMAL_CHARS: usize = 10_000;
/// The maximum number of forms of one term. Every form costs a pass over its postings; synonyms beyond the first
/// sixteen add cost and hardly any hits, and are dropped.
const MAX_FORMS: usize = 16;
/// What another spelling is worth beside the term as it is written.
const SPELLING: f32 = 0.9;
/// What two neighbouring words written as one are worth beside each of them alone.
const JOINED: f32 = 1.2;

/// A question, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// What must or should stand in a section.
    pub terms: Vec<Term>,
    /// What must not.
    pub negatives: Vec<Term>,
    /// What the question wants.
    pub intent: Intent,
    /// The keys of the whole question, with what stands between its terms.
    pub keys: Vec<Key>,
    /// The units that its answer will name.
    pub units: Vec<&'static str>,
    /// Terms beyond [`MAX_TERMS`].
    pub dropped: Vec<String>,
}

impl Query {
    /// Reads a question. Without an intent, its words tell what it wants.
    pub fn new(question: &str, intent: Option<Intent>, dictionary: &Dictionary) -> Result<Self, ToolError> {
        let whole = checked_normal_form(question)?;
        let parts = QuestionParts::of(question);
        let normal = normal_line(&parts.rest);
        let (mut terms, dropped) = terms_of(&parts, &normal);
        for term in &mut terms {
            add_spellings(term);
        }
        dictionary.expand(&normal, &mut terms);
        join_neighbours(&normal, &mut terms);
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
            keys: lookup_keys(&normal),
            units: asked_units(&whole),
            dropped,
        })
    }
}

/// The normal form of a question; an error where it has nothing to look for, or too much.
fn checked_normal_form(question: &str) -> Result<String, ToolError> {
    if !question.chars().any(|letter| matches!(class(letter), Class::Word | Class::Unspaced)) {
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

/// The terms of a question, each once and in its order, and the texts of those beyond the limit.
fn terms_of(parts: &QuestionParts, normal: &str) -> (Vec<Term>, Vec<String>) {
    let mut terms: Vec<Term> = Vec::new();
    for phrase in &parts.quoted {
        let phrase = normal_line(phrase);
        terms.extend(new_term(Role::Must, &phrase, 0..0).map(|term| Term { phrase: true, ..term }));
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
        // A question of nothing but function words asks for them.
        terms.extend(new_term(Role::Soft, normal, 0..normal.len()));
    }
    let mut seen = HashSet::new();
    terms.retain(|term| seen.insert(without_separators(term.text())));
    // Of too many terms, those that must be there stay.
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
    text.chars().filter(|letter| !is_separator(*letter)).collect()
}

/// The terms of a run of words: the words themselves, and what they make together if that is a code or a name.
fn word_terms(original: &str, normal: &str, range: Range<usize>, terms: &mut Vec<Term>) {
    let text = normal.get(range.clone()).unwrap_or_default();
    let text = text.trim_matches(is_separator);
    let parts: Vec<_> = text.split(is_separator).filter(|part| !part.is_empty()).collect();
    if parts.len() > 1 || is_code(text) {
        let only_words = parts.iter().all(|part| is_stop(part) || part.len() < 2);
        let role = if is_code(text) || original_form(original, text).is_some_and(is_name) {
            Role::Must
        } else {
            Role::Soft
        };
        if !only_words || is_code(text) {
            terms.extend(new_term(role, text, range.clone()));
        }
        if !is_code(text) || parts.len() > 2 {
            let own = parts.iter().filter(|part| !is_stop(part) && part.len() > 2);
            terms.extend(own.filter_map(|part| new_term(Role::Soft, part, range.clone())));
        }
        return;
    }
    let Some(only) = parts.first().filter(|part| !is_stop(part)) else { return };
    let named = original_form(original, only).is_some_and(is_name);
    terms.extend(new_term(if named { Role::Must } else { Role::Soft }, only, range));
}

/// Whether a word has a number in it, as codes and versions do.
fn is_code(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// The word as the question spells it, if it does not begin the question.
fn original_form<'a>(original: &'a str, normal: &str) -> Option<&'a str> {
    let mut words = original
        .split(|letter: char| letter.is_whitespace() || "?？,、。()".contains(letter))
        .filter(|word| !word.is_empty());
    let first = words.next();
    let same = |word: &&str| word.to_lowercase() == normal;
    words.find(same).or(first.filter(same).filter(|word| word.chars().skip(1).any(char::is_uppercase)))
}

/// Whether a word is spelled like a name.
fn is_name(word: &str) -> bool {
    word.chars().any(char::is_uppercase)
}

/// Adds what is written in other letters: Kanji numerals for numbers, and words without what inflects them.
fn add_spellings(term: &mut Term) {
    let text = term.text().to_owned();
    let mut others = Vec::new();
    let digits: String =
        text.chars().skip_while(|letter| !letter.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    if let Ok(number) = digits.parse::<u64>()
        && text.chars().any(|letter| class(letter) == Class::Unspaced)
        && !text.contains('第')
    {
        others.extend(kanji_numeral(number).iter().map(|numeral| text.replacen(&digits, numeral, 1)));
    }
    let numeral: String =
        text.chars().take_while(|letter| kanji_number(std::iter::once(*letter)).is_some()).collect();
    if !numeral.is_empty()
        && let Some(number) = kanji_number(numeral.chars())
        && let Some(unit) = text.strip_prefix(numeral.as_str())
        && !unit.is_empty()
    {
        others.push(format!("{number}{unit}"));
    }
    if let Some(bare) = japanese::without_inflections(&text) {
        others.push(bare);
    }
    term.forms.extend(others.iter().filter_map(|other| Form::new(other, SPELLING)));
}

/// Words that stand side by side are also looked for as one: `use effect` finds `useEffect`.
fn join_neighbours(normal: &str, terms: &mut [Term]) {
    let single = |term: &Term| {
        term.range.end > term.range.start && term.text().bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    for index in 1..terms.len() {
        let Some([one, other]) = terms.get_mut(index - 1..=index) else { continue };
        let between = normal.get(one.range.end..other.range.start);
        if single(one) && single(other) && between == Some(" ") {
            let joined = format!("{}{}", one.text(), other.text());
            let form = Form { keys: vec![word(&joined)], text: joined, letter: None, weight: JOINED };
            one.forms.push(form.clone());
            other.forms.push(form);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(question: &str) -> Query {
        Query::new(question, None, &Dictionary::new(&[])).unwrap()
    }

    fn texts(terms: &[Term]) -> Vec<&str> {
        terms.iter().map(Term::text).collect()
    }

    #[test]
    fn phrases_refusals_and_words_become_terms() {
        let query = query(r#""refund window" of gift cards -online"#);
        assert_eq!(texts(&query.terms), ["refund window", "gift", "cards"]);
        assert_eq!(texts(&query.negatives), ["online"]);
        let [phrase, gift, ..] = query.terms.as_slice() else { panic!("two terms") };
        assert!(phrase.phrase && phrase.role == Role::Must && gift.role == Role::Soft);
        assert!(gift.forms.iter().any(|form| form.text == "giftcards" && form.weight == JOINED));
    }

    #[test]
    fn a_term_stands_once_and_function_words_only_alone() {
        assert_eq!(texts(&query("userid user-id の").terms), ["userid", "user"]);
        assert_eq!(texts(&query("what is it").terms), ["what is it"]);
    }

    #[test]
    fn numbers_are_spelled_in_both_scripts() {
        let query = query("30日以内");
        let forms: Vec<_> =
            query.terms.iter().flat_map(|term| &term.forms).map(|form| form.text.as_str()).collect();
        assert!(forms.contains(&"30日") && forms.contains(&"三十日"), "{forms:?}");
    }

    #[test]
    fn more_terms_than_the_limit_are_dropped_and_named() {
        let question: Vec<_> = (0..60).map(|number| format!("w{number}x")).collect();
        let query = query(&question.join(" "));
        assert_eq!((query.terms.len(), query.dropped.len()), (MAX_TERMS, 12));
    }

    #[test]
    fn nothing_to_look_for_is_refused() {
        let dictionary = Dictionary::new(&[]);
        for question in ["?!", "- -", &"㌖".repeat(3_000)] {
            assert!(Query::new(question, None, &dictionary).is_err(), "{question}");
        }
    }
}
