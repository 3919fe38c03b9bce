//! The values that a sentence states: what each one measures, whether it is a limit, and whether it only says when the
//! sentence applies.

use std::ops::Range;

use super::super::sentences::CODE;
use super::super::wanted::Wanted;
use super::bounds::{Bound, bound, ends_with, starts_with, surroundings};
use super::everyday_values::{FREQUENCY, WEEKDAY};
use super::words::Word;
use crate::facts::{Fact, facts};

/// A value that a sentence states, and the words that it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// What is measured. Values of other dimensions are not compared.
    pub dimension: String,
    /// The value in the unit of the dimension.
    pub value: f64,
    /// Whether the value is a limit.
    pub bound: Bound,
    /// The text as it is written.
    pub shown: String,
    /// The words of the sentence that belong to the value, as indexes.
    pub words: Range<usize>,
    /// Where it stands in the sentence, in bytes.
    pub range: Range<usize>,
}

/// The dimension of every length of time.
pub const DURATION: &str = "duration";
/// The dimension of lengths of time in business days.
const BUSINESS_DAYS: &str = "business day";
/// The maximum relative difference of lengths of time that are the same: a month has 28 to 31 days.
const DURATION_TOLERANCE: f64 = 0.04;

impl Claim {
    /// Whether two values are the same.
    pub fn same_value(&self, other: &Self) -> bool {
        let size = self.value.abs().max(other.value.abs()).max(f64::MIN_POSITIVE);
        let is_span = self.dimension == DURATION || self.dimension == FREQUENCY;
        let tolerance = if is_span { DURATION_TOLERANCE } else { 1e-9 };
        (self.value - other.value).abs() / size <= tolerance
    }

    /// Whether two values are the same, and limits of the same kind.
    pub fn is_same(&self, other: &Self) -> bool {
        self.dimension == other.dimension && self.bound == other.bound && self.same_value(other)
    }

    /// Whether two values of the same thing cannot both hold. An exact value may lie within a limit.
    pub fn contradicts(&self, other: &Self) -> bool {
        if let (BUSINESS_DAYS, DURATION) = (self.dimension.as_str(), other.dimension.as_str()) {
            return self.in_calendar_days(other.value).contradicts(other);
        } else if let (DURATION, BUSINESS_DAYS) = (self.dimension.as_str(), other.dimension.as_str()) {
            return self.contradicts(&other.in_calendar_days(self.value));
        }
        if self.dimension != other.dimension || self.same_value(other) {
            return false;
        }
        match (self.bound, other.bound) {
            (Bound::Exact, Bound::AtMost) | (Bound::AtLeast, Bound::Exact) => self.value > other.value,
            (Bound::AtMost, Bound::Exact) | (Bound::Exact, Bound::AtLeast) => self.value < other.value,
            (one, other) => one == other && one != Bound::Loose,
        }
    }
}

impl Claim {
    /// A number of business days in calendar days: of all that it can be, the one nearest to another length of time.
    /// Five business days are at least five days, and at most seven with a long weekend.
    fn in_calendar_days(&self, near: f64) -> Self {
        let longest = self.value * 1.4 + 3.0;
        Self { dimension: DURATION.to_owned(), value: near.clamp(self.value, longest), ..self.clone() }
    }
}

/// The values of a sentence: those that it states, and those that only say when it applies.
pub fn claims(text: &str, values: &[Fact], words: &[Word]) -> (Vec<Claim>, Vec<Claim>) {
    let (mut claims, mut conditions) = (Vec::new(), Vec::new());
    let after = |fact: &Fact| values.iter().find(|next| next.range.start >= fact.range.end);
    let is_main = |fact: &&Fact| !is_condition(text, fact, after(fact));
    for (number, fact) in values.iter().enumerate() {
        let (previous, next) =
            (number.checked_sub(1).and_then(|before| values.get(before)), values.get(number + 1));
        let bound = if is_range(text, previous, Some(fact)) || ends_open_range(text, fact) {
            Bound::AtMost
        } else if is_range(text, Some(fact), next) {
            Bound::AtLeast
        } else {
            bound(text, fact, next)
        };
        let (dimension, value) = dimension(text, fact);
        // A value belongs to the words since the stated value before it, and up to the end of its clause.
        let start = values.iter().take(number).rfind(is_main).map_or(0, |before| before.range.end);
        let following = values.iter().skip(number + 1).find(is_main);
        let behind = text.get(fact.range.end..following.map_or(text.len(), |next| next.range.start));
        let clause = behind.and_then(|behind| behind.find(['、', ',', ';']));
        let end =
            fact.range.end + clause.unwrap_or(behind.filter(|_| following.is_none()).map_or(0, str::len));
        let index = |at: usize| words.iter().take_while(|word| word.range.start < at).count();
        let own = index(start)..index(end);
        let words = if own.is_empty() { 0..words.len() } else { own };
        let claim =
            Claim { dimension, value, bound, shown: fact.shown.clone(), words, range: fact.range.clone() };
        match is_condition(text, fact, next) {
            // The basis of a rate is no limit.
            true if is_basis(text, fact) => conditions.push(Claim { bound: Bound::Exact, ..claim }),
            true => conditions.push(claim),
            false => claims.push(claim),
        }
    }
    // Where every value is a condition, the condition is what the sentence states.
    if claims.is_empty() { (conditions, claims) } else { (claims, conditions) }
}

