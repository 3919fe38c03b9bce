//! The coverage of a file by ranges of lines.

use annai_core::ToolError;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::reading::{LineRange, merged};
use annai_files::LibraryError;

/// A range of cited lines, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CitedRange {
    /// The first line, counted from 1.
    #[schemars(range(min = 1))]
    pub(crate) start_line: u64,
    /// The last line, inclusive. A number beyond the end of the file means the last line.
    #[schemars(range(min = 1))]
    pub(crate) end_line: u64,
}

/// Checks cited ranges. The error about one that ends before it starts names its index.
pub(crate) fn check_cited(ranges: &[CitedRange]) -> Result<Vec<LineRange>, ToolError> {
    let check = |(index, range): (usize, &CitedRange)| {
        let CitedRange { start_line, end_line } = *range;
        if start_line > end_line {
            let problem =
                format!("expected end_line to be at least start_line ({start_line}), got {end_line}");
            return Err(LibraryError::invalid(format!("cited_ranges[{index}]"), problem).into());
        }
        Ok(LineRange { start_line, end_line })
    };
    ranges.iter().enumerate().map(check).collect()
}

/// The coverage of a file by line ranges.
#[derive(Debug, Clone, PartialEq)]
pub struct Coverage {
    /// The number of lines in the file.
    pub total_lines: u64,
    /// The number of lines that are covered.
    pub covered_lines: u64,
    /// The covered ranges, merged and sorted.
    pub covered: Vec<LineRange>,
    /// The ranges that are not covered, sorted.
    pub uncovered: Vec<LineRange>,
}

impl Coverage {
    /// The coverage of a file with this number of lines. Lines beyond its end do not count.
    pub fn new(total_lines: u64, ranges: Vec<LineRange>) -> Self {
        let within = ranges.into_iter().filter_map(|range| {
            let range =
                LineRange { start_line: range.start_line.max(1), end_line: range.end_line.min(total_lines) };
            (range.start_line <= range.end_line).then_some(range)
        });
        let covered = merged(within.collect());
        let (mut uncovered, mut next) = (Vec::new(), 1);
        for range in &covered {
            if next < range.start_line {
                uncovered.push(LineRange { start_line: next, end_line: range.start_line - 1 });
            }
            next = range.end_line + 1;
        }
        if next <= total_lines {
            uncovered.push(LineRange { start_line: next, end_line: total_lines });
        }
        let covered_lines = covered.iter().map(|range| range.count()).sum();
        Self { total_lines, covered_lines, covered, uncovered }
    }

    /// The covered share, rounded down to four decimals; 1 for an empty file.
    pub fn ratio(&self) -> f64 {
        if self.total_lines == 0 {
            return 1.0;
        }
        let share = self.covered_lines as f64 / self.total_lines as f64;
        // Rounding down keeps a nearly complete coverage below 1.
        if self.uncovered.is_empty() { 1.0 } else { (share * 10_000.0).floor() / 10_000.0 }
    }

    /// Whether the covered share is at least `min_ratio`.
    pub fn reaches(&self, min_ratio: f64) -> bool {
        self.total_lines == 0 || self.covered_lines as f64 >= min_ratio * self.total_lines as f64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn range(start_line: u64, end_line: u64) -> LineRange {
        LineRange { start_line, end_line }
    }

    #[test]
    fn lines_beyond_the_end_do_not_count_and_the_ratio_is_rounded_down() {
        let coverage = Coverage::new(5, vec![range(1, 2), range(3, 10), range(100, u64::MAX)]);
        assert_eq!((coverage.covered.as_slice(), coverage.ratio()), ([range(1, 5)].as_slice(), 1.0));
        assert_eq!(Coverage::new(0, vec![range(1, 1)]).ratio(), 1.0);
        let most = Coverage::new(100_000, vec![range(1, 99_999)]);
        assert_eq!((most.ratio(), most.reaches(1.0), most.reaches(0.9)), (0.9999, false, true));
    }

    #[test]
    fn the_error_about_a_reversed_range_names_its_index() {
        let ranges = [CitedRange { start_line: 1, end_line: 2 }, CitedRange { start_line: 9, end_line: 3 }];
        let error = check_cited(&ranges).unwrap_err();
        assert_eq!(
            error.message(),
            "cited_ranges[1]: expected end_line to be at least start_line (9), got 3"
        );
    }

    proptest! {
        #[test]
        fn every_line_is_either_covered_or_uncovered(
            total in 0_u64..200,
            ranges in proptest::collection::vec((1_u64..220, 0_u64..40), 0..20),
        ) {
            let ranges: Vec<_> = ranges.iter().map(|(start, length)| range(*start, start + length)).collect();
            let coverage = Coverage::new(total, ranges.clone());
            let mut all: Vec<_> = coverage.covered.iter().chain(&coverage.uncovered).copied().collect();
            all.sort_by_key(|range| range.start_line);
            let lines: Vec<u64> = all.iter().flat_map(|range| range.start_line..=range.end_line).collect();
            prop_assert_eq!(lines, (1..=total).collect::<Vec<_>>());
            for line in 1..=total {
                let cited = ranges.iter().any(|range| (range.start_line..=range.end_line).contains(&line));
                let covered = coverage.covered.iter().any(|range| (range.start_line..=range.end_line).contains(&line));
                prop_assert_eq!(cited, covered);
            }
            // Adjoining ranges are merged.
            prop_assert!(coverage.covered.windows(2).all(|pair| pair[0].end_line + 1 < pair[1].start_line));
            prop_assert_eq!(coverage.covered_lines, coverage.covered.iter().map(|range| range.count()).sum::<u64>());
            prop_assert!((0.0..=1.0).contains(&coverage.ratio()));
            prop_assert_eq!(coverage.ratio() == 1.0, coverage.uncovered.is_empty());
        }
    }
}
