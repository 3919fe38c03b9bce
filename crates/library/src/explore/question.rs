//! A question as it is written: what is quoted, what is refused with a hyphen, and the runs of script in the rest.

use std::ops::Range;

use crate::index::{Class, class};

/// The parts of a question that are read in different ways.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct QuestionParts {
    /// Phrases in quotes.
    pub quoted: Vec<String>,
    /// Words and phrases behind a hyphen, which must not stand in a section.
    pub negatives: Vec<String>,
    /// Everything else.
    pub rest: String,
}

impl QuestionParts {
    /// Takes out of a question what is quoted, and what a leading `-` refuses.
    pub fn of(question: &str) -> Self {
        let mut parts = Self::default();
        let mut letters = question.char_indices();
        let mut before = ' ';
        while let Some((at, letter)) = letters.next() {
            let after = question.get(at + letter.len_utf8()..).unwrap_or_default();
            let minus = matches!(letter, '-' | '－' | '−') && before.is_whitespace();
            if let Some((phrase, taken)) = quoted_phrase(letter, before, minus, after) {
                letters.by_ref().take(taken).for_each(drop);
                if minus { &mut parts.negatives } else { &mut parts.quoted }.push(phrase);
                parts.rest.push(' ');
                before = ' ';
                continue;
            }
            // `-5` is a number and `--flag` an option; only a letter makes it a refusal.
            if minus && after.chars().next().is_some_and(char::is_alphabetic) {
                let word: String = after.chars().take_while(|letter| !letter.is_whitespace()).collect();
                letters.by_ref().take(word.chars().count()).for_each(drop);
                parts.negatives.push(word);
                before = ' ';
                continue;
            }
            parts.rest.push(letter);
            before = letter;
        }
        parts
    }
}

/// The phrase that a quote opens here, and how many letters behind this one it takes with its quotes.
fn quoted_phrase(letter: char, before: char, minus: bool, after: &str) -> Option<(String, usize)> {
    let (quote, skip) = match (minus, after.chars().next()) {
        (true, Some(next)) if closing_quote(next).is_some() => (next, 1),
        (false, _) if closing_quote(letter).is_some() => (letter, 0),
        _ => return None,
    };
    let close = closing_quote(quote)?;
    let inner: String = after.chars().skip(skip).take_while(|letter| *letter != close).collect();
    let length = inner.chars().count();
    let is_closed = after.chars().skip(skip).count() > length;
    // A straight quote behind a letter or digit is a sign of inches, not the start of a phrase.
    let is_inches = before.is_alphanumeric() && letter == '"';
    (is_closed && !inner.trim().is_empty() && !is_inches).then(|| (inner, length + skip + 1))
}

const fn closing_quote(quote: char) -> Option<char> {
    Some(match quote {
        '"' => '"',
        '“' => '”',
        '「' => '」',
        '『' => '』',
        _ => return None,
    })
}

/// A part of a question in one kind of script.
#[derive(Debug, PartialEq, Eq)]
pub enum ScriptRun {
    /// Words with separators between them.
    Words(Range<usize>),
    /// A script without spaces.
    Unspaced(Range<usize>),
}

/// The runs of a question in normal form. Numbers between letters of a script without spaces belong to them, as in
/// `第3条`.
pub fn script_runs(normal: &str) -> Vec<ScriptRun> {
    let mut runs = Vec::new();
    let mut start = None;
    let mut flush = |start: &mut Option<usize>, end: usize| {
        if let Some(start) = start.take() {
            let text = normal.get(start..end).unwrap_or_default();
            let unspaced = text.chars().any(|letter| class(letter) == Class::Unspaced);
            runs.push(if unspaced { ScriptRun::Unspaced(start..end) } else { ScriptRun::Words(start..end) });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_refusals_are_taken_out() {
        let parts = |question: &str| {
            let QuestionParts { quoted, negatives, rest } = QuestionParts::of(question);
            (quoted.join("|"), negatives.join("|"), rest)
        };
        let expected = |quoted: &str, negatives: &str, rest: &str| {
            (quoted.to_owned(), negatives.to_owned(), rest.to_owned())
        };
        assert_eq!(parts(r#"a "b c" d"#), expected("b c", "", "a   d"));
        assert_eq!(parts("a -b 「c」 -「d e」"), expected("c", "b|d e", "a     "));
        assert_eq!(parts("-5 --flag user-id"), expected("", "", "-5 --flag user-id"));
        assert_eq!(parts(r#"27" screen "x"#), expected("", "", r#"27" screen "x"#));
    }

    #[test]
    fn numbers_belong_to_the_script_around_them() {
        let question = "第3条の version 2";
        let words = |text: &str| {
            let start = question.find(text).unwrap();
            start..start + text.len()
        };
        assert_eq!(
            script_runs(question),
            [
                ScriptRun::Unspaced(words("第3条の")),
                ScriptRun::Words(words("version")),
                ScriptRun::Words(words("2"))
            ]
        );
    }
}
