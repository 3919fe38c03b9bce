//! Values in everyday words: `until eight in the evening`, 夜の8時, `turns 65`, `twice a year`, 年2回.

use super::bounds::{ends_with, starts_with, surroundings};
use crate::facts::{Fact, TIME, facts};

/// The unit of ages.
const AGE: &str = "歳";
/// The dimension of lengths of time after which something repeats.
pub const FREQUENCY: &str = "frequency";
/// The unit of days of the week.
pub const WEEKDAY: &str = "weekday";
/// Half a day in minutes.
const HALF_DAY: f64 = 720.0;

/// Gives the numbers behind `age of`, `turns` and the like the unit of ages: `the age is 67`, `from the age of 6 years`.
pub fn with_ages(text: &str, facts: Vec<Fact>) -> Vec<Fact> {
    const BEFORE: &[&str] = &[
        " age of",
        " age is",
        " age: ",
        "aged",
        "older than",
        "younger than",
        "turn",
        "turns",
        "turned",
        "turning",
    ];
    let with_age = |fact: Fact| {
        let (before, _) = surroundings(text, &fact);
        let is_age = ends_with(before, BEFORE)
            || (text.contains(" age ")
                && !fact.unit.is_empty()
                && ends_with(before, &["is", "of", "least", "from"]));
        match fact.unit.as_str() {
            "" if is_age => Fact { unit: AGE.to_owned(), ..fact },
            "month" if is_age && fact.value >= 12.0 => {
                Fact { unit: AGE.to_owned(), value: fact.value / 12.0, ..fact }
            }
            _ => fact,
        }
    };
    facts.into_iter().map(with_age).collect()
}

/// Moves the hours of an evening to the second half of the day, and adds the hours that are written in words.
pub fn with_times_of_day(text: &str, mut facts: Vec<Fact>) -> Vec<Fact> {
    const EVENING: &[&str] = &["夜", "夜の", "晩の", "夕方", "夕方の", "夕"];
    for fact in &mut facts {
        if fact.unit == TIME && fact.value < HALF_DAY && ends_with(surroundings(text, fact).0, EVENING) {
            fact.value += HALF_DAY;
        }
    }
    let words = hours_in_words(text);
    facts.retain(|fact| {
        !words.iter().any(|hour| fact.range.start < hour.range.end && hour.range.start < fact.range.end)
    });
    facts.extend(words);
    facts.sort_by_key(|fact| fact.range.start);
    facts
}

/// The hours with a part of the day behind them: `eight in the evening`, `half past seven at night`, `9 o'clock`.
fn hours_in_words(text: &str) -> Vec<Fact> {
    const PARTS: &[(&str, f64)] = &[
        (" in the morning", 0.0),
        (" in the afternoon", HALF_DAY),
        (" in the evening", HALF_DAY),
        (" at night", HALF_DAY),
        (" o'clock", 0.0),
    ];
    let hour = |(name, half): &(&str, f64)| {
        let at = text.find(name)?;
        let before = text.get(..at)?.trim_end_matches(" o'clock");
        let start = before.rfind(' ').map_or(0, |space| space + 1);
        let number = facts(&format!("{} days", before.get(start..)?)).into_iter().next()?;
        let is_hour = number.unit == "day" && (1.0..=12.0).contains(&number.value);
        let minutes = [("half past ", 30.0), ("quarter past ", 15.0), ("quarter to ", -15.0)];
        let past =
            minutes.iter().find(|(words, _)| before.get(..start).is_some_and(|lead| lead.ends_with(words)));
        let start = start - past.map_or(0, |(words, _)| words.len());
        let range = start..at + name.len();
        is_hour.then(|| Fact {
            unit: TIME.to_owned(),
            value: number.value % 12.0 * 60.0 + half + past.map_or(0.0, |(_, minutes)| *minutes),
            shown: text.get(range.clone()).unwrap_or_default().to_owned(),
            range,
        })
    };
    PARTS.iter().filter_map(hour).take(1).collect()
}

