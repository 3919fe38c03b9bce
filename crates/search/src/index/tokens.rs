//! Tokenization: the keys of a text are character pairs (bigrams) for scripts without spaces, and stemmed words for the
//! others. Separators inside a term are ignored: pairs reach across them, and `user-id` also has the key of `userid`.

use super::stem::stem;
use annai_text::is_separator;

/// A key of the index: two characters, or the hash of a word.
pub type Key = u64;

/// The bit that is set in the keys of words, and never in those of character pairs.
const WORD_BIT: Key = 1 << 63;
/// The number of bits of a character: `char` has at most 21.
const CHAR_BITS: u32 = 21;
/// The maximum length of a word; of a longer one, such as encoded data, only the beginning is indexed.
const MAX_WORD_BYTES: usize = 64;
/// The maximum number of parts of a compound such as `a-b-c-d` that is also indexed as one word. Longer ones are
/// addresses and table rows; only their parts are indexed.
const MAX_COMPOUND_PARTS: usize = 4;

/// The key of two adjacent characters.
pub fn pair(first: char, second: char) -> Key {
    (u64::from(first) << CHAR_BITS) | u64::from(second)
}

/// The two characters of a key, by their numbers; none for the key of a word.
pub const fn pair_of(key: Key) -> Option<(u64, u64)> {
    if key & WORD_BIT != 0 { None } else { Some((key >> CHAR_BITS, key & ((1 << CHAR_BITS) - 1))) }
}

/// The range of all keys whose first character is this one.
pub fn all_of(ch: char) -> std::ops::Range<Key> {
    pair(ch, '\0')..pair(ch, '\0') + (1 << CHAR_BITS)
}

/// The key of a word, without stemming.
pub fn exact(word: &str) -> Key {
    // FNV-1a is fast and gives the same value in every process, which the disk cache needs.
    let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash | WORD_BIT
}

/// The key of the stem of a word.
pub fn word(word: &str) -> Key {
    exact(&stem(word))
}

/// The key of a section label: `第3条`, `4.2`, `別表2`.
pub fn label(label: &str) -> Key {
    exact(&format!("\u{1}{label}"))
}

/// How a character is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A character of a script without spaces between words.
    Unspaced,
    /// A part of a word or a number.
    Word,
    /// A separator within a term.
    Separator,
    /// Any other character.
    Other,
}

/// How a character is indexed.
pub fn class(ch: char) -> Class {
    match ch {
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
        _ if is_separator(ch) => Class::Separator,
        _ if ch.is_alphanumeric() => Class::Word,
        _ => Class::Other,
    }
}

/// Emits every key of a normalized text.
pub fn tokens(text: &str, emit: &mut impl FnMut(Key)) {
    let mut tokenizer =
        Tokenizer { emit, previous: None, word: String::new(), compound: Compound::default() };
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    while let Some(ch) = letters.next() {
        match class(ch) {
            Class::Word => {
                tokenizer.end_pairs();
                tokenizer.word.push(ch);
            }
            Class::Unspaced => {
                tokenizer.end_number(ch);
                if let Some(last) = tokenizer.previous.replace(ch) {
                    (tokenizer.emit)(pair(last, ch));
                }
            }
            Class::Separator => {
                let next = letters.peek().copied().unwrap_or(' ');
                let joins = class(before) == Class::Word && class(next) == Class::Word;
                tokenizer.separator(ch, joins, before.is_ascii_digit() && next.is_ascii_digit());
            }
            Class::Other => {
                tokenizer.end_pairs();
                tokenizer.end_word();
                tokenizer.end_compound();
            }
        }
        before = ch;
    }
    tokenizer.end_pairs();
    tokenizer.end_word();
    tokenizer.end_compound();
}

/// Words that are joined by separators without white space.
#[derive(Default)]
struct Compound {
    text: String,
    parts: usize,
}

/// The state of a walk through a text.
struct Tokenizer<'a, F> {
    emit: &'a mut F,
    /// The last character of a script without spaces.
    previous: Option<char>,
    word: String,
    compound: Compound,
}

impl<F: FnMut(Key)> Tokenizer<'_, F> {
    fn end_pairs(&mut self) {
        if let Some(last) = self.previous.take() {
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
        if self.compound.parts < MAX_COMPOUND_PARTS + 1 {
            self.compound.text.push_str(&self.word);
        }
        self.compound.parts += 1;
        self.word.clear();
    }

    fn end_compound(&mut self) {
        if (2..=MAX_COMPOUND_PARTS).contains(&self.compound.parts)
            && self.compound.text.len() <= MAX_WORD_BYTES
        {
            (self.emit)(exact(&self.compound.text));
        }
        self.compound.text.clear();
        self.compound.parts = 0;
    }

    fn separator(&mut self, ch: char, joins: bool, in_number: bool) {
        self.end_word();
        let connects = match ch {
            ',' => in_number,
            '-' | '_' | '/' | '.' | '\'' | '’' | '`' => true,
            _ => false,
        };
        if !(joins && connects) {
            self.end_compound();
        } else if in_number && ch == '.' && self.compound.parts < MAX_COMPOUND_PARTS {
            // `4.2` must not have the key of `42`.
            self.compound.text.push('.');
        }
    }

    /// A number before a character without spaces is also indexed with that character, its unit: `30日`, `3条`.
    fn end_number(&mut self, unit: char) {
        let number = std::mem::take(&mut self.word);
        if number.is_empty() {
            return self.end_compound();
        }
        if number.len() <= MAX_WORD_BYTES && number.bytes().all(|byte| byte.is_ascii_digit()) {
            let whole = if self.compound.parts > 0 { self.compound.text.as_str() } else { "" };
            (self.emit)(exact(&format!("{whole}{number}{unit}")));
        }
        self.word = number;
        self.end_word();
        self.end_compound();
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
    fn pairs_reach_across_separators() {
        let end = |ch| pair(ch, '\0');
        assert_eq!(keys("給付金"), [pair('給', '付'), pair('付', '金'), end('金')]);
        assert_eq!(keys("給・付\n金"), keys("給付金"));
        assert_eq!(keys("サーバー"), keys("サーバ"));
        assert_eq!(keys("金a金"), [end('金'), word("a"), end('金')]);
        assert!(all_of('金').contains(&end('金')) && all_of('金').contains(&pair('金', '\u{3ffff}')));
        assert!(!all_of('金').contains(&pair('釒', 'a')));
    }

    #[test]
    fn a_compound_has_the_keys_of_its_parts_and_of_the_whole() {
        assert_eq!(keys("user-ids"), [word("user"), word("id"), exact("userids")]);
        assert_eq!(keys("a b"), [word("a"), word("b")]);
        assert_eq!(keys("version 4.2."), [word("version"), word("4"), word("2"), exact("4.2")]);
        let expected = [word("1"), exact("1000円"), word("000"), exact("1000"), pair('円', '\0')];
        assert_eq!(keys("1,000円"), expected);
    }

    #[test]
    fn the_marks_of_code_do_not_separate() {
        assert_eq!(keys("`給付`金"), keys("給付金"));
        assert!(keys("`foo`bar").contains(&exact("foobar")));
        assert_eq!(keys("`--read-only`"), keys("--read-only"));
    }

    #[test]
    fn a_number_has_a_key_with_its_unit() {
        assert!(keys("30日以内").contains(&exact("30日")));
        assert!(keys("第3条").contains(&exact("3条")) && keys("第3条").contains(&pair('第', '\0')));
        assert!(!keys("a30日").contains(&exact("30日")));
    }
}
