//! Extracts the numbers, dates and times of a sentence, each with its unit, so that two sentences can be compared.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::kanji_number;

/// A number, date or time with its unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// The canonical unit, such as `day`; `date`, `time` or `day of a year`; empty for a number without a unit.
    pub unit: String,
    /// The value in that unit.
    pub value: f64,
    /// The text as it is written.
    pub shown: String,
}

/// Dates, times of day, and numbers with or without a unit. Only values of the same unit are compared.
#[expect(clippy::expect_used, reason = "the pattern is part of the program, and a test compiles it")]
static FACT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?<year>\d{4})(?:[-/.]|年) ?(?<month>\d{1,2})(?:[-/.]|月) ?(?<day>\d{1,2})日?",
        r"|(?<name>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* (?<nth>\d{1,2})\b(?:st|nd|rd|th)?",
        r"|(?<hour>\d{1,2}):(?<minute>\d{2})\b",
        r"|(?<number>\d[\d,]*(?:\.\d+)?|[〇一二三四五六七八九十百千]+) ?(?<unit>%|か月|ヶ月|カ月|時間|週間|年間|日間|分間|秒間|万円|千円|億円|日|年|月|円|歳|回|人|名|件|度|分|秒|時|週|割|倍|台|泊|文字",
        r"|(?:days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|weeks?|months?|years?|percent|ms|mb|gb|kb|tb|kg|km|cm|mm|m|usd|dollars?|eur|euros?|times?|requests?|items?|characters?|bytes?|people|persons?|points?|attempts?|retries)\b)",
        r"|[$€¥](?<money>\d[\d,]*(?:\.\d+)?)",
        r"|(?<plain>\d[\d,]*(?:\.\d+)?)",
    ))
    .expect("the pattern of facts is valid")
});

/// The canonical unit of a written one, and its size in that unit.
fn unit_of(written: &str) -> (&str, f64) {
    match written {
        "ms" => ("second", 0.001),
        "秒" | "秒間" | "second" | "seconds" | "sec" | "secs" => ("second", 1.0),
        "分" | "分間" | "minute" | "minutes" | "min" | "mins" => ("second", 60.0),
        "時間" | "hour" | "hours" | "hr" | "hrs" => ("second", 3600.0),
        "日" | "日間" | "day" | "days" => ("day", 1.0),
        "週" | "週間" | "week" | "weeks" => ("day", 7.0),
        "か月" | "ヶ月" | "カ月" | "month" | "months" => ("month", 1.0),
        "年" | "年間" | "year" | "years" => ("year", 1.0),
        "円" => ("円", 1.0),
        "千円" => ("円", 1e3),
        "万円" => ("円", 1e4),
        "億円" => ("円", 1e8),
        "byte" | "bytes" => ("byte", 1.0),
        "kb" => ("byte", 1e3),
        "mb" => ("byte", 1e6),
        "gb" => ("byte", 1e9),
        "tb" => ("byte", 1e12),
        "%" | "percent" => ("%", 1.0),
        "usd" | "dollar" | "dollars" => ("$", 1.0),
        other => (other.trim_end_matches('s'), 1.0),
    }
}

/// A sentence with its facts replaced by spaces.
pub fn without_facts(sentence: &str) -> String {
    FACT.replace_all(sentence, " ").into_owned()
}

/// The facts of a normalized sentence.
pub fn facts(sentence: &str) -> Vec<Fact> {
    let found = FACT.captures_iter(sentence).filter_map(|found| {
        let text = |name: &str| found.name(name).map(|part| part.as_str());
        let number = |name: &str| -> Option<f64> {
            let text = text(name)?.replace(',', "");
            kanji_number(text.chars()).map(|number| number as f64).or_else(|| text.parse().ok())
        };
        let shown = found.get(0)?.as_str().trim().to_owned();
        let (unit, value) = if let Some(year) = number("year") {
            ("date".to_owned(), year * 10_000.0 + number("month")? * 100.0 + number("day")?)
        } else if let Some(name) = text("name") {
            let months = "jan feb mar apr may jun jul aug sep oct nov dec";
            let month = months.split(' ').position(|month| month == name)? + 1;
            ("day of a year".to_owned(), month as f64 * 100.0 + number("nth")?)
        } else if let Some(hour) = number("hour") {
            ("time".to_owned(), hour * 60.0 + number("minute")?)
        } else if let Some(unit) = text("unit") {
            let (unit, size) = unit_of(unit);
            (unit.to_owned(), number("number")? * size)
        } else if let Some(money) = number("money") {
            ("$".to_owned(), money)
        } else {
            (String::new(), number("plain")?)
        };
        Some(Fact { unit, value, shown })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_compared_by_value_and_unit() {
        for (sentence, expected) in [
            ("三十日以内", &[("day", 30.0)][..]),
            ("2 weeks or 90 minutes", &[("day", 14.0), ("second", 5400.0)]),
            ("2024-04-01 9:30", &[("date", 20_240_401.0), ("time", 570.0)]),
            ("april 1", &[("day of a year", 401.0)]),
            ("$5.50, 1,000 円", &[("$", 5.5), ("円", 1000.0)]),
            ("5 of 7", &[("", 5.0), ("", 7.0)]),
            ("none", &[]),
        ] {
            let found = facts(sentence);
            let found: Vec<_> = found.iter().map(|fact| (fact.unit.as_str(), fact.value)).collect();
            assert_eq!(found, expected, "{sentence}");
        }
        assert_eq!(without_facts("within 14 days of it"), "within   of it");
    }

    #[test]
    fn equal_amounts_are_equal_in_any_unit_and_spelling() {
        for (one, other) in [
            ("2万円", "20,000円"),
            ("1時間", "60 minutes"),
            ("1 gb", "1000 mb"),
            ("二週間", "14 days"),
            ("5 percent", "5%"),
            ("$5", "5 dollars"),
            ("2024年4月1日", "2024/04/01"),
            ("1,500 ms", "1.5 seconds"),
        ] {
            let values = |text: &str| -> Vec<_> {
                facts(text).into_iter().map(|fact| (fact.unit, fact.value)).collect()
            };
            assert_eq!(values(one), values(other), "{one} / {other}");
            assert_eq!(values(one).len(), 1, "{one}");
        }
    }

    #[test]
    fn the_text_of_a_fact_is_as_it_is_written() {
        let shown: Vec<_> =
            facts("within 14 days, or 三十日, at 9:30").into_iter().map(|fact| fact.shown).collect();
        assert_eq!(shown, ["14 days", "三十日", "9:30"]);
    }
}