/// Turns a number of times in a period into the time from one to the next: `twice a year`, `3 times per month`, 年2回.
pub fn with_frequencies(text: &str, facts: Vec<Fact>) -> Vec<Fact> {
    const AFTER: &[(&str, f64)] =
        &[("day", 1.0), ("week", 7.0), ("month", 30.4375), ("quarter", 91.3125), ("year", 365.25)];
    const BEFORE: &[(&[&str], f64)] = &[
        (&["毎日", "一日", "1日", "日に", "一日に"], 1.0),
        (&["毎週", "週", "週に"], 7.0),
        (&["毎月", "月", "月に"], 30.4375),
        (&["毎年", "年", "年に", "年間"], 365.25),
    ];
    let period_behind = |after: &str| {
        let after = ["a ", "per ", "each ", "every "].iter().find_map(|word| after.strip_prefix(word))?;
        AFTER
            .iter()
            .find(|(name, _)| after.starts_with(name))
            .map(|(name, days)| (*days, after.len() - name.len()))
    };
    let as_interval = |times: f64, days: f64, range: std::ops::Range<usize>| Fact {
        unit: FREQUENCY.to_owned(),
        value: days / times,
        shown: text.get(range.clone()).unwrap_or_default().to_owned(),
        range,
    };
    let mut found = Vec::new();
    for fact in facts {
        let (before, after) = surroundings(text, &fact);
        let behind = period_behind(after).map(|(days, left)| (days, text.len() - left));
        let ahead = BEFORE
            .iter()
            .find(|(names, _)| ends_with(before, names))
            .map(|(_, days)| (*days, fact.range.end));
        match behind
            .or(ahead)
            .filter(|_| fact.unit == "回" && fact.value > 0.0 && !starts_with(after, &["目"]))
        {
            Some((days, end)) => found.push(as_interval(fact.value, days, fact.range.start..end)),
            None => found.push(fact),
        }
    }
    found.extend(text.match_indices("twice").map(|(start, twice)| {
        let end = start + twice.len();
        let after = text.get(end..).and_then(|rest| rest.strip_prefix(' '));
        match after.and_then(period_behind) {
            Some((days, left)) => as_interval(2.0, days, start..text.len() - left),
            None => Fact { unit: "回".to_owned(), value: 2.0, shown: twice.to_owned(), range: start..end },
        }
    }));
    found.extend(repetitions(text, &found));
    found.sort_by_key(|fact| fact.range.start);
    found
}

/// Repetitions without a number: 毎週行う, `is done weekly`. `A monthly fee` is none.
fn repetitions(text: &str, known: &[Fact]) -> Vec<Fact> {
    const JAPANESE: &[(&str, f64)] = &[("毎日", 1.0), ("毎週", 7.0), ("毎月", 30.4375), ("毎年", 365.25)];
    const ENGLISH: &[(&str, f64)] = &[
        (" daily", 1.0),
        (" weekly", 7.0),
        (" monthly", 30.4375),
        (" quarterly", 91.3125),
        (" yearly", 365.25),
        (" annually", 365.25),
    ];
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(['.', ',', ';']) || rest.starts_with(" and ");
    let words = JAPANESE
        .iter()
        .chain(ENGLISH)
        .flat_map(|(word, days)| text.match_indices(word).map(move |(start, shown)| (start, shown, *days)));
    let is_repetition = |(start, shown, _): &(usize, &str, f64)| {
        let after = text.get(start + shown.len()..).unwrap_or_default();
        // 毎年1回 has a number, and 毎週金曜日 and 毎月25日 name a day.
        let is_counted = known.iter().any(|fact| fact.range.start == start + shown.len());
        if shown.is_ascii() { ends(after) } else { !is_counted && !after.contains('曜') }
    };
    let fact = |(start, shown, days): (usize, &str, f64)| Fact {
        unit: FREQUENCY.to_owned(),
        value: days,
        shown: shown.trim().to_owned(),
        range: start..start + shown.len(),
    };
    words.filter(is_repetition).map(fact).collect()
}

/// The days of the week that a sentence names.
pub fn weekdays(text: &str) -> Vec<Fact> {
    const NAMES: &[(&str, &str)] = &[
        ("monday", "月曜"),
        ("tuesday", "火曜"),
        ("wednesday", "水曜"),
        ("thursday", "木曜"),
        ("friday", "金曜"),
        ("saturday", "土曜"),
        ("sunday", "日曜"),
    ];
    let days = (0_u8..).zip(NAMES).flat_map(|(number, (english, japanese))| {
        let names = text.match_indices(english).chain(text.match_indices(japanese));
        names.map(move |(start, name)| Fact {
            unit: WEEKDAY.to_owned(),
            value: f64::from(number),
            shown: name.to_owned(),
            range: start..start + name.len(),
        })
    });
    days.collect()
}

#[cfg(test)]
#[path = "everyday_values_tests.rs"]
mod tests;
