//! Dates, months and years, in Japanese, in English and with digits.

use std::ops::RangeInclusive;

use annai_language::{ENGLISH, JAPANESE};

use super::digits::{few_digits, starts_with_digit};
use super::numerals::number;
use super::value::{Amount, NO_NUMBER, Number, Parsed};
use super::words::{Meaning, after_any, after_sign, ends_word, letters, meaning, unspaced};

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

const MONTHS: RangeInclusive<f64> = 1.0..=12.0;
const DAYS: RangeInclusive<f64> = 1.0..=31.0;

/// Whether a number may be a year of the calendar. Smaller and larger ones are amounts.
fn is_year(value: f64) -> bool {
    (1600.0..3000.0).contains(&value) && value.fract() == 0.0
}

/// A date, or the part of it that is known.
fn partial_date(year: Option<f64>, month: Option<f64>, day: Option<f64>, rest: &str) -> Option<Parsed<'_>> {
    let is_valid =
        month.is_none_or(|month| MONTHS.contains(&month)) && day.is_none_or(|day| DAYS.contains(&day));
    let unit = match (year, month, day) {
        (Some(_), Some(_), Some(_)) => DATE,
        (Some(_), Some(_), None) => YEAR_MONTH,
        (None, Some(_), Some(_)) => YEAR_DAY,
        (None, Some(_), None) => MONTH,
        (Some(_), None, None) => YEAR,
        _ => return None,
    };
    let known = || [year, month, day].into_iter().flatten();
    let mut numbers = [NO_NUMBER; 3];
    numbers.iter_mut().zip(known()).for_each(|(slot, number)| *slot = number);
    let value = known().fold(0.0, |value, number| value * 100.0 + number);
    is_valid.then_some((Amount::of_numbers(unit, value, numbers), rest))
}

/// A whole number within a range, and the rest.
fn whole_number(text: &str, values: RangeInclusive<f64>) -> Option<(f64, &str)> {
    let (Number { value, is_identifier, .. }, rest) = number(text)?;
    (!is_identifier && values.contains(&value) && value.fract() == 0.0).then_some((value, rest))
}

/// A whole number with a sign of the calendar or the clock after it, such as `4月`, and the rest.
pub fn part<'a>(text: &'a str, sign: &str, values: RangeInclusive<f64>) -> Option<(f64, &'a str)> {
    let (value, rest) = whole_number(unspaced(text), values)?;
    Some((value, after_sign(unspaced(rest), sign)?))
}

/// A month that a text begins with, with or without a day, or else only the year before it.
fn month_and_day(year: Option<f64>, text: &str) -> Option<Parsed<'_>> {
    let (month, after_month) = part(text, "月", MONTHS).unzip();
    let (day, after_day) = after_month.and_then(|rest| part(rest, "日", DAYS)).unzip();
    partial_date(year, month, day, after_day.or(after_month).unwrap_or(text))
}

/// The date that follows `年`, or the fiscal year.
fn date_of_year(year: f64, text: &str) -> Option<Parsed<'_>> {
    let fiscal = text.strip_prefix('度').map(|rest| (Amount::new(FISCAL_YEAR, year), rest));
    fiscal.or_else(|| month_and_day(Some(year), text))
}

/// The number of a fiscal year, as in `fy2026`.
pub fn fiscal_year(text: &str) -> Option<Parsed<'_>> {
    let (year, rest) = number(text)?;
    (year.plain_digits == 4 && year.value >= 1600.0).then(|| (Amount::new(FISCAL_YEAR, year.value), rest))
}

/// A date with a Japanese era: `令和8年4月1日`, `平成元年度`, `令和8.4.1`, `r8.4.1`. The text must begin a word.
pub fn era_date(text: &str) -> Option<Parsed<'_>> {
    let mut eras = JAPANESE.eras.iter();
    let (before, rest) =
        eras.find_map(|(era, before)| Some((before, unspaced(text.strip_prefix(era.as_str())?))))?;
    if let Some(([year, month, day], _, rest)) = three_numbers(rest)
        && year < 100.0
    {
        return partial_date(Some(before + year), Some(month), Some(day), rest);
    }
    let first = rest.strip_prefix('元').map(|rest| (1.0, rest));
    let (count, rest) = first.or_else(|| whole_number(rest, 1.0..=99.0))?;
    date_of_year(before + count, unspaced(rest).strip_prefix('年')?)
}

/// Three numbers with the same separator between them, and not more.
fn three_numbers(text: &str) -> Option<([f64; 3], char, &str)> {
    let (first, rest) = few_digits(text)?;
    let separator = rest.chars().next().filter(|ch| matches!(ch, '.' | '/' | '-'))?;
    let (second, rest) = few_digits(rest.strip_prefix(separator)?)?;
    let (third, rest) = few_digits(rest.strip_prefix(separator)?)?;
    let goes_on = rest.strip_prefix(separator).is_some_and(starts_with_digit);
    (!goes_on).then_some(([first, second, third], separator, rest))
}

