//! Conflict cases: what they say, what was reported about them, and the figures of that.

mod cases;
mod scores;

pub use cases::{ANY_SPLIT, CaseFile, ConflictCase};
pub use scores::{ConflictScores, measure_file_case, measure_refs};
