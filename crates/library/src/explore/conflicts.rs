//! Whether two sections say different things of the same term: other numbers or dates, or yes where the other says no.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::loosely::Needle;
use super::matching::Place;
use super::query::Query;
use super::rank::{Candidate, at};
use crate::index::{Key, View, tokens};
use crate::text::{kanji_number, normalize_text};

/// So many of the best are compared.
const CLOSELY: usize = 20;
/// So many sentences of a section.
const MOST_SENTENCES: usize = 60;
/// So many conflicts are told.
const MOST: usize = 20;
/// How much two sentences must have in common to speak of the same thing, and with how many words they say of what.
const ALIKE: f32 = 0.6;
const SELF_CONTAINED: usize = 6;

/// Two sections that disagree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The better of the two.
    pub one: Place,
    /// The other.
    pub other: Place,
    /// The term, and what each says.
    pub about: String,
}

/// What a sentence states.
struct Statement<'a> {
    place: Place,
    /// The headings that it stands under, without their numbers.
    heading: &'a str,
    /// The terms of the question in it.
    terms: u64,
    /// Its words without the numbers.
    words: HashSet<Key>,
    facts: Vec<Fact>,
    negative: bool,
}

/// A number or a date, and what it counts.
#[derive(Debug, Clone, PartialEq)]
struct Fact {
    unit: String,
    value: f64,
    /// As it is written.
    shown: String,
}

/// Dates, times of day, and numbers with or without a unit. The unit tells days from yen.
static FACT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?<year>\d{4})(?:[-/.]|年) ?(?<month>\d{1,2})(?:[-/.]|月) ?(?<day>\d{1,2})日?",
        r"|(?<name>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* (?<nth>\d{1,2})\b(?:st|nd|rd|th)?",
        r"|(?<hour>\d{1,2}):(?<minute>\d{2})\b",
        r"|(?<number>\d[\d,]*(?:\.\d+)?|[〇一二三四五六七八九十百千]+) ?(?<unit>%|か月|ヶ月|カ月|時間|週間|年間|日間|分間|秒間|万円|千円|億円|日|年|月|円|歳|回|人|名|件|度|分|秒|時|週|割|倍|台|泊|文字",
        r"|(?:days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|weeks?|months?|years?|percent|ms|mb|gb|kb|tb|kg|km|cm|mm|m|usd|dollars?|eur|euros?|times?|requests?|items?|characters?|bytes?|people|persons?|points?|attempts?|retries)\b)",
        r"|[$€¥](?<money>\d[\d,]*(?:\.\d+)?)",
        r"|(?<plain>\d[\d,]*(?:\.\d+)?)",
    ))
    .ok()
});

/// The same unit by one name, and how many of it one is.
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