/// A date that begins with a number: `2026-04-01`, `2026年4月1日`, `4月1日`, `4/1/2026`, `1 april 2026`.
pub fn date<'a>(text: &'a str, first: &Number, after: &'a str) -> Option<Parsed<'a>> {
    all_digits(text)
        .or_else(|| beginning_with_year(first, after))
        .or_else(|| month_and_day(None, text))
        .or_else(|| day_first(first, after))
}

/// `2026-04-01`, `4/1/2026`, `2026.4.1`.
fn all_digits(text: &str) -> Option<Parsed<'_>> {
    let ([one, two, three], separator, rest) = three_numbers(text)?;
    let [year, month, day] = match separator {
        _ if one >= 1000.0 => [one, two, three],
        '/' if three >= 1000.0 && one <= 12.0 => [three, one, two],
        '/' if three >= 1000.0 => [three, two, one],
        _ => return None,
    };
    partial_date(Some(year), Some(month), Some(day), rest.strip_prefix('日').unwrap_or(rest))
}

/// `2026年4月1日`, `2026-04`.
fn beginning_with_year<'a>(year: &Number, after: &'a str) -> Option<Parsed<'a>> {
    if year.is_identifier || !is_year(year.value) {
        return None;
    }
    if let Some(rest) = after_sign(unspaced(after), "年") {
        return date_of_year(year.value, rest);
    }
    let digits = after.strip_prefix(['-', '/']).filter(|_| year.plain_digits == 4)?;
    let (month, rest) = few_digits(digits)?;
    let has_two_digits = digits.len() - rest.len() == 2;
    let ends = ends_word(rest) && !starts_with_digit(rest) && !rest.starts_with(['-', '/']);
    (has_two_digits && ends).then(|| partial_date(Some(year.value), Some(month), None, rest)).flatten()
}

/// The year that may follow a day of a month, as in ` 2026` and `, 2026`, and the rest.
fn year_after(text: &str) -> Option<(f64, &str)> {
    let (year, rest) = few_digits(text.strip_prefix(',').unwrap_or(text).strip_prefix(' ')?)?;
    let fits = is_year(year) && ends_word(rest) && !rest.starts_with([':', '-', '/']);
    fits.then_some((year, rest))
}

/// A month in English, with or without its day and the year behind it.
fn english_date(month: f64, day: Option<f64>, rest: &str) -> Option<Parsed<'_>> {
    let (year, after_year) = year_after(rest).unzip();
    partial_date(year, Some(month), day, after_year.unwrap_or(rest))
}

/// A text without the end of the number of a day: `st`, `nd`, `rd`, `th`.
fn after_ordinal(text: &str) -> &str {
    after_any(text, &ENGLISH.ordinal_suffixes).filter(|rest| ends_word(rest)).unwrap_or(text)
}

/// A month by its name, whether the name means nothing else, and the rest without the point of an abbreviation.
fn month_name(text: &str) -> Option<(f64, bool, &str)> {
    let (name, rest) = letters(text);
    let Meaning::Month(month, is_certain) = meaning(name).filter(|_| ends_word(rest))? else { return None };
    let point = rest.strip_prefix('.').filter(|rest| !is_certain && name.len() <= 4 && rest.starts_with(' '));
    Some((month, is_certain, point.unwrap_or(rest)))
}

/// `1 april 2026`, `1st of april`.
fn day_first<'a>(day: &Number, after: &'a str) -> Option<Parsed<'a>> {
    let rest =
        after_ordinal(after).strip_prefix([' ', '-']).filter(|_| (1..=2).contains(&day.plain_digits))?;
    let (month, _, rest) = month_name(rest.strip_prefix("of ").unwrap_or(rest))?;
    english_date(month, Some(day.value), rest)
}

/// A date that begins with the name of a month: `april 1st, 2026`, `apr 1`, `april 2026`, `april`.
pub fn month_first(text: &str) -> Option<Parsed<'_>> {
    let (month, is_certain, after) = month_name(text)?;
    let day = after.strip_prefix([' ', '-']).and_then(few_digits).filter(|(day, _)| DAYS.contains(day));
    let Some((day, rest)) = day else {
        return english_date(month, None, after).filter(|(date, _)| is_certain || date.unit == YEAR_MONTH);
    };
    let after_day = after_ordinal(rest);
    // "You may 30%" has no date, and "march 3.5" neither.
    let is_decimal = after_day.strip_prefix(['.', ',']).is_some_and(starts_with_digit);
    let goes_on = is_decimal || !ends_word(after_day) || after_day.starts_with(['%', ':']);
    if goes_on { None } else { english_date(month, Some(day), after_day) }
}
