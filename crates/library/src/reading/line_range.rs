//! Ranges of lines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A range of lines, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LineRange {
    /// The first line, counted from 1.
    pub start_line: u64,
    /// The last line, inclusive.
    pub end_line: u64,
}

impl LineRange {
    /// The number of lines.
    pub const fn count(self) -> u64 {
        (self.end_line + 1).saturating_sub(self.start_line)
    }
}

/// Sorts ranges, and merges those that overlap or adjoin. Empty ranges are dropped.
pub(crate) fn merged(mut ranges: Vec<LineRange>) -> Vec<LineRange> {
    ranges.retain(|range| range.start_line <= range.end_line);
    ranges.sort_by_key(|range| (range.start_line, range.end_line));
    let mut merged: Vec<LineRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start_line <= last.end_line.saturating_add(1) => {
                last.end_line = last.end_line.max(range.end_line);
            }
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start_line: u64, end_line: u64) -> LineRange {
        LineRange { start_line, end_line }
    }

    #[test]
    fn overlapping_and_adjoining_ranges_are_merged() {
        assert_eq!(
            merged(vec![range(5, 6), range(1, 2), range(3, 3), range(9, 8), range(2, 4)]),
            [range(1, 6)]
        );
    }
}
