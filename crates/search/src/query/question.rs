//! The surface syntax of a question: quoted phrases, words excluded with a leading hyphen, and the script runs of the
//! rest.

use std::ops::Range;

use crate::index::{Class, class};

/// The parts of a question that are parsed in different ways.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct QuestionParts {
    /// The quoted phrases, without their quotes.
    pub quoted: Vec<String>,
    /// Words and phrases after a leading hyphen, which a section must not contain.
    pub negatives: Vec<String>,
    /// Everything else.
    pub rest: String,
}

impl QuestionParts {
    /// Separates the quoted phrases, and what a leading `-` excludes, from the rest of a question.
    pub fn of(question: &str) -> Self {
        let mut parts = Self::default();
        let mut characters = question.char_indices();
        let mut before = ' ';
        while let Some((at, character)) = characters.next() {
            let after = question.get(at + character.len_utf8()..).unwrap_or_default();
            let minus = matches!(character, '-' | '－' | '−') && before.is_whitespace();
            if let Some((phrase, taken)) = quoted_phrase(character, before, minus, after) {
                characters.by_ref().take(taken).for_each(drop);
                if minus { &mut parts.negatives } else { &mut parts.quoted }.push(phrase);
                parts.rest.push(' ');
                before = ' ';
                continue;
            }
            // `-5` is a number and `--flag` an option; only a hyphen before a letter excludes a word.
            if minus && after.chars().next().is_some_and(char::is_alphabetic) {
                let word: String = after.chars().take_while(|character| !character.is_whitespace()).collect();
                characters.by_ref().take(word.chars().count()).for_each(drop);
                parts.negatives.push(word);
                before = ' ';
                continue;
            }
            parts.rest.push(character);
            before = character;
        }
        parts
    }
}

/// The phrase whose opening quote is here, and how many characters after this one it takes, quotes included.
fn quoted_phrase(character: char, before: char, minus: bool, after: &str) -> Option<(String, usize)> {
    let (quote, skip) = match (minus, after.chars().next()) {
        (true, Some(next)) if closing_quote(next).is_some() => (next, 1),
        (false, _) if closing_quote(character).is_some() => (character, 0),
        _ => return None,
    };
    let close = closing_quote(quote)?;
    let inner: String = after.chars().skip(skip).take_while(|character| *character != close).collect();
    let length = inner.chars().count();
    let is_closed = after.chars().skip(skip).count() > length;
    // A straight quote after a letter or digit means inches; it does not open a phrase.
    let is_inches = before.is_alphanumeric() && character == '"';
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

/// A run of a question in one kind of script, as a byte range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptRun {
    /// Words of a script that separates them by spaces.
    Words(Range<usize>),
    /// Text of a script without spaces, such as Japanese.
    Unspaced(Range<usize>),
}

/// The script runs of a normalized question. A number next to characters of a script without spaces belongs to their
/// run, as in `第3条`.
pub fn script_runs(normal: &str) -> Vec<ScriptRun> {
    let mut runs = Vec::new();
    let mut start = None;
    let mut flush = |start: &mut Option<usize>, end: usize| {
        if let Some(start) = start.take() {
            let text = normal.get(start..end).unwrap_or_default();
            let unspaced = text.chars().any(|character| class(character) == Class::Unspaced);
            runs.push(if unspaced { ScriptRun::Unspaced(start..end) } else { ScriptRun::Words(start..end) });
        }
    };
    for (at, character) in normal.char_indices() {
        if character == ' '
            || (class(character) == Class::Other)
            || matches!(character, '、' | '。' | '[' | ']' | '(' | ')' | '・' | ':' | ';' | '"')
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
    fn quoted_phrases_and_excluded_words_are_separated() {
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

    #[test]
    fn every_kind_of_quote_and_hyphen_counts() {
        let parts = |question: &str| {
            let QuestionParts { quoted, negatives, .. } = QuestionParts::of(question);
            (quoted.join("|"), negatives.join("|"))
        };
        let expected = |quoted: &str, negatives: &str| (quoted.to_owned(), negatives.to_owned());
        assert_eq!(parts("“a b” 『c』 「d」"), expected("a b|c|d", ""));
        assert_eq!(parts("x －y −z -\"p q\""), expected("", "y|z|p q"));
        // Empty and unclosed quotes are none.
        assert_eq!(parts("\"\" 「a"), expected("", ""));
    }

    #[test]
    fn punctuation_separates_runs_and_separators_inside_a_word_do_not() {
        let texts = |question: &str| -> Vec<String> {
            let text = |run: &ScriptRun| match run {
                ScriptRun::Words(range) => question[range.clone()].to_owned(),
                ScriptRun::Unspaced(range) => format!("*{}", &question[range.clone()]),
            };
            script_runs(question).iter().map(text).collect()
        };
        assert_eq!(
            texts("user-id, v2.1 (a/b): 返品、送料 api仕様"),
            ["user-id,", "v2.1", "a/b", "*返品", "*送料", "*api仕様"]
        );
        assert_eq!(texts(" ?! "), Vec::<String>::new());
    }
}
