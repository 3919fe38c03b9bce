//! Finds the values of a normalized sentence, from left to right and each letter at most a few times.

use std::ops::Range;
use std::sync::LazyLock;

use annai_language::{ENGLISH, JAPANESE};

use super::amounts::{fraction, money, with_unit};
use super::dates::{date, era_date, fiscal_year, month_first};
use super::digits::digit;
use super::identifiers::{after_identifier, section_number_len};
use super::numerals::{after_kanji, is_kanji_start, number};
use super::times::time;
use super::value::{Amount, Number, Parsed, Style};
use super::words::{Meaning, after_any, ends_word, letters, may_have_number_word, meaning, unspaced};

/// What the scanner finds.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A value.
    Amount(Amount),
    /// The number of an article, a section, a page, a version or the like, which states nothing.
    Reference(Range<usize>),
}

/// The Kanji with which eras and times of day begin.
static STARTS: LazyLock<Vec<char>> = LazyLock::new(|| {
    let words = JAPANESE.eras.keys().chain(JAPANESE.half_days.keys());
    words.filter_map(|word| word.chars().next()).filter(|ch| !ch.is_ascii()).collect()
});

/// Finds the values of a normalized sentence.
pub fn scan(sentence: &str) -> Vec<Item> {
    let is_start = |ch: char| digit(ch).is_some() || is_kanji_start(ch) || ch == '元';
    if !sentence.chars().any(is_start) && !may_have_number_word(sentence) {
        return Vec::new();
    }
    let mut scanner = Scanner { text: sentence, rest: sentence, found: Vec::new() };
    while let Some(ch) = scanner.rest.chars().next() {
        scanner.step(ch);
    }
    scanner.found
}

struct Scanner<'a> {
    text: &'a str,
    rest: &'a str,
    found: Vec<Item>,
}

impl<'a> Scanner<'a> {
    fn step(&mut self, ch: char) {
        let rest = self.rest;
        let after = rest.get(ch.len_utf8()..).unwrap_or_default();
        match ch {
            'a'..='z' | '_' => self.word(),
            '$' | '€' | '¥' | '£' => match meaning(self.until(after)) {
                Some(Meaning::Currency(unit)) => self.take_or_skip(money(unit, unspaced(after)), after),
                _ => self.rest = after,
            },
            _ if digit(ch).is_some() || is_kanji_start(ch) => match number(rest) {
                Some((found, after)) => self.number(&found, after),
                None => self.rest = after,
            },
            '一'..='龥' if STARTS.contains(&ch) => {
                self.take_or_skip(era_date(rest).or_else(|| time(rest)), after);
            }
            _ => self.rest = after,
        }
    }

    /// The bytes from here to the beginning of another rest.
    fn range_to(&self, rest: &str) -> Range<usize> {
        self.text.len() - self.rest.len()..self.text.len() - rest.len()
    }

