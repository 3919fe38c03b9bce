//! Dates, months, years and times of day, in Japanese, in English and with digits.

use std::ops::RangeInclusive;

use super::digits::{digit, digit_run};
use super::numerals::{Number, number};
use super::words::{ends_word, letters, month};

/// The unit of a full date, whose value is `yyyymmdd`.
pub const DATE: &str = "date";
/// The unit of a month of a year, whose value is `yyyymm`.
pub const YEAR_MONTH: &str = "month of a date";
/// The unit of a day that comes every year, whose value is `mmdd`.
pub const YEAR_DAY: &str = "day of a year";
/// The unit of a month that comes every year, whose value is its number.
pub const MONTH: &str = "month of a year";
/// The unit of a year of the calendar.
pub const YEAR: &str = "calendar year";
/// The unit of a fiscal year.
pub const FISCAL_YEAR: &str = "fiscal year";
/// The unit of a time of day, whose value is in minutes.
pub const TIME: &str = "time";
/// The unit of two numbers with a slash between them, which may be a day or a fraction. The value is the first one times
/// a million plus the second.
pub const SLASH: &str = "slash";

/// A value that a text begins with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parsed {
    /// Its unit.
    pub unit: &'static str,
    /// Its value in that unit.
    pub value: f64,
    /// The numbers that it is written with; those that it does not have are not a number.
    pub numbers: [f64; 3],
    /// Its length in bytes.
    pub len: usize,
}

/// Several of the numbers that a value may lack.
pub const NO_NUMBER: f64 = f64::NAN;

impl Parsed {
    pub const fn new(unit: &'static str, value: f64, number: f64, len: usize) -> Self {
        Self { unit, value, numbers: [number, NO_NUMBER, NO_NUMBER], len }
    }

    /// A date, or the part of it that is known. Without a valid month it is none.
    fn date(year: Option<f64>, month: Option<f64>, day: Option<f64>, len: usize) -> Option<Self> {
        let month = month.filter(|month| (1.0..=12.0).contains(month));
        let day = day.filter(|day| (1.0..=31.0).contains(day));
        let (unit, value) = match (year, month, day) {
            (Some(year), Some(month), Some(day)) => (DATE, year * 10_000.0 + month * 100.0 + day),
            (Some(year), Some(month), None) => (YEAR_MONTH, year * 100.0 + month),
            (None, Some(month), Some(day)) => (YEAR_DAY, month * 100.0 + day),
            (None, Some(month), None) => (MONTH, month),
            (Some(year), None, None) => (YEAR, year),
            _ => return None,
        };
        let known = |part: Option<f64>| part.unwrap_or(NO_NUMBER);
        let first = known(year.or(month));
        let numbers =
            if year.is_some() { [first, known(month), known(day)] } else { [first, known(day), NO_NUMBER] };
        Some(Self { unit, value, numbers, len })
    }
}

/// A whole number with a sign of the calendar after it, such as `4月`, and the length of both.
pub fn part(text: &str, sign: &str, values: RangeInclusive<f64>) -> Option<(f64, usize)> {
    let gap = usize::from(text.starts_with(' '));
    let found = number(text.get(gap..)?)?;
    let after = text.get(gap + found.len..)?;
    let space =
        usize::from(after.starts_with(' ') && after.get(1..).is_some_and(|after| after.starts_with(sign)));
    let fits = !found.is_identifier && values.contains(&found.value) && found.value.fract() == 0.0;
    (fits && after.get(space..)?.starts_with(sign))
        .then_some((found.value, gap + found.len + space + sign.len()))
}

/// The month and the day that follow a year, and the length of both.
fn month_and_day(text: &str) -> (Option<f64>, Option<f64>, usize) {
    let Some((month, len)) = part(text, "月", 1.0..=12.0) else { return (None, None, 0) };
    let day = text.get(len..).and_then(|rest| part(rest, "日", 1.0..=31.0));
    // 4月1日間 is a span.
    let day = day.filter(|(_, day)| !text.get(len + day..).is_some_and(|rest| rest.starts_with('間')));
    (Some(month), day.map(|(day, _)| day), len + day.map_or(0, |(_, day)| day))
}

/// The date that follows `年`: a year, with or without a month and a day, or a fiscal year.
fn date_of_year(year: f64, text: &str, len: usize) -> Option<Parsed> {
    if text.starts_with('度') {
        return Some(Parsed {
            unit: FISCAL_YEAR,
            ..Parsed::new(FISCAL_YEAR, year, year, len + '度'.len_utf8())
        });
    }
    let (month, day, more) = month_and_day(text);
    Parsed::date(Some(year), month, day, len + more)
}

/// The Japanese eras: name, letter, and the year before the first.
const ERAS: [(&str, char, f64); 5] = [
    ("令和", 'r', 2018.0),
    ("平成", 'h', 1988.0),
    ("昭和", 's', 1925.0),
    ("大正", 't', 1911.0),
    ("明治", 'm', 1867.0),
];

