//! Numbers and the values of a sentence, before and after they have a unit.

use std::ops::Range;

use annai_language::Unit;

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
    /// How it is written.
    pub style: Style,
    /// The number of digits, for a number that consists of digits only; otherwise 0.
    pub plain_digits: usize,
    /// Whether it is an identifier rather than a number.
    pub is_identifier: bool,
}

/// What stands for a number that a value does not have.
pub const NO_NUMBER: f64 = f64::NAN;

/// A value of a sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Amount {
    /// The unit that values are compared in; empty for a number without a unit.
    pub unit: &'static str,
    /// The unit as it is written, for a number with one.
    pub written_unit: Option<&'static Unit>,
    /// The value in that unit.
    pub value: f64,
    /// The numbers that it is written with; those that it does not have are not a number.
    pub numbers: [f64; 3],
    /// How it is written.
    pub style: Style,
    /// Where it stands in the sentence.
    pub range: Range<usize>,
}

/// A value that a text begins with, before it is known where it stands, and the rest.
pub type Parsed<'a> = (Amount, &'a str);

impl Amount {
    /// A value that is written with its number.
    pub const fn new(unit: &'static str, value: f64) -> Self {
        Self::of_numbers(unit, value, [value, NO_NUMBER, NO_NUMBER])
    }

    /// A value that is written with these numbers.
    pub const fn of_numbers(unit: &'static str, value: f64, numbers: [f64; 3]) -> Self {
        Self { unit, written_unit: None, value, numbers, style: Style::Digits, range: 0..0 }
    }
}
