//! Finds the values of a sentence — numbers, dates, times and amounts, each with its unit — so that two texts can be compared.
//! Equal values are equal in every notation: 14 days and 二週間, 20,000円 and 2万円, 2026-04-01 and 令和8年4月1日.

mod amounts;
mod dates;
mod digits;
mod kanji_words;
mod numerals;
mod scanner;
#[cfg(test)]
mod tests;
mod times;
mod units;
mod words;

use std::ops::Range;

pub use self::amounts::ORDINAL;
pub use self::dates::{DATE, FISCAL_YEAR, MONTH, SLASH, TIME, YEAR, YEAR_DAY, YEAR_MONTH};
pub use self::numerals::Style;
pub use self::scanner::{Amount, Item, scan};
pub use self::units::{Kind, is_spelled_in};
pub use self::words::may_have_number_word;

/// A number, date or time with its unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// The canonical unit, such as `day`; `date`, `time` or `day of a year`; empty for a number without a unit.
    pub unit: String,
    /// The value in that unit.
    pub value: f64,
    /// The text as it is written.
    pub shown: String,
    /// The bytes of the sentence where it stands.
    pub range: Range<usize>,
}

/// The facts of a normalized sentence. Numbers of articles, sections, pages and versions are none, and neither are the
/// digits of identifiers.
pub fn facts(sentence: &str) -> Vec<Fact> {
    let amounts = scan(sentence).into_iter().filter_map(|item| match item {
        Item::Amount(amount) => Some(amount),
        Item::Reference(_) => None,
    });
    let fact = |amount: Amount| {
        let shown = sentence.get(amount.range.clone()).unwrap_or_default().trim().to_owned();
        Fact { unit: amount.unit.to_owned(), value: amount.value, shown, range: amount.range }
    };
    amounts.map(fact).collect()
}