/// A date with a Japanese era: `令和8年4月1日`, `平成元年度`, `令和8.4.1`.
pub fn era_date(text: &str) -> Option<Parsed> {
    let (name, _, before) = ERAS.iter().find(|(name, ..)| text.starts_with(name))?;
    let start = name.len() + usize::from(text.get(name.len()..)?.starts_with(' '));
    let rest = text.get(start..)?;
    let (count, len) = match rest.strip_prefix("元") {
        Some(_) => (1.0, "元".len()),
        None => number(rest).filter(is_era_year).map(|found| (found.value, found.len))?,
    };
    let after = rest.get(len..)?;
    let gap = usize::from(after.starts_with(' ') && after.starts_with(" 年"));
    match after.get(gap..)?.strip_prefix('年') {
        Some(after) => date_of_year(before + count, after, start + len + gap + '年'.len_utf8()),
        None => era_digits(rest, *before).map(|found| Parsed { len: start + found.len, ..found }),
    }
}

/// The same with the letter of the era: `r8.4.1`, `h30年4月`. The text must begin a word.
pub fn era_letter_date(text: &str) -> Option<Parsed> {
    let first = text.chars().next()?;
    let (.., before) = ERAS.iter().find(|(_, letter, _)| *letter == first)?;
    let rest = text.get(1..)?;
    if let Some(found) = era_digits(rest, *before) {
        return Some(Parsed { len: found.len + 1, ..found });
    }
    let count = number(rest).filter(is_era_year)?;
    let after = rest.get(count.len..)?.strip_prefix('年')?;
    date_of_year(before + count.value, after, 1 + count.len + '年'.len_utf8())
}

fn is_era_year(number: &Number) -> bool {
    !number.is_identifier && (1.0..=99.0).contains(&number.value) && number.value.fract() == 0.0
}

/// `8.4.1`, after an era.
fn era_digits(text: &str, before: f64) -> Option<Parsed> {
    let (year, month, day, len) = three_numbers(text, ['.', '/', '-'])?;
    Parsed::date(Some(before + year), Some(month), Some(day), len)
        .filter(|found| found.unit == DATE && year < 100.0)
}

/// The digits that a text begins with, at most four.
fn few_digits(text: &str) -> Option<(f64, usize)> {
    let (mut value, mut len, mut count) = (0.0, 0, 0);
    for ch in text.chars() {
        let Some(digit) = digit(ch) else { break };
        value = value * 10.0 + f64::from(digit);
        len += ch.len_utf8();
        count += 1;
        if count > 4 {
            return None;
        }
    }
    (count > 0).then_some((value, len))
}

/// Three numbers with the same separator between them, and not more.
fn three_numbers(text: &str, separators: [char; 3]) -> Option<(f64, f64, f64, usize)> {
    let (first, one) = few_digits(text)?;
    let separator = text.get(one..)?.chars().next().filter(|ch| separators.contains(ch))?;
    let (second, two) = few_digits(text.get(one + 1..)?)?;
    let after = text.get(one + 1 + two..)?.strip_prefix(separator)?;
    let (third, three) = few_digits(after)?;
    let rest = after.get(three..)?;
    let goes_on = rest.strip_prefix(separator).is_some_and(|rest| rest.starts_with(|ch| digit(ch).is_some()));
    (!goes_on).then_some((first, second, third, one + 1 + two + 1 + three))
}

/// A date that begins with a number: `2026-04-01`, `2026年4月1日`, `4月1日`, `4/1/2026`, `1 april 2026`.
pub fn date(text: &str, first: &Number) -> Option<Parsed> {
    if let Some((one, two, three, len)) = three_numbers(text, ['-', '/', '.']) {
        let is_slash = text.get(..len).is_some_and(|text| text.contains('/'));
        let (year, month, day) = match (one, two, three) {
            (year, month, day) if year >= 1000.0 => (year, month, day),
            (month, day, year) if is_slash && year >= 1000.0 && month <= 12.0 => (year, month, day),
            (day, month, year) if is_slash && year >= 1000.0 => (year, month, day),
            _ => (0.0, 0.0, 0.0),
        };
        if let Some(found) =
            Parsed::date(Some(year), Some(month), Some(day), len).filter(|found| found.unit == DATE)
        {
            let end = text.get(len..).is_some_and(|rest| rest.starts_with('日')).then_some('日'.len_utf8());
            return Some(Parsed { len: len + end.unwrap_or(0), ..found });
        }
    }
    let rest = text.get(first.len..)?;
    let is_year =
        (1600.0..3000.0).contains(&first.value) && first.value.fract() == 0.0 && !first.is_identifier;
    if is_year {
        let gap = usize::from(rest.starts_with(" 年"));
        if let Some(after) = rest.get(gap..)?.strip_prefix('年')
            && !after.starts_with(['間', '以', '未', '代'])
        {
            return date_of_year(first.value, after, first.len + gap + '年'.len_utf8());
        }
        if first.plain_digits == 4 {
            return year_and_month(first, rest);
        }
    }
    if let (Some(month), day, len) = month_and_day(text) {
        return Parsed::date(None, Some(month), day, len);
    }
    english_day_first(text, first)
}

