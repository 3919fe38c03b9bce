//! Finds the values of a normalized sentence, from left to right and each letter at most a few times.

use std::ops::Range;

use super::amounts::{fiscal_year, money_at, part_of, with_unit};
use super::dates::{self, NO_NUMBER, Parsed};
use super::digits::digit;
use super::kanji_words;
use super::numerals::{Number, Style, is_kanji_start, kanji_run, number};
use super::times::time;
use super::units::{Unit, unit_at, word_len};
use super::words;

/// A value of a sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Amount {
    /// The unit that values are compared in; empty for a number without a unit.
    pub unit: &'static str,
    /// The unit as the table has it, for a number with one unit.
    pub written_unit: Option<&'static Unit>,
    /// The value in that unit.
    pub value: f64,
    /// The numbers that it is written with; those that it does not have are not a number.
    pub numbers: [f64; 3],
    /// How it is written.
    pub style: Style,
    /// Where it stands in the sentence.
    pub range: Range<usize>,
}

/// What the scanner finds.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A value.
    Amount(Amount),
    /// The number of an article, a section, a page, a version or the like, which states nothing.
    Reference(Range<usize>),
}

/// The words before the number of a part of a text. They count only where no unit follows the number: 代表3名 has three.
const REFERENCE_PREFIXES: &str =
    "表 図 別紙 様式 付録 附録 資料 手順 ステップ 注 ※ 例 問 項番 バージョン # §";

/// The signs that make the number before them the number of a part of a text.
const REFERENCE_SIGNS: &[&str] =
    &["条", "項", "号", "章", "節", "編", "款", "行目", "ページ目", "頁目", "番"];

/// Whether a normalized sentence may contain a value: it has a digit, a Kanji numeral or a word for a number or a month.
fn may_have_values(sentence: &str) -> bool {
    match sentence.is_ascii() {
        true => sentence.bytes().any(|byte| byte.is_ascii_digit()) || words::may_have_number_word(sentence),
        false => {
            sentence.chars().any(|ch| digit(ch).is_some() || is_kanji_start(ch) || ch == '元')
                || words::may_have_number_word(sentence)
        }
    }
}

