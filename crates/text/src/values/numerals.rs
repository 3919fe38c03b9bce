//! Numbers as they are written: digits, Kanji numerals, both together (`3万5000`, `1億2千万`), and English words.

use std::sync::LazyLock;

use annai_language::JAPANESE;

use super::digits::digits;
use super::value::{Number, Style};
use super::words::{Meaning, ends_word, letters, meaning};

/// The digits of this value are too many for another one, as in `二〇二六`.
const MAX_KANJI_DIGITS: f64 = 1e14;

/// The Kanji numerals with their values, sorted as the map is.
static NUMERALS: LazyLock<Vec<(char, f64)>> = LazyLock::new(|| {
    let numerals = JAPANESE.numerals.iter();
    numerals.filter_map(|(kanji, value)| Some((kanji.chars().next()?, *value))).collect()
});

/// The value of a Kanji numeral: a digit below 10, a multiplier such as 十, or from 10,000 on what ends a group.
fn numeral(ch: char) -> Option<f64> {
    if !matches!(ch, '〇' | '一'..='龥') {
        return None;
    }
    let index = NUMERALS.binary_search_by_key(&ch, |(kanji, _)| *kanji).ok()?;
    NUMERALS.get(index).map(|(_, value)| *value)
}

/// Whether a number can begin with this Kanji.
pub fn is_kanji_start(ch: char) -> bool {
    numeral(ch).is_some_and(|value| value < 1e4)
}

/// A text without the Kanji numerals that it begins with.
pub fn after_kanji(text: &str) -> &str {
    text.trim_start_matches(|ch| numeral(ch).is_some())
}

/// The part that a number begins with, or goes on with after another one: a run of digits, a Kanji numeral or an English
/// word.
fn part(text: &str, before: Option<Number>) -> Option<(Number, &str)> {
    let new = |value, style| Number { value, style, plain_digits: 0, is_identifier: false };
    let first = text.chars().next()?;
    if let Some(value) = numeral(first) {
        return Some((new(value, Style::Kanji), text.get(first.len_utf8()..)?));
    }
    digits(text).or_else(|| {
        let word = match before {
            None => text,
            Some(before) if before.style == Style::Kanji => return None,
            Some(before) => {
                let word = text.strip_prefix([' ', '-'])?;
                // One hundred and five.
                let is_hundred = before.style == Style::Words && before.value >= 100.0;
                word.strip_prefix("and ").filter(|_| is_hundred).unwrap_or(word)
            }
        };
        let (word, rest) = letters(word);
        match (meaning(word).filter(|_| ends_word(rest))?, before) {
            (Meaning::Number(value), _) | (Meaning::Scale(value), Some(_)) => {
                Some((new(value, Style::Words), rest))
            }
            _ => None,
        }
    })
}

/// The number that a text begins with, and the rest. English words are numbers only at the beginning of a word.
pub fn number(text: &str) -> Option<(Number, &str)> {
    let (mut total, mut group, mut last_end) = (0.0_f64, 0.0_f64, f64::INFINITY);
    // The digits that no multiplier follows yet, and how they are written.
    let mut pending: Option<(f64, Style)> = None;
    let (mut found, mut before, mut rest): (Option<Number>, _, _) = (None, None, text);
    while let Some((next, after)) = part(rest, before) {
        let Number { value, style, .. } = next;
        // From here on a part multiplies the digits before it, and from there on the whole group.
        let (multiplier, group_end) = match style {
            Style::Digits => (f64::INFINITY, f64::INFINITY),
            Style::Kanji => (10.0, 1e4),
            Style::Words => (100.0, 1e3),
        };
        let digits = pending.map_or(0.0, |(digits, _)| digits);
        if value < multiplier {
            let joined = match pending {
                None => value,
                // 二〇二六 and twenty-one.
                Some((_, Style::Kanji)) if style == Style::Kanji && digits < MAX_KANJI_DIGITS => {
                    digits * 10.0 + value
                }
                Some((_, Style::Words))
                    if digits >= 20.0 && digits % 10.0 == 0.0 && (1.0..10.0).contains(&value) =>
                {
                    digits + value
                }
                Some(_) => break,
            };
            pending = Some((joined, style));
        } else if value < group_end {
            group += pending.take().map_or(1.0, |(digits, _)| digits) * value;
        } else {
            if group + digits == 0.0 || value >= last_end {
                break;
            }
            total += (group + digits) * value;
            (group, pending, last_end) = (0.0, None, value);
        }
        let joined = |found| Number { plain_digits: 0, ..if style == Style::Digits { next } else { found } };
        found = Some(found.map_or(next, joined));
        (before, rest) = (Some(next), after);
    }
    let value = total + group + pending.map_or(0.0, |(digits, _)| digits);
    Some((Number { value, ..found? }, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kanji_numeral;

    fn value_and_len(text: &str) -> Option<(f64, usize)> {
        number(text).map(|(found, rest)| (found.value, text.len() - rest.len()))
    }

    #[test]
    fn numbers_are_read_in_every_notation() {
        for (text, value, len) in [
            ("三十日", 30.0, 6),
            ("三〇日", 30.0, 6),
            ("3万5000円", 35_000.0, 8),
            ("1億2千万円", 120_000_000.0, 11),
            ("2.5億", 250_000_000.0, 6),
            ("百二十三万四千五百六十七", 1_234_567.0, 36),
            ("壱百弐拾参", 123.0, 15),
            ("20千円", 20_000.0, 5),
            ("二〇二六年", 2026.0, 12),
            ("5千5百円", 5500.0, 8),
            ("二3", 2.0, 3),
        ] {
            assert_eq!(value_and_len(text), Some((value, len)), "{text}");
        }
        assert_eq!((number("万一"), number("円"), number("")), (None, None, None));
    }

    #[test]
    fn numbers_in_words_have_their_value_and_end_where_they_end() {
        for (text, value, len) in [
            ("two weeks", 2.0, 3),
            ("twenty-one days", 21.0, 10),
            ("one hundred and fifty days", 150.0, 21),
            ("one hundred", 100.0, 11),
            ("two thousand five hundred", 2500.0, 25),
            ("three million and two", 3_000_002.0, 21),
            ("five and six", 5.0, 4),
            ("two three", 2.0, 3),
            ("sixty", 60.0, 5),
        ] {
            assert_eq!(value_and_len(text), Some((value, len)), "{text}");
        }
        for text in ["weeks", "hundred", "tend", "ones", "", "and two"] {
            assert_eq!(value_and_len(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_kanji_numeral_has_its_value(value in 1_u64..=9999) {
            for numeral in kanji_numeral(value) {
                prop_assert_eq!(number(&numeral).map(|(number, _)| number.value), Some(value as f64), "{}", numeral);
            }
        }
    }
}
