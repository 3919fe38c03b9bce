//! What a question asks for: the terms that matter, the ones that must not stand there, and what it wants to know.

use std::ops::Range;

use annai_core::ToolError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dictionary::Dictionary;
use super::japanese;
use super::words::{asked_units, intent_of, is_stop, strength};
use crate::index::{Class, Key, class, exact, tokens, word};
use crate::text::{is_separator, kanji_number, kanji_numeral, normalize_line};

/// So many terms of a question are looked for.
pub const MOST_TERMS: usize = 48;
/// So long a question may be, once its letters are in normal form.
const MOST_LETTERS: usize = 10_000;
/// So many other forms of a term.
const MOST_FORMS: usize = 16;

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
    /// Terms that there was no room for.
    pub dropped: Vec<String>,
}

/// A term of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// How much it matters.
    pub role: Role,
    /// Itself, then what means the same.
    pub forms: Vec<Form>,
    /// How much it says beside the others.
    pub strength: f32,
    /// Whether it was quoted: then its words count only together.
    pub phrase: bool,
    /// Where it stands in the question's normal form.
    pub range: Range<usize>,
}

impl Term {
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
    /// Under what it is filed.
    pub keys: Vec<Key>,
    /// The one letter that it is, where it is filed under no pair.
    pub letter: Option<char>,
    /// How much it is worth beside the term itself.
    pub weight: f32,
}

impl Form {
    /// A way to write a term; none where nothing can be filed under it.
    pub fn new(text: &str, weight: f32) -> Option<Self> {
        let text = text.trim();
        let mut keys = Vec::new();
        tokens(text, &mut |key| keys.push(key));
        // What ends here may go on in a text.
        keys.retain(|key| !is_end(*key));
        // A chain of words is looked for by its words.
        if class_of_words(text) > 1 {
            let joined: String = text.chars().filter(|letter| !is_separator(*letter)).collect();
            keys.retain(|key| *key != exact(&joined));
        }
        keys.sort_unstable();
        keys.dedup();
        let mut letters = text.chars().filter(|letter| class(*letter) == Class::Unspaced);
        let letter = match (letters.next(), letters.next(), keys.is_empty()) {
            (Some(letter), None, true) => Some(letter),
            _ => None,
        };
        (letter.is_some() || !keys.is_empty()).then(|| Self { text: text.to_owned(), keys, letter, weight })
    }
}

/// Whether a key is of a letter that nothing follows.
const fn is_end(key: Key) -> bool {
    key >> 63 == 0 && key & 0x1f_ffff == 0
}

fn class_of_words(text: &str) -> usize {
    text.split(is_separator).filter(|part| part.chars().any(|letter| class(letter) == Class::Word)).count()
}

impl Query {
    /// Reads a question.
    pub fn new(question: &str, intent: Option<Intent>, dictionary: &Dictionary) -> Result<Self, ToolError> {
        if !question.chars().any(|letter| matches!(class(letter), Class::Word | Class::Unspaced)) {
            return Err(ToolError::invalid(
                "query: expected words to look for, got only separators and signs",
            ));
        }
        let whole = normal_line(question);
        if whole.chars().nth(MOST_LETTERS).is_some() {
            let sentence =
                format!("query: expected at most {MOST_LETTERS} characters in normal form; make it shorter");
            return Err(ToolError::invalid(sentence));
        }
        let Split { quoted, negatives, rest } = split(question);
        let normal = normal_line(&rest);
        let mut terms: Vec<Term> = Vec::new();
        for phrase in &quoted {
            let phrase = normal_line(phrase);
            terms.extend(Term::new(Role::Must, &phrase, 0..0).map(|term| Term { phrase: true, ..term }));
        }
        for run in runs(&normal) {
            match run {
                Run::Words(range) => words(&rest, &normal, range, &mut terms),
                Run::Unspaced(range) => {
                    let found = japanese::terms(normal.get(range.clone()).unwrap_or_default());
                    terms.extend(found.into_iter().filter_map(|(part, role)| {
                        let range = range.start + part.start..range.start + part.end;
                        Term::new(role, normal.get(range.clone())?, range)
                    }));
                }
            }
        }
        if terms.is_empty() && negatives.is_empty() {
            // Nothing but joining words: then they are what is asked for.
            terms.extend(Term::new(Role::Soft, &normal, 0..normal.len()));
        }
        let mut seen = std::collections::HashSet::new();
        terms.retain(|term| seen.insert(loosely(term.text())));
        // What must be there stays.
        terms.sort_by_key(|term| term.role == Role::Soft);
        let dropped = terms.iter().skip(MOST_TERMS).map(|term| term.text().to_owned()).collect();
        terms.truncate(MOST_TERMS);
        terms.sort_by_key(|term| term.range.start);
        for term in &mut terms {
            spellings(term);
        }
        dictionary.expand(&normal, &mut terms);
        join_neighbours(&normal, &mut terms);
        terms.iter_mut().for_each(|term| term.forms.truncate(MOST_FORMS));
        let mut keys = Vec::new();
        tokens(&normal, &mut |key| keys.push(key));
        keys.retain(|key| !is_end(*key));
        keys.sort_unstable();
        keys.dedup();
        let negatives =
            negatives.iter().filter_map(|text| Term::new(Role::Must, &normal_line(text), 0..0)).collect();
        let intent = intent.unwrap_or_else(|| intent_of(&whole));
        Ok(Self { terms, negatives, intent, keys, units: asked_units(&whole), dropped })
    }
}

