//! Removes what a reader cannot see from a text: the API's private citation marks, terminal control sequences, and
//! characters that are invisible or reorder the text around them. Such characters can hide words from people, split the
//! name of a host, or make a terminal do something.

use std::iter::Peekable;
use std::str::Chars;

/// The character that begins a citation mark of the API, as in `\u{e200}cite\u{e202}turn0search1\u{e201}`.
const MARK_START: char = '\u{e200}';
/// The character that ends it.
const MARK_END: char = '\u{e201}';
/// The longest citation mark, in characters: one mark may name dozens of results. A longer one counts as not closed.
const MAX_MARK_CHARS: usize = 1000;
/// The longest terminal sequence with a terminator, in characters; titles and links of terminals are shorter. Of a longer
/// one only the start is removed.
const MAX_SEQUENCE_CHARS: usize = 4000;

/// The visible text. Line breaks of any kind become `\n`.
pub fn visible_text(text: &str) -> String {
    if !text.chars().any(|letter| letter != '\n' && (letter.is_control() || is_invisible(letter))) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            MARK_START => {
                skip_mark(&mut letters);
                close_gap(&mut out, letters.peek().copied());
            }
            '\u{1b}' => skip_sequence(&mut letters),
            '\u{9b}' => skip_parameters(&mut letters),
            '\r' if letters.peek() == Some(&'\n') => {}
            '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => out.push('\n'),
            '\n' | '\t' => out.push(letter),
            letter if letter.is_control() || is_invisible(letter) => {}
            letter => out.push(letter),
        }
    }
    out
}

/// Whether a character is invisible, changes the direction of the text, or is private.
fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{e007f}' | '\u{f0000}'..='\u{10ffff}')
}

/// Skips the rest of a citation mark; of one that is not closed, the word that it begins.
fn skip_mark(letters: &mut Peekable<Chars<'_>>) {
    let rest = letters.clone().take(MAX_MARK_CHARS);
    let length = rest.take_while(|letter| *letter != '\n').position(|letter| letter == MARK_END);
    match length {
        Some(length) => drop(letters.nth(length)),
        None => while letters.next_if(|letter| !letter.is_whitespace() && *letter != MARK_START).is_some() {},
    }
}

/// Removes the spaces in front of a mark that was removed, if nothing follows them that they would separate.
fn close_gap(out: &mut String, next: Option<char>) {
    let ends_here = |letter: char| letter.is_whitespace() || ".,;:!?)、。）".contains(letter);
    if next.is_none_or(ends_here) {
        out.truncate(out.trim_end_matches(' ').len());
    }
}

/// Skips the rest of an escape sequence.
fn skip_sequence(letters: &mut Peekable<Chars<'_>>) {
    match letters.next_if(|letter| matches!(letter, ' '..='~')) {
        Some('[') => skip_parameters(letters),
        // Sequences with a text, such as the title of the window or the target of a link.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let mut rest = letters.clone().take(MAX_SEQUENCE_CHARS);
            if let Some(length) = rest.position(|letter| matches!(letter, '\u{7}' | '\u{1b}' | '\u{9c}')) {
                let end = letters.nth(length);
                if end == Some('\u{1b}') {
                    letters.next_if_eq(&'\\');
                }
            }
        }
        // A sequence of three characters, such as the choice of a character set.
        Some(' '..='/') => drop(letters.next_if(|letter| matches!(letter, '0'..='~'))),
        _ => {}
    }
}

/// Skips the parameters and the final character of a control sequence.
fn skip_parameters(letters: &mut Peekable<Chars<'_>>) {
    while letters.next_if(|letter| matches!(letter, ' '..='?')).is_some() {}
    letters.next_if(|letter| matches!(letter, '@'..='~'));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_cannot_be_seen_is_removed() {
        for (text, expected) in [
            ("plain 日本 🌤 text\n\tend", "plain 日本 🌤 text\n\tend"),
            ("It rains \u{e200}cite\u{e202}turn0search1\u{e202}turn1news2\u{e201}. Yes", "It rains. Yes"),
            ("It rains. \u{e200}cite\u{e202}turn0search1\u{e201} Next", "It rains. Next"),
            ("open \u{e200}cite\u{e202}turn0search1 next", "open next"),
            ("a\u{f8ff}b\u{10fffd}c", "abc"),
            ("\u{1b}[1;31mred\u{1b}[0m \u{9b}4mline", "red line"),
            ("\u{1b}]0;title\u{7}a\u{1b}]8;;https://e.example/\u{1b}\\b\u{1b}(Bc", "abc"),
            ("a\r\nb\rc\u{2028}d\u{0}\u{8}\u{7f}\u{9d}e", "a\nb\nc\nde"),
            ("\u{202e}evil\u{202c} \u{2066}x\u{2069}\u{200f}\u{200b}\u{feff}\u{e0041}y", "evil xy"),
            ("👩\u{200d}💻 می\u{200c}خواهم", "👩\u{200d}💻 می\u{200c}خواهم"),
        ] {
            assert_eq!(visible_text(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_invisible_is_left(text in "(\\PC|[\u{0}-\u{20}\u{1b}\\[\\]\u{80}-\u{9f}\u{200b}-\u{202f}\u{2060}-\u{206f}\u{e200}-\u{e203}]){0,40}") {
            let visible = visible_text(&text);
            prop_assert!(!visible.chars().any(|letter| is_invisible(letter) || (letter.is_control() && letter != '\n' && letter != '\t')));
            prop_assert_eq!(visible_text(&visible), visible);
        }
    }
}