/// Finds the values of a normalized sentence.
pub fn scan(sentence: &str) -> Vec<Item> {
    if !may_have_values(sentence) {
        return Vec::new();
    }
    let mut scanner = Scanner { text: sentence, at: 0, before: None, found: Vec::new() };
    while let Some(ch) = scanner.rest().chars().next() {
        scanner.step(ch);
    }
    scanner.found
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// The letter before the place.
    before: Option<char>,
    found: Vec<Item>,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Moves on by `len` bytes.
    fn advance(&mut self, len: usize) {
        let passed = self.rest().get(..len).unwrap_or_default();
        self.before = passed.chars().next_back().or(self.before);
        self.at += len.max(1);
    }

    fn step(&mut self, ch: char) {
        match ch {
            'a'..='z' | '_' => self.word(),
            '$' | '€' | '¥' | '£' => self.money(ch),
            '令' | '平' | '昭' | '大' | '明' => self.take_or_skip(dates::era_date, ch.len_utf8()),
            '午' => self.take_or_skip(time, ch.len_utf8()),
            _ if digit(ch).is_some() || is_kanji_start(ch) => self.number(),
            _ => self.advance(ch.len_utf8()),
        }
    }

    /// Takes the value that begins here, or else skips `len` bytes.
    fn take_or_skip(&mut self, parse: impl FnOnce(&str) -> Option<Parsed>, len: usize) {
        match parse(self.rest()) {
            Some(parsed) => self.take(parsed, None, Style::Digits),
            None => self.advance(len),
        }
    }

    fn take(&mut self, parsed: Parsed, written_unit: Option<&'static Unit>, style: Style) {
        let Parsed { unit, value, numbers, len } = parsed;
        let range = self.at..self.at + len;
        self.found.push(Item::Amount(Amount { unit, written_unit, value, numbers, style, range }));
        self.advance(len);
    }

    fn take_reference(&mut self, len: usize) {
        self.found.push(Item::Reference(self.at..self.at + len));
        self.advance(len);
    }

    /// A word of Latin letters: a month, a number, a currency, a word before a reference, or an identifier.
    fn word(&mut self) {
        let rest = self.rest();
        let name = words::letters(rest);
        let after = rest.get(name.len()..).unwrap_or_default();
        if !words::ends_word(after) {
            return match name {
                "fy" => self.take_or_skip_identifier(fiscal_year(rest, name.len())),
                _ => self.take_or_skip_identifier(dates::era_letter_date(rest)),
            };
        }
        if name == "fy"
            && let Some(parsed) = fiscal_year(rest, name.len() + 1).filter(|_| after.starts_with(' '))
        {
            return self.take(parsed, None, Style::Digits);
        }
        if let Some(parsed) = dates::english_month_first(rest) {
            return self.take(parsed, None, Style::Digits);
        }
        if let Some((value, len)) = words::number_words(rest) {
            return self.number_in_words(value, len);
        }
        if matches!(name, "usd" | "jpy" | "eur" | "gbp") && after.starts_with(' ') {
            let currency = match name {
                "usd" => "$",
                "jpy" => "円",
                "eur" => "€",
                _ => "£",
            };
            if let Some(parsed) = money_at(rest, name.len() + 1, currency) {
                return self.take(parsed, None, Style::Digits);
            }
        }
        if words::is_reference_word(name) {
            let gap = after.len() - after.trim_start_matches(['.', ' ', '#']).len();
            let reference = after.get(gap..).map_or(0, reference_len);
            if gap <= 3 && reference > 0 {
                self.advance(name.len() + gap);
                return self.take_reference(reference);
            }
        }
        self.take_or_skip_identifier(None);
    }

    fn take_or_skip_identifier(&mut self, parsed: Option<Parsed>) {
        match parsed {
            Some(parsed) => self.take(parsed, None, Style::Digits),
            None => self.advance(identifier_len(self.rest())),
        }
    }

    /// A number in English words, with a unit or without.
    fn number_in_words(&mut self, value: f64, len: usize) {
        let found = Number { value, len, style: Style::Words, plain_digits: 0, is_identifier: false };
        let after = self.rest().get(len..).unwrap_or_default();
        let next = after.strip_prefix([' ', '-']).map(words::letters).unwrap_or_default();
        if let Some(parts) = words::fraction(next).filter(|parts| value < *parts && value > 0.0) {
            let parsed = Parsed::new("%", value / parts * 100.0, NO_NUMBER, len + 1 + next.len());
            return self.take(parsed, None, Style::Words);
        }
        if let Some((parsed, unit)) = with_unit(self.rest(), &found) {
            return self.take(parsed, Some(unit), Style::Words);
        }
        match value >= 2.0 {
            true => self.take(Parsed::new("", value, value, len), None, Style::Words),
            // "One" is a pronoun.
            false => self.advance(len),
        }
    }

    /// Money after its sign.
    fn money(&mut self, sign: char) {
        let currency = match sign {
            '$' => "$",
            '€' => "€",
            '¥' => "円",
            _ => "£",
        };
        let gap = sign.len_utf8();
        let gap = gap + usize::from(self.rest().get(gap..).is_some_and(|rest| rest.starts_with(' ')));
        match money_at(self.rest(), gap, currency) {
            Some(parsed) => self.take(parsed, None, Style::Digits),
            None => self.advance(sign.len_utf8()),
        }
    }

    /// A number that begins with a digit or a Kanji numeral.
    fn number(&mut self) {
        let rest = self.rest();
        let Some(found) = number(rest) else {
            let len = rest.chars().next().map_or(1, char::len_utf8);
            return self.advance(len);
        };
        let after = rest.get(found.len..).unwrap_or_default();
        // 第3条 and #12 are references whatever follows.
        if matches!(self.before, Some('第' | '#' | '§')) {
            return self.take_reference(found.len);
        }
        if found.is_identifier {
            let date = dates::date(rest, &found);
            return match date {
                Some(parsed) => self.take(parsed, None, found.style),
                None => self.advance(
                    found.len + if after.starts_with(is_word_letter) { identifier_len(after) } else { 0 },
                ),
            };
        }
        if let Some(parsed) = dates::date(rest, &found) {
            return self.take_dated(parsed, &found);
        }
        if let Some(parsed) = time(rest).filter(|parsed| !self.is_temporary(&found, parsed)) {
            return self.take(parsed, None, found.style);
        }
        if let Some(parsed) = part_of(rest, &found).or_else(|| dates::slash(rest, &found)) {
            return self.take(parsed, None, found.style);
        }
        if let Some((parsed, unit)) = with_unit(rest, &found) {
            let first = unit_at(after, &found).map_or(parsed.len, |(_, len)| found.len + len);
            let word = kanji_words::word_at(rest, self.before, &found, unit, first)
                .filter(|_| found.style == Style::Kanji);
            // 数十人 is no number.
            let is_vague = self.before.is_some_and(|before| matches!(before, '数' | '何' | '幾'));
            return match word.or(is_vague.then_some(parsed.len)) {
                Some(len) => self.advance(len),
                None => self.take(parsed, Some(unit), found.style),
            };
        }
        self.number_without_unit(&found, after);
    }

    /// Takes a date, unless it is part of a word: 一月 after 同 is not January.
    fn take_dated(&mut self, parsed: Parsed, found: &Number) {
        let is_word =
            found.style == Style::Kanji && matches!(self.before, Some('同' | '統' | '唯' | '数' | '何'));
        match is_word {
            true => self.advance(parsed.len),
            false => self.take(parsed, None, found.style),
        }
    }

    /// Whether 一時 means "temporarily" rather than one o'clock.
    fn is_temporary(&self, found: &Number, parsed: &Parsed) -> bool {
        found.style == Style::Kanji && self.rest().starts_with("一時") && parsed.len == "一時".len()
    }

    /// A number that no unit follows: a reference, an identifier, a word, or a plain number.
    fn number_without_unit(&mut self, found: &Number, after: &str) {
        if found.style == Style::Kanji {
            let run = kanji_run(self.rest()).max(found.len);
            return self.advance(run);
        }
        let is_reference = REFERENCE_SIGNS.iter().any(|sign| after.starts_with(sign))
            || self.text.get(..self.at).is_some_and(|before| {
                let before = before.strip_suffix(' ').unwrap_or(before);
                REFERENCE_PREFIXES.split(' ').any(|prefix| before.ends_with(prefix))
            });
        if is_reference {
            return self.take_reference(found.len);
        }
        if after.starts_with(is_word_letter) {
            // `5th`, `3d`, `4k`: part of a name.
            return self.advance(found.len + identifier_len(after));
        }
        self.take(Parsed::new("", found.value, found.value, found.len), None, found.style);
    }
}

