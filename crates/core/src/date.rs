//! Calendar dates, as far as this program needs them: today, ISO text, and how many days lie between.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

const DAY: u64 = 86_400;

/// A day of the Gregorian calendar; prints as `YYYY-MM-DD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: u64,
    month: u64,
    day: u64,
}

impl Date {
    /// The day of a time in UTC.
    #[must_use]
    pub fn in_utc(time: SystemTime) -> Self {
        Self::after_epoch(time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / DAY)
    }

    /// The day that `YYYY-MM-DD` names, if there is one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let shape = bytes.len() == 10
            && bytes.iter().enumerate().all(|(index, byte)| match index {
                4 | 7 => *byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if !shape {
            return None;
        }
        let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<u64>().ok();
        let date = Self { year: number(0..4)?, month: number(5..7)?, day: number(8..10)? };
        ((1..=12).contains(&date.month) && (1..=date.days_in_month()).contains(&date.day)).then_some(date)
    }

    /// How many days it lies after 1970-01-01 (earlier days count as that one).
    #[must_use]
    pub const fn days(self) -> u64 {
        // Counted from 0000-03-01, so that the leap day ends a year.
        let (year, month) = if self.month > 2 {
            (self.year, self.month - 3)
        } else {
            (self.year.saturating_sub(1), self.month + 9)
        };
        let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + self.day - 1;
        days.saturating_sub(719_468)
    }

    fn days_in_month(self) -> u64 {
        let leap =
            self.year.is_multiple_of(4) && (!self.year.is_multiple_of(100) || self.year.is_multiple_of(400));
        match self.month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    fn after_epoch(days: u64) -> Self {
        // 400 years have 146,097 days.
        let days = days + 719_468;
        let (era, day) = (days / 146_097, days % 146_097);
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let shifted = (5 * day + 2) / 153;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        Self { year: era * 400 + year + u64::from(month <= 2), month, day: day - (153 * shifted + 2) / 5 + 1 }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_real_days_have_dates() {
        for text in ["2024-02-29", "2000-02-29", "1970-01-01", "2026-12-31"] {
            assert_eq!(Date::parse(text).map(|date| date.to_string()).as_deref(), Some(text));
        }
        for text in [
            "2023-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-04-31",
            "2026-1-01",
            "2026/01/01",
            "２０２６-01-01",
            "",
        ] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_day_ends_at_midnight() {
        let at = |seconds| Date::in_utc(UNIX_EPOCH + Duration::from_secs(seconds)).to_string();
        assert_eq!((at(DAY - 1).as_str(), at(DAY).as_str()), ("1970-01-01", "1970-01-02"));
    }

    proptest! {
        #[test]
        fn days_and_dates_are_one(days in 0_u64..2_900_000) {
            let date = Date::after_epoch(days);
            prop_assert_eq!(date.days(), days);
            prop_assert_eq!(Date::parse(&date.to_string()), Some(date));
        }
    }
}
