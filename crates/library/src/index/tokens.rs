//! What the index files a text under: pairs of neighbouring letters for scripts without spaces, words for the others.
//! Separators inside a term do not hide it: pairs reach across them, and `user-id` is filed under `userid` too.

use super::stem::stem;
use crate::text::is_separator;

/// Under what a place is filed: two letters, or the hash of a word.
pub type Key = u64;

/// Set in the keys of words, never in those of letters.
const WORD: Key = 1 << 63;
/// How many bits a letter takes.
const LETTER: u32 = 21;
/// The maximum length of a word; longer ones, such as encoded data, are filed under their beginning.
const MAX_WORD_BYTES: usize = 64;
/// The maximum number of parts of a chain such as `a-b-c-d` that is filed as one word too; longer chains are addresses
/// and rows of tables, and are filed under their parts alone.
const MAX_CHAIN_PARTS: usize = 4;

/// Two letters that stand side by side.
pub fn pair(first: char, second: char) -> Key {
    (u64::from(first) << LETTER) | u64::from(second)
}

/// Every key of a letter, whatever follows it.
pub fn all_of(letter: char) -> std::ops::Range<Key> {
    pair(letter, '\0')..pair(letter, '\0') + (1 << LETTER)
}

/// A word as it stands, not its stem.
pub fn exact(word: &str) -> Key {
    // FNV-1a: short, quick, and the same everywhere, as the cache on disk needs it.
    let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash | WORD
}

/// A word by its stem.
pub fn word(word: &str) -> Key {
    exact(&stem(word))
}

/// What a title is called by in references: `第3条`, `4.2`, `別表2`.
pub fn label(label: &str) -> Key {
    exact(&format!("\u{1}{label}"))
}

/// How a letter is filed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Of a script that sets no spaces between words.
    Unspaced,
    /// Part of a word or a number.
    Word,
    /// Between letters of one term.
    Separator,
    /// Anything else.
    Other,
}

/// How a letter is filed.
pub fn class(letter: char) -> Class {
    match letter {
        'a'..='z' | '0'..='9' | 'A'..='Z' => Class::Word,
        ' ' | '\n' | '-' | '.' | ',' | '/' | '_' | '、' | '。' | 'ー' | '・' | '(' | ')' | '[' | ']' => {
            Class::Separator
        }
        '\u{3041}'..='\u{3096}'
        | '\u{30a1}'..='\u{30fa}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{e00}'..='\u{e7f}'
        | '〇'
        | '〆' => Class::Unspaced,
        _ if is_separator(letter) => Class::Separator,
        _ if letter.is_alphanumeric() => Class::Word,
        _ => Class::Other,
    }
}

/// Gives every key of a text in normal form.
pub fn tokens(text: &str, emit: &mut impl FnMut(Key)) {
    let mut walk = Walk { emit, letter: None, word: String::new(), chain: Chain::default() };
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match class(letter) {
            Class::Word => {
                walk.end_letters();
                walk.word.push(letter);
            }
            Class::Unspaced => {
                walk.end_number(letter);
                if let Some(last) = walk.letter.replace(letter) {
                    (walk.emit)(pair(last, letter));
                }
            }
            Class::Separator => {
                let next = letters.peek().copied().unwrap_or(' ');
                let joins = class(before) == Class::Word && class(next) == Class::Word;
                walk.separator(letter, joins, before.is_ascii_digit() && next.is_ascii_digit());
            }
            Class::Other => {
                walk.end_letters();
                walk.end_word();
                walk.end_chain();
            }
        }
        before = letter;
    }
    walk.end_letters();
    walk.end_word();
    walk.end_chain();
}

/// Words that only separators without space stand between.
#[derive(Default)]
struct Chain {
    text: String,
    parts: usize,
}

struct Walk<'a, F> {
    emit: &'a mut F,
    /// The last letter of a script without spaces.
    letter: Option<char>,
    word: String,
    chain: Chain,
}

impl<F: FnMut(Key)> Walk<'_, F> {
    fn end_letters(&mut self) {
        if let Some(last) = self.letter.take() {
            (self.emit)(pair(last, '\0'));
        }
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let mut end = self.word.len().min(MAX_WORD_BYTES);
        while !self.word.is_char_boundary(end) {
            end -= 1;
        }
        (self.emit)(word(self.word.get(..end).unwrap_or_default()));
        if self.chain.parts < MAX_CHAIN_PARTS + 1 {
            self.chain.text.push_str(&self.word);
        }
        self.chain.parts += 1;
        self.word.clear();
    }

    fn end_chain(&mut self) {
        if (2..=MAX_CHAIN_PARTS).contains(&self.chain.parts) && self.chain.text.len() <= MAX_WORD_BYTES {
            (self.emit)(exact(&self.chain.text));
        }
        self.chain.text.clear();
        self.chain.parts = 0;
    }

    fn separator(&mut self, letter: char, joins: bool, in_number: bool) {
        self.end_word();
        let connects = match letter {
            ',' => in_number,
            '-' | '_' | '/' | '.' | '\'' | '’' => true,
            _ => false,
        };
        if !(joins && connects) {
            self.end_chain();
        } else if in_number && letter == '.' && self.chain.parts < MAX_CHAIN_PARTS {
            // 4.2 is not 42.
            self.chain.text.push('.');
        }
    }

    /// A number before a letter is also filed with that letter: `30日`, `第3条`.
    fn end_number(&mut self, unit: char) {
        let number = std::mem::take(&mut self.word);
        if number.is_empty() {
            return self.end_chain();
        }
        if number.len() <= MAX_WORD_BYTES && number.bytes().all(|byte| byte.is_ascii_digit()) {
            let whole = if self.chain.parts > 0 { self.chain.text.as_str() } else { "" };
            (self.emit)(exact(&format!("{whole}{number}{unit}")));
        }
        self.word = number;
        self.end_word();
        self.end_chain();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<Key> {
        let mut keys = Vec::new();
        tokens(text, &mut |key| keys.push(key));
        keys
    }

    #[test]
    fn letters_pair_up_across_separators() {
        let end = |letter| pair(letter, '\0');
        assert_eq!(keys("給付金"), [pair('給', '付'), pair('付', '金'), end('金')]);
        assert_eq!(keys("給・付\n金"), keys("給付金"));
        assert_eq!(keys("サーバー"), keys("サーバ"));
        assert_eq!(keys("金a金"), [end('金'), word("a"), end('金')]);
        assert!(all_of('金').contains(&end('金')) && all_of('金').contains(&pair('金', '\u{3ffff}')));
        assert!(!all_of('金').contains(&pair('釒', 'a')));
    }

    #[test]
    fn words_are_filed_alone_and_joined() {
        assert_eq!(keys("user-ids"), [word("user"), word("id"), exact("userids")]);
        assert_eq!(keys("a b"), [word("a"), word("b")]);
        assert_eq!(keys("version 4.2."), [word("version"), word("4"), word("2"), exact("4.2")]);
        let expected = [word("1"), exact("1000円"), word("000"), exact("1000"), pair('円', '\0')];
        assert_eq!(keys("1,000円"), expected);
    }

    #[test]
    fn numbers_keep_their_unit() {
        assert!(keys("30日以内").contains(&exact("30日")));
        assert!(keys("第3条").contains(&exact("3条")) && keys("第3条").contains(&pair('第', '\0')));
        assert!(!keys("a30日").contains(&exact("30日")));
    }
}
