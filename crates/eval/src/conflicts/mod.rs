//! Conflict cases: what they say, what was reported about them, and the figures of that.

mod cases;
mod conflict_scores;

pub use cases::{ANY_SPLIT, CaseFile, ConflictCase};
pub use conflict_scores::{ConflictScores, measure_file_case, measure_refs};