/// `2026-04`, and `2026/04`.
fn year_and_month(year: &Number, rest: &str) -> Option<Parsed> {
    let (month, len) = few_digits(rest.strip_prefix(['-', '/'])?)?;
    let after = rest.get(1 + len..)?;
    let ends = !after
        .starts_with(|ch: char| digit(ch).is_some() || matches!(ch, '-' | '/') || ch.is_ascii_lowercase());
    (len == 2 && ends)
        .then(|| Parsed::date(Some(year.value), Some(month), None, year.len + 1 + len))
        .flatten()
}

/// The year that may follow a day of a month: ` 2026`, `, 2026`.
fn year_after(text: &str) -> Option<(f64, usize)> {
    let after = text.strip_prefix(',').unwrap_or(text);
    let after = after.strip_prefix(' ').filter(|_| !after.is_empty())?;
    let (year, len) = few_digits(after)?;
    let rest = after.get(len..)?;
    let fits =
        len == 4 && (1600.0..3000.0).contains(&year) && ends_word(rest) && !rest.starts_with([':', '-', '/']);
    fits.then_some((year, text.len() - rest.len()))
}

/// The length of `st`, `nd`, `rd` or `th`.
pub fn ordinal_suffix(text: &str) -> usize {
    let is_ordinal = ["st", "nd", "rd", "th"].iter().any(|suffix| text.starts_with(suffix));
    if is_ordinal && text.get(2..).is_some_and(ends_word) { 2 } else { 0 }
}

/// `1 april 2026`, `1st of april`.
fn english_day_first(text: &str, first: &Number) -> Option<Parsed> {
    if !(1..=2).contains(&first.plain_digits) {
        return None;
    }
    let mut len = first.len + ordinal_suffix(text.get(first.len..)?);
    let rest = text.get(len..)?.strip_prefix([' ', '-'])?;
    let rest = rest.strip_prefix("of ").unwrap_or(rest);
    let name = letters(rest);
    let (month, _) = month(name)?;
    let after = rest.get(name.len()..)?;
    let after = after.strip_prefix('.').filter(|_| name.len() <= 4).unwrap_or(after);
    if !ends_word(after) {
        return None;
    }
    len = text.len() - after.len();
    let year = year_after(after);
    let found = Parsed::date(
        year.map(|(year, _)| year),
        Some(month),
        Some(first.value),
        len + year.map_or(0, |(_, len)| len),
    );
    found.filter(|found| matches!(found.unit, DATE | YEAR_DAY))
}

/// A date that begins with the name of a month: `april 1st, 2026`, `apr 1`, `april 2026`, `april`.
pub fn english_month_first(text: &str) -> Option<Parsed> {
    let name = letters(text);
    let (month, is_certain) = month(name)?;
    let after = text.get(name.len()..)?;
    let dot = usize::from(after.starts_with(". ") && name.len() <= 4);
    let after = after.get(dot..)?;
    let start = name.len() + dot;
    if let Some((year, len)) = year_after(after) {
        return Parsed::date(Some(year), Some(month), None, start + len);
    }
    let day = after.strip_prefix([' ', '-']).and_then(few_digits);
    let Some((day, len)) = day.filter(|(day, _)| (1.0..=31.0).contains(day)) else {
        return (is_certain && ends_word(after))
            .then(|| Parsed::date(None, Some(month), None, name.len()))
            .flatten();
    };
    let rest = after.get(1 + len..)?;
    let suffix = ordinal_suffix(rest);
    let rest = rest.get(suffix..)?;
    // "You may 30 days" has no date, and "march 3.5" neither.
    let goes_on = !ends_word(rest) || rest.starts_with(['%', ':']) || is_decimal(rest);
    let is_unit = !is_certain
        && name.len() > 3
        && letters(rest.strip_prefix(' ').unwrap_or_default()).len() > 2
        && suffix == 0;
    if goes_on || is_unit {
        return None;
    }
    let year = year_after(rest);
    let len = start + 1 + len + suffix + year.map_or(0, |(_, len)| len);
    Parsed::date(year.map(|(year, _)| year), Some(month), Some(day), len)
}

/// Whether a text goes on with decimals.
fn is_decimal(text: &str) -> bool {
    text.strip_prefix(['.', ',']).is_some_and(|rest| rest.starts_with(|ch| digit(ch).is_some()))
}

/// Two small numbers with a slash between them: `4/1`, `2/3`.
pub fn slash(text: &str, first: &Number) -> Option<Parsed> {
    let rest = text.get(first.len..)?.strip_prefix('/')?;
    let second = digit_run(rest).filter(|run| run.is_plain && run.digits <= 4)?;
    let after = rest.get(second.len..)?;
    let ends = ends_word(after) && !after.starts_with('/');
    ((1..=4).contains(&first.plain_digits) && ends && second.value > 0.0).then(|| Parsed {
        unit: SLASH,
        value: first.value * 1e6 + second.value,
        numbers: [first.value, second.value, NO_NUMBER],
        len: first.len + 1 + second.len,
    })
}
