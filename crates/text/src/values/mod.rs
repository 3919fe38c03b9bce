//! Finds the values of a sentence — numbers, dates, times and amounts, each with its unit — so that two texts can be compared.
//! Equal values are equal in every notation: 14 days and 二週間, 20,000円 and 2万円, 2026-04-01 and 令和8年4月1日.

mod amounts;
mod dates;
mod digits;
mod identifiers;
mod numerals;
mod scanner;
#[cfg(test)]
mod tests;
mod times;
mod units;
mod value;
mod words;

use std::ops::Range;

pub use annai_language::UnitKind;

pub use self::amounts::{ORDINAL, SLASH};
pub use self::dates::{DATE, FISCAL_YEAR, MONTH, YEAR, YEAR_DAY, YEAR_MONTH};
pub use self::scanner::{Item, scan};
pub use self::times::TIME;
pub use self::units::is_spelled_in;
pub use self::value::{Amount, Style};
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
    let fact = |item| match item {
        Item::Amount(Amount { unit, value, range, .. }) => {
            let shown = sentence.get(range.clone()).unwrap_or_default().trim().to_owned();
            Some(Fact { unit: unit.to_owned(), value, shown, range })
        }
        Item::Reference(_) => None,
    };
    scan(sentence).into_iter().filter_map(fact).collect()
}