/// Whether a fact is a value rather than a number of an article, a version or a step, or a part of code or an address.
pub fn is_value(text: &str, fact: &Fact) -> bool {
    const SIGNS: &[&str] =
        &["第", "#", "no.", "ver.", "図", "表", "項目", "手順", "バージョン", "/", "=", "v", "-", "_"];
    const LABELS: &[&str] = &[
        "version", "article", "section", "chapter", "step", "page", "figure", "table", "rule", "line",
        "issue", "level", "phase",
    ];
    // `a line four weeks before` names no line: a label has a bare number.
    let is_bare = Wanted::of_unit(&fact.unit) == Wanted::COUNT;
    let (before, after) = surroundings(text, fact);
    let is_code = before.matches(CODE).count() % 2 == 1;
    let continues = text.get(fact.range.end..).is_some_and(|rest| rest.starts_with(['/', '_', '=', '-']))
        || starts_with(after, &["目", "号", "条", "章", "節", "項"]);
    // 2つ counts the parts of something rather than to state a value.
    let is_label = ends_with(before, SIGNS) || (is_bare && ends_with(before, LABELS));
    !fact.unit.is_empty() && !fact.shown.ends_with('つ') && !is_code && !is_label && !continues
}

/// Whether two facts are the ends of a range.
fn is_range(text: &str, one: Option<&Fact>, other: Option<&Fact>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return false };
    if one.unit != other.unit || one.range.end > other.range.start {
        return false;
    }
    let between = text.get(one.range.end..other.range.start).unwrap_or_default().trim();
    let before = text.get(..one.range.start).unwrap_or_default().trim_end();
    matches!(between, "から" | "~" | "〜" | "-" | "to" | "until" | "ないし" | "以上" | "or" | "または")
        || (between == "and" && before.ends_with("between"))
}

/// Whether a fact ends a range whose first number has no unit of its own: `3 to 5 days`.
fn ends_open_range(text: &str, fact: &Fact) -> bool {
    let (before, _) = surroundings(text, fact);
    let first = [" to", " or", "から", "ないし", "または"].iter().find_map(|word| before.strip_suffix(word));
    let first = first.or_else(|| before.strip_suffix(" and").filter(|first| first.contains("between ")));
    let number = first.and_then(|first| first.rsplit(' ').next()).unwrap_or_default();
    facts(number).last().is_some_and(|last| last.unit.is_empty() && last.range.end == number.len())
}

/// The dimension of a fact, and its value in the unit of that dimension. Lengths of time are compared with each other.
fn dimension(text: &str, fact: &Fact) -> (String, f64) {
    let days = match fact.unit.as_str() {
        "second" => 1.0 / 86_400.0,
        "day" => 1.0,
        "month" => 30.4375,
        _ => return (fact.unit.clone(), fact.value),
    };
    let (before, after) = surroundings(text, fact);
    let repeats = ends_with(before, &["every", "毎", "once"])
        || fact.shown.starts_with("every")
        || starts_with(after, &["ごと", "おき", "毎", "に1回", "に一回", "に1度", "に一度"]);
    (if repeats { FREQUENCY } else { DURATION }.to_owned(), fact.value * days)
}

/// Whether a value only says when a sentence applies, or what another value refers to.
fn is_condition(text: &str, fact: &Fact, next: Option<&Fact>) -> bool {
    const BEFORE: &[&str] = &[
        "勤続",
        "毎",
        "after",
        "every",
        "per",
        "each",
        "older than",
        "under the age of",
        "for orders over",
        "for orders of",
        "orders over",
    ];
    const AFTER: &[&str] = &[
        "後",
        "経過",
        "を経過",
        "勤続",
        "勤務した",
        "以上勤",
        "を過ぎ",
        "ごと",
        "毎",
        "おき",
        "につき",
        "あたり",
        "当たり",
        "単位",
        "未満の",
        "以上の",
        "以下の",
        "を超える",
        "を超えた",
        "以内の",
        "に達し",
        "働",
        "以上働",
        "勤め",
        "以上続け",
        "after ",
        "before ",
        "ago",
        "of service",
    ];
    let (before, after) = surroundings(text, fact);
    // A day of the week says when a price or an hour applies, and 毎月 how often it is paid.
    fact.unit == WEEKDAY
        || (fact.unit == FREQUENCY && fact.shown.starts_with('毎'))
        || ends_with(before, BEFORE)
        || starts_with(after, AFTER)
        || is_period(text, fact, next)
}

/// Whether a length of time only says in which period a value applies: 1か月45時間.
fn is_period(text: &str, fact: &Fact, next: Option<&Fact>) -> bool {
    let is_span = |fact: &Fact| matches!(fact.unit.as_str(), "second" | "day" | "month");
    let between = next.and_then(|next| text.get(fact.range.end..next.range.start));
    is_span(fact) && matches!(between, Some("" | "に" | "で"))
}

/// Whether a value is the basis of a rate: 一人あたり, 一泊につき.
fn is_basis(text: &str, fact: &Fact) -> bool {
    starts_with(surroundings(text, fact).1, &["ごと", "につき", "あたり", "当たり"])
}

#[cfg(test)]
#[path = "claims_tests.rs"]
mod tests;
