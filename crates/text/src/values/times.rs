//! Times of day.

use std::collections::BTreeMap;

use annai_language::{ENGLISH, JAPANESE};

use super::dates::part;
use super::digits::starts_with_digit;
use super::numerals::number;
use super::value::{Amount, NO_NUMBER, Parsed, Style};
use super::words::{after_sign, ends_word, unspaced};

/// The unit of a time of day, whose value is in minutes.
pub const TIME: &str = "time";
/// The half of the day that a text begins with, as its first minute, and the rest. The longer names are the later ones.
fn half_of_day<'a>(text: &'a str, names: &BTreeMap<String, f64>) -> Option<(f64, &'a str)> {
    names.iter().rev().find_map(|(name, minute)| Some((*minute, text.strip_prefix(name.as_str())?)))
}

/// `am`, `p.m.`.
fn half_behind(text: &str) -> Option<(f64, &str)> {
    half_of_day(unspaced(text), &ENGLISH.half_days).filter(|(_, rest)| ends_word(rest))
}

/// A time of day: `9:30`, `9時30分`, `午後5時`, `5 p.m.`.
pub fn time(text: &str) -> Option<Parsed<'_>> {
    let before = half_of_day(text, &JAPANESE.half_days);
    let text = before.map_or(text, |(_, rest)| unspaced(rest));
    let (hour, after) = number(text)?;
    if hour.is_identifier || hour.value > 30.0 || hour.value.fract() != 0.0 {
        return None;
    }
    let digits = Some(after).filter(|_| hour.plain_digits > 0);
    let (minutes, rest) = if let Some(minutes) = digits.and_then(|after| after.strip_prefix(':')) {
        minutes_after_colon(minutes)?
    } else if let Some(rest) = after_sign(unspaced(after), "時") {
        let half = || Some((30.0, rest.strip_prefix('半')?));
        // 一時 means "temporarily".
        let is_word = hour.style == Style::Kanji && hour.value == 1.0 && before.is_none();
        let whole = (!is_word).then_some((0.0, rest));
        part(rest, "分", 0.0..=59.0).or_else(half).or(whole)?
    } else {
        half_behind(digits?)?;
        (0.0, after)
    };
    let behind = half_behind(rest);
    let rest = behind.map_or(rest, |(_, rest)| rest);
    let value = match behind.or(before) {
        Some((half, _)) if hour.value <= 12.0 => hour.value % 12.0 * 60.0 + half,
        _ => hour.value * 60.0,
    };
    Some((Amount::of_numbers(TIME, value + minutes, [hour.value, minutes, NO_NUMBER]), rest))
}

/// The minutes after the colon of a time, with the seconds: two digits each.
fn minutes_after_colon(text: &str) -> Option<(f64, &str)> {
    let two_digits = |text| number(text).filter(|(found, _)| found.plain_digits == 2);
    let (minutes, rest) = two_digits(text)?;
    let seconds = rest.strip_prefix(':').and_then(two_digits);
    let (seconds, rest) = seconds.map_or((0.0, rest), |(found, rest)| (found.value / 60.0, rest));
    let ends = !rest.starts_with(':') && !starts_with_digit(rest);
    (minutes.value < 60.0 && ends).then_some((minutes.value + seconds, rest))
}
