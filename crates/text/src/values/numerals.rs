//! Numbers as they are written: digits, Kanji numerals, and both together (`3万5000`, `1億2千万`).

use super::digits::digit_run;

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// It contains digits.
    Digits,
    /// It consists of Kanji numerals only, which are also parts of words.
    Kanji,
    /// It is written in English words.
    Words,
}

/// A number in a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number {
    /// Its value.
    pub value: f64,
    /// Its length in bytes.
    pub len: usize,
    /// How it is written.
    pub style: Style,
    /// The number of digits, for a number that consists of digits only; otherwise 0.
    pub plain_digits: usize,
    /// Whether it is an identifier rather than a number.
    pub is_identifier: bool,
}

/// A Kanji numeral.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Numeral {
    Digit(f64),
    /// 十, 百 or 千.
    Multiplier(f64),
    /// 万, 億, 兆 or 京.
    Myriad(f64),
}

const fn numeral(ch: char) -> Option<Numeral> {
    Some(match ch {
        '〇' | '零' => Numeral::Digit(0.0),
        '一' | '壱' | '壹' => Numeral::Digit(1.0),
        '二' | '弐' | '貳' => Numeral::Digit(2.0),
        '三' | '参' | '參' => Numeral::Digit(3.0),
        '四' | '肆' => Numeral::Digit(4.0),
        '五' | '伍' => Numeral::Digit(5.0),
        '六' | '陸' => Numeral::Digit(6.0),
        '七' | '漆' => Numeral::Digit(7.0),
        '八' | '捌' => Numeral::Digit(8.0),
        '九' | '玖' => Numeral::Digit(9.0),
        '十' | '拾' => Numeral::Multiplier(10.0),
        '百' | '佰' => Numeral::Multiplier(100.0),
        '千' | '阡' | '仟' => Numeral::Multiplier(1000.0),
        '万' | '萬' => Numeral::Myriad(1e4),
        '億' => Numeral::Myriad(1e8),
        '兆' => Numeral::Myriad(1e12),
        '京' => Numeral::Myriad(1e16),
        _ => return None,
    })
}

/// Whether a number can begin with this Kanji.
pub const fn is_kanji_start(ch: char) -> bool {
    matches!(numeral(ch), Some(Numeral::Digit(_) | Numeral::Multiplier(_)))
}

/// The length of the Kanji numerals that a text begins with.
pub fn kanji_run(text: &str) -> usize {
    text.find(|ch| numeral(ch).is_none()).unwrap_or(text.len())
}

/// The most Kanji digits in a row, as in `二〇二六`.
const MAX_KANJI_DIGITS: usize = 15;

/// The number that a text begins with.
pub fn number(text: &str) -> Option<Number> {
    let (mut total, mut group, mut last_myriad) = (0.0_f64, 0.0_f64, f64::INFINITY);
    // The digits that no multiplier follows yet, and how many Kanji they are; 0 for digits.
    let mut pending: Option<(f64, usize)> = None;
    let (mut len, mut has_digits, mut has_kanji, mut plain_digits) = (0, false, false, 0);
    let mut is_identifier = false;
    while let Some(ch) = text.get(len..).and_then(|rest| rest.chars().next()) {
        match numeral(ch) {
            None => {
                let rest = text.get(len..).unwrap_or_default();
                // Digits follow the beginning, or a multiplier: 3万5000.
                let Some(run) = digit_run(rest).filter(|_| pending.is_none()) else { break };
                is_identifier |= run.is_identifier;
                plain_digits = if run.is_plain && len == 0 { run.digits } else { 0 };
                pending = Some((run.value, 0));
                has_digits = true;
                len += run.len;
                continue;
            }
            Some(Numeral::Digit(value)) => match &mut pending {
                None => pending = Some((value, 1)),
                Some((digits, kanji)) if *kanji > 0 && *kanji < MAX_KANJI_DIGITS => {
                    *digits = *digits * 10.0 + value;
                    *kanji += 1;
                }
                Some(_) => break,
            },
            Some(Numeral::Multiplier(unit)) => group += pending.take().map_or(1.0, |(value, _)| value) * unit,
            Some(Numeral::Myriad(unit)) => {
                let count = group + pending.map_or(0.0, |(value, _)| value);
                if count == 0.0 || unit >= last_myriad {
                    break;
                }
                total += count * unit;
                (group, pending, last_myriad) = (0.0, None, unit);
            }
        }
        has_kanji = true;
        len += ch.len_utf8();
    }
    let style = if has_digits { Style::Digits } else { Style::Kanji };
    let value = total + group + pending.map_or(0.0, |(value, _)| value);
    let plain_digits = if has_kanji { 0 } else { plain_digits };
    (len > 0).then_some(Number { value, len, style, plain_digits, is_identifier })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kanji_numeral;

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
            let found = number(text).unwrap();
            assert_eq!((found.value, found.len), (value, len), "{text}");
        }
        assert_eq!((number("万一"), number("円"), number("")), (None, None, None));
    }

    proptest! {
        #[test]
        fn every_kanji_numeral_has_its_value(value in 1_u64..=9999) {
            for numeral in kanji_numeral(value) {
                prop_assert_eq!(number(&numeral).map(|number| number.value), Some(value as f64), "{}", numeral);
            }
        }
    }
}