/// The facts of a sentence.
fn facts(sentence: &str) -> Vec<Fact> {
    let Some(pattern) = FACT.as_ref() else { return Vec::new() };
    let found = pattern.captures_iter(sentence).filter_map(|found| {
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

/// What turns a statement into its opposite.
const NEGATIONS: &[&str] = &[
    "ない",
    "ません",
    "不可",
    "対象外",
    "除く",
    "禁止",
    "できず",
    "せず",
    "not ",
    "cannot",
    "can't",
    "never",
    "n't ",
    "no longer",
    "prohibited",
    "forbidden",
];

/// Finds the sections that disagree about a term of the question.
pub fn conflicts(views: &[View], query: &Query, candidates: &[Candidate]) -> Vec<Conflict> {
    let needles: Vec<Vec<Needle>> = query
        .terms
        .iter()
        .map(|term| {
            term.forms.iter().filter(|form| form.weight > 0.8).map(|form| Needle::new(&form.text)).collect()
        })
        .collect();
    let closely: Vec<_> = candidates.iter().filter(|candidate| candidate.terms != 0).take(CLOSELY).collect();
    let headings: Vec<String> = closely.iter().map(|candidate| heading(views, candidate.place)).collect();
    let mut statements: Vec<Statement<'_>> = Vec::new();
    for (candidate, heading) in closely.iter().zip(&headings) {
        let Some((segment, node)) = at(views, candidate.place) else { continue };
        let body = segment.text_of(node).lines().skip(node.heading_lines as usize);
        let sentences = body.flat_map(sentences).take(MOST_SENTENCES);
        statements
            .extend(sentences.filter_map(|sentence| state(sentence, candidate.place, heading, &needles)));
    }
    let mut found: Vec<Conflict> = Vec::new();
    for (index, one) in statements.iter().enumerate() {
        for other in statements.iter().skip(index + 1).filter(|other| other.place != one.place) {
            let shared = one.terms & other.terms;
            let known = |known: &Conflict| known.one == one.place && known.other == other.place;
            if shared == 0 || found.iter().any(known) || !are_alike(one, other) {
                continue;
            }
            let Some(difference) = difference(one, other) else { continue };
            let term = query.terms.get(shared.trailing_zeros() as usize).map_or("", |term| term.text());
            found.push(Conflict {
                one: one.place,
                other: other.place,
                about: format!("{term}: {difference}"),
            });
            if found.len() == MOST {
                return found;
            }
        }
    }
    found
}

/// The headings from a section up, without what only numbers them.
fn heading(views: &[View], place: Place) -> String {
    let (mut words, mut next) = (String::new(), Some(place));
    while let Some((segment, node)) = next.and_then(|place| at(views, place)) {
        words.extend(normalize_text(&node.title).chars().filter(|letter| letter.is_alphabetic()));
        words.push('/');
        next = node.parent.map(|node| Place { node, ..place }).filter(|_| segment.file_of(node).is_some());
    }
    words
}

fn sentences(line: &str) -> impl Iterator<Item = &str> {
    line.split_inclusive('。')
        .flat_map(|part| part.split(". "))
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

/// What a sentence states of the question's terms; none where it has none of them.
fn state<'a>(
    sentence: &str,
    place: Place,
    heading: &'a str,
    needles: &[Vec<Needle>],
) -> Option<Statement<'a>> {
    let holds = |needles: &Vec<Needle>| needles.iter().any(|needle| needle.stands_in(sentence));
    let terms = needles.iter().enumerate().filter(|(_, needles)| holds(needles));
    let terms = terms.fold(0, |bits, (index, _)| bits | 1 << index);
    if terms == 0 {
        return None;
    }
    let mut bare = FACT.as_ref()?.replace_all(sentence, " ").into_owned();
    let negative = NEGATIONS.iter().any(|negation| bare.contains(negation));
    for negation in NEGATIONS {
        bare = bare.replace(negation, " ");
    }
    let mut words = HashSet::new();
    tokens(&bare, &mut |key| {
        words.insert(key);
    });
    Some(Statement { place, heading, terms, words, facts: facts(sentence), negative })
}

/// Whether two sentences speak of the same thing: they share most of their words. A short one, such as a row of a table,
/// says of what only with its headings.
fn are_alike(one: &Statement<'_>, other: &Statement<'_>) -> bool {
    let common = one.words.intersection(&other.words).count();
    let all = one.words.union(&other.words).count().max(1);
    let alike = common as f32 / all as f32 >= ALIKE;
    alike && (common >= SELF_CONTAINED || (common > 0 && one.heading == other.heading))
}

/// What two alike statements disagree about.
fn difference(one: &Statement<'_>, other: &Statement<'_>) -> Option<String> {
    for ours in &one.facts {
        let of_unit = |facts: &[Fact]| -> Vec<f64> {
            facts.iter().filter(|fact| fact.unit == ours.unit).map(|fact| fact.value).collect()
        };
        let (mine, theirs) = (of_unit(&one.facts), of_unit(&other.facts));
        let agree = mine.iter().any(|value| theirs.iter().any(|other| (value - other).abs() < 1e-9));
        let first = other.facts.iter().find(|fact| fact.unit == ours.unit);
        if let (false, Some(their)) = (agree, first) {
            return Some(format!("{} / {}", ours.shown, their.shown));
        }
    }
    let values = |facts: &[Fact]| facts.iter().map(|fact| fact.value).collect::<Vec<_>>();
    let opposite = one.negative != other.negative && values(&one.facts) == values(&other.facts);
    opposite.then(|| "yes / no".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::dictionary::Dictionary;

    fn clash(question: &str, one: &str, other: &str) -> Option<String> {
        let query = Query::new(question, None, &Dictionary::new(&[])).unwrap();
        let needles: Vec<Vec<Needle>> =
            query.terms.iter().map(|term| vec![Needle::new(term.text())]).collect();
        let place = |node| Place { view: 0, segment: 0, node };
        let (one, other) =
            (state(one, place(1), "returns/", &needles)?, state(other, place(2), "returns/", &needles)?);
        (one.terms & other.terms != 0 && are_alike(&one, &other)).then(|| difference(&one, &other))?
    }

    #[test]
    fn other_numbers_and_opposites_are_conflicts() {
        for (question, one, other, expected) in [
            (
                "返品の期限",
                "返品は商品到着後14日以内に限ります",
                "返品は商品到着後三十日以内に限ります",
                Some("14日 / 三十日"),
            ),
            (
                "refund window",
                "the refund window is 14 days",
                "the refund window is 30 days",
                Some("14 days / 30 days"),
            ),
            (
                "timeout",
                "| timeout | 30 seconds |",
                "| timeout | 60 seconds |",
                Some("30 seconds / 60 seconds"),
            ),
            ("timeout", "| timeout | 60 seconds |", "| timeout | 1 minute |", None),
            ("retries", "the number of retries is 5", "the number of retries is 10", Some("5 / 10")),
            ("opening", "opening is at 9:00", "opening is at 10:00", Some("9:00 / 10:00")),
            (
                "launch",
                "the launch is on 2024-04-01",
                "the launch is on 2025/4/1",
                Some("2024-04-01 / 2025/4/1"),
            ),
            ("launch", "the launch is on april 1", "the launch is on may 1", Some("april 1 / may 1")),
            ("upload", "an upload has at most 10 mb", "an upload has at most 10 gb", Some("10 mb / 10 gb")),
            ("保証", "保証は購入から1年とします", "保証は購入から2年間とします", Some("1年 / 2年間")),
            ("price", "the price is $5 a month", "the price is $5.00 a month", None),
            ("返品の期限", "返品は商品到着後14日以内に限ります", "返品は商品到着後14日以内に限ります", None),
            ("返品", "返品の送料は500円です", "返品の窓口は平日9時から受け付けます", None),
            (
                "gift cards",
                "gift cards can be returned in any store",
                "gift cards cannot be returned in any store",
                Some("yes / no"),
            ),
        ] {
            let found = clash(question, one, other);
            assert_eq!(found.as_deref(), expected, "{one} / {other}");
        }
        assert_eq!(
            clash("ギフト券の返品", "ギフト券の返品は店頭で受け付ける", "ギフト券の返品は店頭で受け付けない")
                .as_deref(),
            Some("yes / no")
        );
    }
}