const fn is_word_letter(ch: char) -> bool {
    ch.is_ascii_lowercase() || ch == '_'
}

/// The length of the identifier that a text begins with: a word with the hyphens, points and slashes inside it, such as
/// `utf-8`, `v1.2` and `https://example.com/2026`.
fn identifier_len(text: &str) -> usize {
    let mut len = word_len(text);
    let mut has_digit = text.get(..len).is_some_and(|word| word.contains(|ch: char| ch.is_ascii_digit()));
    let mut is_path = false;
    loop {
        let rest = text.get(len..).unwrap_or_default();
        if let Some(address) = rest.strip_prefix("://") {
            let end = address.find(|ch: char| ch.is_whitespace() || !ch.is_ascii() || "<>\"`)".contains(ch));
            return len + 3 + end.unwrap_or(address.len());
        }
        let mut letters = rest.chars();
        let (Some(joint), Some(next)) = (letters.next(), letters.next()) else { return len.max(1) };
        let joins = match (joint, next) {
            ('-' | '@', next) => next.is_ascii_alphanumeric(),
            ('.', next) => next.is_ascii_lowercase() || (has_digit || is_path) && next.is_ascii_digit(),
            ('/', next) => next.is_ascii_lowercase() || is_path && next.is_ascii_digit(),
            _ => false,
        };
        if !joins {
            return len.max(1);
        }
        let word = word_len(rest.get(1..).unwrap_or_default());
        has_digit |= rest.get(1..=word).is_some_and(|word| word.contains(|ch: char| ch.is_ascii_digit()));
        is_path |= joint != '-';
        len += 1 + word;
    }
}

/// The length of the number of a section: `3`, `4.2`, `3-9`.
fn reference_len(text: &str) -> usize {
    let mut len = 0;
    loop {
        let rest = text.get(len..).unwrap_or_default();
        let digits = rest.find(|ch: char| !ch.is_ascii_digit()).unwrap_or(rest.len());
        if digits == 0 {
            return len;
        }
        len += digits;
        let after = text.get(len..).unwrap_or_default();
        let mut letters = after.chars();
        let goes_on =
            matches!(letters.next(), Some('.' | '-')) && letters.next().is_some_and(|ch| ch.is_ascii_digit());
        if !goes_on {
            return len;
        }
        len += 1;
    }
}
