//! How far the sufficiency that `manual_find` states agrees with the share of finds that hold the answer.

use serde::Serialize;

use crate::bootstrap::Estimate;

/// The number of bins of the sufficiency, each of the same width.
const BINS: usize = 10;

/// A find: what it stated, and whether the answer was among its first five sections.
#[derive(Debug, Clone, Copy)]
pub struct Statement {
    pub sufficiency: f64,
    pub is_answered: bool,
}

impl Statement {
    fn observed(self) -> f64 {
        f64::from(u8::from(self.is_answered))
    }

    /// The squared difference between the statement and what was observed.
    pub fn squared_error(self) -> f64 {
        (self.sufficiency - self.observed()).powi(2)
    }

    fn bin(self) -> usize {
        ((self.sufficiency * BINS as f64) as usize).min(BINS - 1)
    }
}

/// The finds whose sufficiency lies in one range. The upper bound belongs to the next bin, except the last one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bin {
    pub from: f64,
    pub to: f64,
    pub finds: usize,
    pub mean_score: Option<f64>,
    /// The share of the finds with the answer among the first five sections.
    pub observed: Option<f64>,
}

/// The reliability of all finds.
#[derive(Debug, Serialize)]
pub struct Reliability {
    pub bins: Vec<Bin>,
    /// The mean squared difference between the statement and what was observed.
    pub brier: Estimate,
    /// The mean difference between statement and observation over the bins, weighted by their finds.
    pub calibration_error: Estimate,
}

impl Reliability {
    pub fn of(finds: &[Statement]) -> Self {
        let errors: Vec<_> = finds.iter().map(|find| Some(find.squared_error())).collect();
        Self {
            bins: bins(finds),
            brier: Estimate::mean(&errors),
            calibration_error: Estimate::of(finds, calibration_error),
        }
    }
}

fn bins(finds: &[Statement]) -> Vec<Bin> {
    let mut sums = [(0_usize, 0.0, 0.0); BINS];
    for find in finds {
        if let Some((count, scores, observed)) = sums.get_mut(find.bin()) {
            *count += 1;
            *scores += find.sufficiency;
            *observed += find.observed();
        }
    }
    let bin = |(number, (finds, scores, observed)): (usize, (usize, f64, f64))| {
        let mean = |sum: f64| (finds > 0).then(|| sum / finds as f64);
        let bound = |number: usize| number as f64 / BINS as f64;
        Bin {
            from: bound(number),
            to: bound(number + 1),
            finds,
            mean_score: mean(scores),
            observed: mean(observed),
        }
    };
    sums.into_iter().enumerate().map(bin).collect()
}

/// The expected calibration error, if there are any finds.
pub fn calibration_error(finds: &[Statement]) -> Option<f64> {
    let differences = bins(finds).into_iter().filter_map(|bin| {
        let difference = (bin.mean_score? - bin.observed?).abs();
        Some(difference * bin.finds as f64)
    });
    (!finds.is_empty()).then(|| differences.sum::<f64>() / finds.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(sufficiency: f64, is_answered: bool) -> Statement {
        Statement { sufficiency, is_answered }
    }

    #[test]
    fn finds_are_sorted_into_bins() {
        let finds = [find(0.0, false), find(0.3, true), find(0.39, false), find(0.9, true), find(1.0, true)];
        let reliability = Reliability::of(&finds);
        let counts: Vec<_> = reliability.bins.iter().map(|bin| bin.finds).collect();
        assert_eq!(counts, [1, 0, 0, 2, 0, 0, 0, 0, 0, 2]);
        let third = reliability.bins[3];
        assert_eq!((third.from, third.to, third.observed), (0.3, 0.4, Some(0.5)));
        assert!((third.mean_score.unwrap() - 0.345).abs() < 1e-9);
        assert_eq!(reliability.bins[1].observed, None);
        // (0 + 0.49 + 0.1521 + 0.01 + 0) / 5
        assert!((reliability.brier.value.unwrap() - 0.130_42).abs() < 1e-9);
        // (0 + 2 · 0.155 + 2 · 0.05) / 5
        assert!((reliability.calibration_error.value.unwrap() - 0.082).abs() < 1e-9);
    }

    #[test]
    fn the_tenths_belong_to_the_bin_that_they_begin() {
        for tenth in 0..10 {
            assert_eq!(find(f64::from(tenth) / 10.0, true).bin(), tenth as usize);
        }
    }

    #[test]
    fn without_finds_there_is_no_error() {
        let reliability = Reliability::of(&[]);
        assert_eq!((reliability.brier.value, reliability.calibration_error.value), (None, None));
    }
}