    /// The text from here to the beginning of another rest.
    fn until(&self, rest: &str) -> &'a str {
        self.rest.get(..self.rest.len() - rest.len()).unwrap_or_default()
    }

    /// The text before this place.
    fn before(&self) -> &'a str {
        self.text.get(..self.text.len() - self.rest.len()).unwrap_or_default()
    }

    fn take(&mut self, (amount, rest): Parsed<'a>, style: Style) {
        self.found.push(Item::Amount(Amount { style, range: self.range_to(rest), ..amount }));
        self.rest = rest;
    }

    /// Takes a value, or where there is none goes on at `rest`.
    fn take_or_skip(&mut self, parsed: Option<Parsed<'a>>, rest: &'a str) {
        match parsed {
            Some(parsed) => self.take(parsed, Style::Digits),
            None => self.rest = rest,
        }
    }

    fn take_reference(&mut self, rest: &'a str) {
        self.found.push(Item::Reference(self.range_to(rest)));
        self.rest = rest;
    }

    /// A word of Latin letters: a month, a number, a currency, a word before a reference, or an identifier.
    fn word(&mut self) {
        let (name, after) = letters(self.rest);
        let parsed = match meaning(name) {
            Some(Meaning::FiscalYear) => fiscal_year(unspaced(after)),
            _ if !ends_word(after) => era_date(self.rest),
            Some(Meaning::Month(..)) => month_first(self.rest),
            Some(Meaning::Number(_)) => match number(self.rest) {
                Some((found, after)) => return self.number(&found, after),
                None => None,
            },
            Some(Meaning::NumberedPart) => {
                let part = after.trim_start_matches(['.', ' ', '#']);
                let len = section_number_len(part);
                if after.len() - part.len() <= 3 && len > 0 {
                    self.rest = part;
                    return self.take_reference(part.get(len..).unwrap_or_default());
                }
                None
            }
            Some(Meaning::Currency(unit)) => after.strip_prefix(' ').and_then(|after| money(unit, after)),
            Some(Meaning::Scale(_)) | None => None,
        };
        self.take_or_skip(parsed, after_identifier(self.rest));
    }

    /// A number that begins here, and the text after it.
    fn number(&mut self, found: &Number, after: &'a str) {
        let before = self.before().chars().next_back();
        // 第3条 and #12 are references whatever follows.
        if found.style != Style::Words && matches!(before, Some('第' | '#' | '§')) {
            self.take_reference(after);
        } else if found.style == Style::Kanji && self.continues_word(before) {
            self.rest = after;
        } else if let Some(date) = date(self.rest, found, after) {
            self.take(date, found.style);
        } else if found.is_identifier {
            self.rest = after_name(after);
        } else if let Some(parsed) = time(self.rest).or_else(|| fraction(found, after)) {
            self.take(parsed, found.style);
        } else if let Some(rest) = self.after_numeral_word(found, after) {
            self.rest = rest;
        } else if let Some(amount) = with_unit(found, after) {
            self.take(amount, found.style);
        } else {
            self.number_without_unit(found, after);
        }
    }

    /// Whether Kanji numerals belong to the word before them: 同一人物, 数十人.
    fn continues_word(&self, before: Option<char>) -> bool {
        let is_in = |kanji: &str| before.is_some_and(|before| kanji.contains(before));
        is_in(&JAPANESE.vague_kanji) || (self.rest.starts_with('一') && is_in(&JAPANESE.before_one))
    }

    /// What follows a word that begins with a number and is no amount: 十分な, 一人一人, 六本木, `3D`.
    fn after_numeral_word(&self, found: &Number, after: &'a str) -> Option<&'a str> {
        if found.style != Style::Kanji {
            let rest = after_any(self.rest, &ENGLISH.numeral_words)?;
            return letters(rest).0.is_empty().then_some(rest);
        }
        let written = self.until(after);
        let is_enough = |after| after_any(after, &JAPANESE.after_ten_minutes).is_none();
        // Only circles are a placeholder: 〇日以内.
        let is_word = written.trim_matches('〇').is_empty()
            || (JAPANESE.formal_numerals.contains(written) && !after.starts_with('円'))
            || (written == "十" && after.strip_prefix('分').is_some_and(is_enough));
        after_any(self.rest, &JAPANESE.numeral_words).or_else(|| is_word.then_some(after))
    }

    /// A number that no unit follows: a reference, an identifier, a word, or a plain number.
    fn number_without_unit(&mut self, found: &Number, after: &'a str) {
        let before = self.before();
        let before = before.strip_suffix(' ').unwrap_or(before);
        let is_reference = after_any(after, &JAPANESE.numbering_signs).is_some()
            || JAPANESE.numbered_parts.iter().any(|part| before.ends_with(part.as_str()));
        match found.style {
            Style::Kanji => self.rest = after_kanji(after),
            // "One" is a pronoun.
            Style::Words if found.value < 2.0 => self.rest = after,
            Style::Digits if is_reference => self.take_reference(after),
            // `5th`, `3d`, `4k`: part of a name.
            Style::Digits if after_name(after).len() < after.len() => self.rest = after_name(after),
            _ => self.take((Amount::new("", found.value), after), found.style),
        }
    }
}

/// The text after the letters that follow a number directly: `5th`, `4k`.
fn after_name(text: &str) -> &str {
    let is_name = text.starts_with(|ch: char| ch.is_ascii_lowercase() || ch == '_');
    if is_name { after_identifier(text) } else { text }
}
