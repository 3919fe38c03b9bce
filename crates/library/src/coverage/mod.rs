//! Which lines of a file a caller has cited or read, and which ones are still missing.

mod covered_file;
mod line_coverage;
mod scan_store;

pub(crate) use covered_file::{CoveredFile, artifact_place};
pub use line_coverage::Coverage;
pub(crate) use line_coverage::{CitedRange, check_cited};
pub(crate) use scan_store::{CoverageStep, ScanRecord, ScanStore};
