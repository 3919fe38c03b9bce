//! Amounts of money.

use std::fmt;
use std::iter::Sum;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::Problem;

/// An amount in US cents, from 0 to 10^12 (ten billion dollars). Sums that would leave the range do not exist.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "i64", into = "i64")]
#[schemars(!try_from, !into)]
pub struct Cents(#[schemars(range(min = 0, max = 1_000_000_000_000_i64))] i64);

impl Cents {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// The largest amount.
    pub const MAX: Self = Self(1_000_000_000_000);

    /// The amount, if it is within the range.
    ///
    /// # Errors
    ///
    /// It is negative or more than [`Cents::MAX`].
    pub fn parse(cents: i64) -> Result<Self, Problem> {
        if (0..=Self::MAX.0).contains(&cents) {
            Ok(Self(cents))
        } else {
            Err(Problem::new(format!("must be an integer from 0 to {} (US cents)", Self::MAX.0)))
        }
    }

    /// The number of cents.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The sum, if it is within the range.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        // Both are at most 10^12, so the sum of the integers cannot overflow.
        Self::parse(self.0 + other.0).ok()
    }

    /// What is left after taking `other` away, if it suffices.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        Self::parse(self.0 - other.0).ok()
    }
}

impl TryFrom<i64> for Cents {
    type Error = Problem;

    fn try_from(cents: i64) -> Result<Self, Problem> {
        Self::parse(cents)
    }
}

impl From<Cents> for i64 {
    fn from(cents: Cents) -> Self {
        cents.0
    }
}

impl fmt::Display for Cents {
    /// Writes the amount in dollars, such as `$1.05`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}.{:02}", self.0 / 100, self.0 % 100)
    }
}

impl Sum for Cents {
    /// The sum, or [`Cents::MAX`] where it would exceed that.
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, |sum, each| sum.checked_add(each).unwrap_or(Self::MAX))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn amounts_are_between_zero_and_ten_to_the_twelfth() {
        for wrong in [-1, 1_000_000_000_001, i64::MIN, i64::MAX] {
            assert!(Cents::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Cents::parse(105).unwrap().to_string(), "$1.05");
        assert_eq!(Cents::MAX.checked_add(Cents::parse(1).unwrap()), None);
    }

    proptest! {
        #[test]
        fn sums_and_differences_stay_in_range_and_invert_each_other(a in 0..=Cents::MAX.0, b in 0..=Cents::MAX.0) {
            let (a, b) = (Cents::parse(a).unwrap(), Cents::parse(b).unwrap());
            if let Some(sum) = a.checked_add(b) {
                prop_assert!(sum <= Cents::MAX);
                prop_assert_eq!(sum.checked_sub(b), Some(a));
            } else {
                prop_assert!(a.get() + b.get() > Cents::MAX.get());
            }
            prop_assert_eq!(a.checked_sub(b).is_some(), a >= b);
        }

        #[test]
        fn any_integer_parses_or_is_refused(any: i64) {
            prop_assert_eq!(Cents::parse(any).is_ok(), (0..=1_000_000_000_000).contains(&any));
        }
    }
}
