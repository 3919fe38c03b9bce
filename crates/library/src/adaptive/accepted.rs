//! The thresholds that are in force. They are kept apart from the records, which several processes write and anybody can
//! edit: whatever the records say, a threshold moves by one step a day.

use serde::{Deserialize, Serialize};

use super::learn::{FILE_BIAS_STEP, MIN_STEP_INTERVAL_MS, clamped};
use super::record::Thresholds;

/// The thresholds that were last accepted, and when each of them was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Accepted {
    /// The thresholds.
    pub thresholds: Thresholds,
    /// When the candidate threshold last moved, in milliseconds since 1970; `None` when it never did.
    candidate_low_at: Option<i64>,
    /// When the file bias threshold last moved.
    file_bias_at: Option<i64>,
}

impl Accepted {
    /// The thresholds of the settings, which have not moved yet.
    pub const fn new(base: Thresholds) -> Self {
        Self { thresholds: base, candidate_low_at: None, file_bias_at: None }
    }

    /// What a file says, with times that are not in the future and thresholds in their ranges; `None` when it says nothing.
    pub fn parse(text: &str, now: i64) -> Option<Self> {
        let found: Self = serde_json::from_str(text.trim()).ok()?;
        let past = |time: Option<i64>| time.map(|time| time.min(now));
        Some(Self {
            thresholds: clamped(found.thresholds),
            candidate_low_at: past(found.candidate_low_at),
            file_bias_at: past(found.file_bias_at),
        })
    }

    /// The thresholds after a step towards those that the records suggest. Each moves by one step, and only when a day has
    /// passed since its last one. Only the way back to the settings is free: it is always safe.
    pub fn step_towards(self, wanted: Thresholds, base: Thresholds, now: i64) -> Self {
        let mut next = self;
        let has_waited =
            |moved: Option<i64>| moved.is_none_or(|moved| now.saturating_sub(moved) >= MIN_STEP_INTERVAL_MS);
        let is_base = wanted == base;
        let (low, bias) = (self.thresholds.candidate_low, self.thresholds.file_bias);
        if is_base || has_waited(self.candidate_low_at) {
            let step = if is_base { usize::MAX } else { 1 };
            let range = low.saturating_sub(step)..=low.saturating_add(step);
            next.thresholds.candidate_low = wanted.candidate_low.clamp(*range.start(), *range.end());
        }
        if is_base || has_waited(self.file_bias_at) {
            let step = if is_base { 1.0 } else { FILE_BIAS_STEP };
            next.thresholds.file_bias = wanted.file_bias.clamp(bias - step, bias + step);
        }
        next.thresholds = clamped(next.thresholds);
        if next.thresholds.candidate_low != low {
            next.candidate_low_at = Some(now);
        }
        if (next.thresholds.file_bias - bias).abs() > f64::EPSILON {
            next.file_bias_at = Some(now);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Thresholds = Thresholds { candidate_low: 3, file_bias: 0.80 };
    const WANTED: Thresholds = Thresholds { candidate_low: 6, file_bias: 0.90 };
    const HOUR: i64 = 3600 * 1000;

    #[test]
    fn whatever_is_wanted_a_threshold_moves_by_one_step_a_day() {
        let mut accepted = Accepted::new(BASE);
        let mut seen = Vec::new();
        for hour in 0..72 {
            accepted = accepted.step_towards(WANTED, BASE, hour * HOUR);
            if hour % 24 == 23 {
                seen.push((
                    accepted.thresholds.candidate_low,
                    (accepted.thresholds.file_bias * 100.0).round(),
                ));
            }
        }
        assert_eq!(seen, [(4, 83.0), (5, 86.0), (6, 89.0)]);
        let back = accepted.step_towards(BASE, BASE, 72 * HOUR);
        assert_eq!(back.thresholds, BASE, "the way back to the settings is free");
        assert_eq!(back.step_towards(WANTED, BASE, 73 * HOUR).thresholds, BASE, "and counts as a step");
    }

    #[test]
    fn a_file_that_somebody_edited_is_bounded() {
        let edited = r#"{"thresholds":{"candidate_low":900,"file_bias":7.5},"candidate_low_at":99,"file_bias_at":null}"#;
        let accepted = Accepted::parse(edited, 10).unwrap();
        assert_eq!((accepted.thresholds, accepted.candidate_low_at), (WANTED, Some(10)));
        for text in ["", "{}", "null", "[1]"] {
            assert_eq!(Accepted::parse(text, 0), None, "{text}");
        }
        let accepted = Accepted::new(BASE).step_towards(WANTED, BASE, 5);
        assert_eq!(Accepted::parse(&serde_json::to_string(&accepted).unwrap(), 9), Some(accepted));
    }
}
