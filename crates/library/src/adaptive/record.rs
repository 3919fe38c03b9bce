//! The statistics of one find: numbers and hashes, never words of the query or of the manuals.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::{Deserialize, Serialize};

use crate::fs::Sha256;

/// The two thresholds that are tuned.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Thresholds {
    /// With fewer candidates, the find widens to all manuals.
    pub candidate_low: usize,
    /// When one file has at least this share of the candidates, the find widens to all manuals.
    pub file_bias: f64,
}

/// The statistics of one find.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LearningRecord {
    /// The time of the find, in milliseconds since 1970.
    pub ts: i64,
    /// A hash of the query.
    pub query_hash: String,
    /// The number of files that were searched.
    pub scanned_files: usize,
    /// The number of matching sections.
    pub candidates: usize,
    /// The number of warnings.
    pub warnings: usize,
    /// The last search stage that ran.
    pub max_stage_applied: u8,
    /// Whether it widened to all manuals.
    pub scope_expanded: bool,
    /// Why places were left out.
    pub cutoff_reason: Option<String>,
    /// The number of places that were left out.
    pub unscanned_sections_count: usize,
    /// The estimated number of tokens of query and reply.
    pub est_tokens: usize,
    /// The estimated number of tokens of the query.
    pub est_tokens_in: usize,
    /// The estimated number of tokens of the reply.
    pub est_tokens_out: usize,
    /// The number of candidates that no earlier find of the same principal returned.
    pub added_evidence_count: usize,
    /// The estimated number of tokens that they cost.
    pub added_est_tokens: usize,
    /// Evidence per token; `None` when it cost none.
    pub marginal_gain: Option<f64>,
    /// The candidate threshold of this find.
    pub candidate_low_threshold: usize,
    /// The file bias threshold of this find.
    pub file_bias_threshold: f64,
    /// When the candidate threshold was last changed; `None` when it never was.
    #[serde(default)]
    pub candidate_low_since: Option<i64>,
    /// When the file bias threshold was last changed.
    #[serde(default)]
    pub file_bias_since: Option<i64>,
    /// A hash of the trace id, by which later reads are added.
    pub trace_hash: String,
    /// The number of candidates in the manual in which it started; `None` when it started in all.
    pub home_candidates: Option<usize>,
    /// The largest share of them in one file.
    pub home_bias: f64,
    /// The number of sections that the caller read later.
    #[serde(default)]
    pub used: usize,
    /// How many of these the find had returned.
    #[serde(default)]
    pub used_found: usize,
    /// How many of those it had returned only because it widened.
    #[serde(default)]
    pub used_widened: usize,
}

impl LearningRecord {
    /// The thresholds of this find.
    pub const fn thresholds(&self) -> Thresholds {
        Thresholds { candidate_low: self.candidate_low_threshold, file_bias: self.file_bias_threshold }
    }

    /// The recall proxy: the share of the sections read later that it had returned; `None` when none was read.
    pub fn recall(&self) -> Option<f64> {
        (self.used > 0).then(|| self.used_found as f64 / self.used as f64)
    }

    /// The recall proxy that it would have had without widening.
    pub fn recall_at_home(&self) -> Option<f64> {
        (self.used > 0).then(|| self.used_found.saturating_sub(self.used_widened) as f64 / self.used as f64)
    }
}

/// The first 16 hexadecimal digits of the SHA-256 of a text.
pub fn hash_of(text: &str) -> String {
    let mut hash = Sha256::of(text.as_bytes()).to_string();
    hash.truncate(16);
    hash
}

/// A 64-bit hash of a section; a JSON file is one section.
pub fn section_number(manual_id: &str, path: &str, line: u64) -> u64 {
    number_of(manual_id, path, if path.to_ascii_lowercase().ends_with(".json") { 1 } else { line })
}

/// A 64-bit hash of a file.
pub fn file_number(manual_id: &str, path: &str) -> u64 {
    number_of(manual_id, path, 0)
}

fn number_of(manual_id: &str, path: &str, line: u64) -> u64 {
    // The numbers stay in this process, so a fast hash suffices.
    let mut hasher = DefaultHasher::new();
    (manual_id, path, line).hash(&mut hasher);
    hasher.finish()
}

/// The estimated number of tokens: four characters each.
pub const fn tokens(chars: usize) -> usize {
    chars.div_ceil(4)
}
