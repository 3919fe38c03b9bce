//! What a find saw, in the form in which it is kept: places as refs instead of indexes.

use super::unscanned::UnscannedPart;
use crate::reference::{Ref, Target};

/// A section that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceItem {
    /// Where it is, and why it was found.
    pub place: Ref,
    /// The rank score, comparable within this search only.
    pub score: f64,
    /// The ids of the sections that say otherwise.
    pub conflict_with: Vec<String>,
}

/// What a find saw.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceRecord {
    /// Whether it looked at the manuals or at the vault.
    pub target: Target,
    /// What was found, in document order.
    pub candidates: Vec<TraceItem>,
    /// The best of it, best first.
    pub top: Vec<TraceItem>,
    /// What was not looked at.
    pub unscanned: Vec<UnscannedPart>,
    /// Sections that disagree, and about what.
    pub conflicts: Vec<(TraceItem, String)>,
    /// What nothing was found for.
    pub gaps: Vec<String>,
}

impl TraceRecord {
    /// How many places were not looked at.
    pub fn unscanned_count(&self) -> usize {
        self.unscanned.iter().map(UnscannedPart::count).sum()
    }

    /// About how much memory it takes.
    pub fn estimated_bytes(&self) -> usize {
        let items = self.candidates.len() + self.top.len() + self.conflicts.len();
        items * 400
            + self.unscanned.iter().map(|part| 150 + part.path.len() + part.lines.len() * 4).sum::<usize>()
            + 500
    }
}
