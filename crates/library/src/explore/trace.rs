//! The trace of a find as it is stored: places are refs instead of indexes.

use super::unscanned::UnscannedPart;
use crate::reference::{Ref, Target};

/// A section that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceItem {
    /// Where it is, and the signals by which it was found.
    pub place: Ref,
    /// The rank score, comparable within this search only.
    pub score: f64,
    /// The ids of the sections that contradict it.
    pub conflict_with: Vec<String>,
}

/// The trace of a find.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceRecord {
    /// Whether the manuals or the vault were searched.
    pub target: Target,
    /// The candidates, in document order.
    pub candidates: Vec<TraceItem>,
    /// The best candidates, best first.
    pub top: Vec<TraceItem>,
    /// What was not searched.
    pub unscanned: Vec<UnscannedPart>,
    /// The sections that contradict another one, and about what.
    pub conflicts: Vec<(TraceItem, String)>,
    /// The gaps, a sentence for each.
    pub gaps: Vec<String>,
}

impl TraceRecord {
    /// The number of places that were not searched.
    pub fn unscanned_count(&self) -> usize {
        self.unscanned.iter().map(UnscannedPart::count).sum()
    }

    /// The approximate memory that it takes.
    pub fn estimated_bytes(&self) -> usize {
        let items = self.candidates.len() + self.top.len() + self.conflicts.len();
        items * 400
            + self.unscanned.iter().map(|part| 150 + part.path.len() + part.lines.len() * 4).sum::<usize>()
            + 500
    }
}