impl Term {
    fn new(role: Role, text: &str, range: Range<usize>) -> Option<Self> {
        Some(Self {
            role,
            strength: strength(text),
            forms: vec![Form::new(text, 1.0)?],
            phrase: false,
            range,
        })
    }
}

fn normal_line(text: &str) -> String {
    let mut normal = String::new();
    normalize_line(text, &mut normal);
    normal
}

/// A text without what only sets letters apart.
pub fn loosely(text: &str) -> String {
    text.chars().filter(|letter| !is_separator(*letter)).collect()
}

struct Split {
    quoted: Vec<String>,
    negatives: Vec<String>,
    rest: String,
}

/// Takes out what is quoted, and what a leading `-` refuses.
fn split(question: &str) -> Split {
    let mut found = Split { quoted: Vec::new(), negatives: Vec::new(), rest: String::new() };
    let mut letters = question.char_indices().peekable();
    let mut before = ' ';
    while let Some((at, letter)) = letters.next() {
        let after = question.get(at + letter.len_utf8()..).unwrap_or_default();
        let minus = matches!(letter, '-' | '－' | '−') && before.is_whitespace();
        let (quote, skip) = match (minus, after.chars().next()) {
            (true, Some(next)) if closing(next).is_some() => (Some(next), 1),
            (false, _) if closing(letter).is_some() => (Some(letter), 0),
            _ => (None, 0),
        };
        if let Some(close) = quote.and_then(closing) {
            let inner = after.chars().skip(skip).take_while(|letter| *letter != close).collect::<String>();
            let closed = after.chars().skip(skip).count() > inner.chars().count();
            if closed
                && !inner.trim().is_empty()
                && !(letter == '\'' || (before.is_alphanumeric() && letter == '"'))
            {
                for _ in 0..inner.chars().count() + skip + 1 {
                    letters.next();
                }
                if minus { &mut found.negatives } else { &mut found.quoted }.push(inner);
                found.rest.push(' ');
                before = ' ';
                continue;
            }
        }
        // `-5` is a number, `--flag` an option.
        if minus && after.chars().next().is_some_and(char::is_alphabetic) {
            let word: String = after.chars().take_while(|letter| !letter.is_whitespace()).collect();
            for _ in 0..word.chars().count() {
                letters.next();
            }
            found.negatives.push(word);
            before = ' ';
            continue;
        }
        found.rest.push(letter);
        before = letter;
    }
    found
}

const fn closing(quote: char) -> Option<char> {
    Some(match quote {
        '"' => '"',
        '“' => '”',
        '「' => '」',
        '『' => '』',
        _ => return None,
    })
}

/// A part of a question in one kind of script.
enum Run {
    Words(Range<usize>),
    Unspaced(Range<usize>),
}

/// The runs of a question. Numbers between letters of a script without spaces belong to them, as in `第3条`.
fn runs(normal: &str) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut start = None;
    let mut flush = |start: &mut Option<usize>, end: usize| {
        if let Some(start) = start.take() {
            let text = normal.get(start..end).unwrap_or_default();
            let unspaced = text.chars().any(|letter| class(letter) == Class::Unspaced);
            runs.push(if unspaced { Run::Unspaced(start..end) } else { Run::Words(start..end) });
        }
    };
    for (at, letter) in normal.char_indices() {
        if letter == ' '
            || (class(letter) == Class::Other)
            || matches!(letter, '、' | '。' | '[' | ']' | '(' | ')' | '・' | ':' | ';' | '"')
        {
            flush(&mut start, at);
        } else {
            start = start.or(Some(at));
        }
    }
    flush(&mut start, normal.len());
    runs
}

/// The terms of a run of words: the words themselves, and what they make together if that is a code or a name.
fn words(original: &str, normal: &str, range: Range<usize>, terms: &mut Vec<Term>) {
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
            terms.extend(Term::new(role, text, range.clone()));
        }
        if !is_code(text) || parts.len() > 2 {
            let own = parts.iter().filter(|part| !is_stop(part) && part.len() > 2);
            terms.extend(own.filter_map(|part| Term::new(Role::Soft, part, range.clone())));
        }
        return;
    }
    let Some(only) = parts.first().filter(|part| !is_stop(part)) else { return };
    let named = original_form(original, only).is_some_and(is_name);
    terms.extend(Term::new(if named { Role::Must } else { Role::Soft }, only, range));
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
fn spellings(term: &mut Term) {
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
    term.forms.extend(others.iter().filter_map(|other| Form::new(other, 0.9)));
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
            let form = Form { keys: vec![word(&joined)], text: joined, letter: None, weight: 1.2 };
            one.forms.push(form.clone());
            other.forms.push(form);
        }
    }
}
