//! What is kept of a find to learn from: numbers and hashes, never a word of it.

use serde::{Deserialize, Serialize};

use crate::fs::Sha256;

/// The two thresholds that are learned.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Thresholds {
    /// With fewer candidates than this the find widens.
    pub candidate_low: usize,
    /// From this share of the candidates in one file on, the find widens.
    pub file_bias: f64,
}

/// One find.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LearningRecord {
    /// When, in milliseconds since 1970.
    pub ts: i64,
    /// The question, as a hash.
    pub query_hash: String,
    /// The number of files that were searched.
    pub scanned_files: usize,
    /// The number of matching sections.
    pub candidates: usize,
    /// What went wrong on the way.
    pub warnings: usize,
    /// The last search stage that ran.
    pub max_stage_applied: u8,
    /// Whether it widened.
    pub scope_expanded: bool,
    /// Why something was left out.
    pub cutoff_reason: Option<String>,
    /// How much was left out.
    pub unscanned_sections_count: usize,
    /// Tokens, about.
    pub est_tokens: usize,
    /// Tokens of the question.
    pub est_tokens_in: usize,
    /// Tokens of the reply.
    pub est_tokens_out: usize,
    /// Candidates that the caller's earlier finds did not have.
    pub added_evidence_count: usize,
    /// Tokens that they cost.
    pub added_est_tokens: usize,
    /// Evidence per token; none where it cost none.
    pub marginal_gain: Option<f64>,
    /// The thresholds in force.
    pub candidate_low_threshold: usize,
    /// The thresholds in force.
    pub file_bias_threshold: f64,
    /// When each threshold was last moved; none where it never was.
    #[serde(default)]
    pub candidate_low_since: Option<i64>,
    /// The same for the other.
    #[serde(default)]
    pub file_bias_since: Option<i64>,
    /// The find's trace, as a hash, so that what is used later can be added.
    pub trace_hash: String,
    /// Candidates in the manual that it began in; none where it began in all.
    pub home_candidates: Option<usize>,
    /// The share of them in one file.
    pub home_bias: f64,
    /// Sections that the caller used later.
    #[serde(default)]
    pub used: usize,
    /// How many of them the find had.
    #[serde(default)]
    pub used_found: usize,
    /// How many of those it had only because it widened.
    #[serde(default)]
    pub used_widened: usize,
}

impl LearningRecord {
    /// Its thresholds.
    pub const fn thresholds(&self) -> Thresholds {
        Thresholds { candidate_low: self.candidate_low_threshold, file_bias: self.file_bias_threshold }
    }

    /// The share of what was used that it had; none where nothing was used.
    pub fn recall(&self) -> Option<f64> {
        (self.used > 0).then(|| self.used_found as f64 / self.used as f64)
    }

    /// The same, had it not widened.
    pub fn recall_at_home(&self) -> Option<f64> {
        (self.used > 0).then(|| self.used_found.saturating_sub(self.used_widened) as f64 / self.used as f64)
    }
}

/// The beginning of a hash, enough to tell texts apart.
pub fn hash_of(text: &str) -> String {
    let mut hash = Sha256::of(text.as_bytes()).to_string();
    hash.truncate(16);
    hash
}

/// The number of a section, for sets of them; a JSON file is one section.
pub fn section_number(manual_id: &str, path: &str, line: u64) -> u64 {
    number_of(manual_id, path, if path.to_ascii_lowercase().ends_with(".json") { 1 } else { line })
}

/// The number of a file.
pub fn file_number(manual_id: &str, path: &str) -> u64 {
    number_of(manual_id, path, 0)
}

fn number_of(manual_id: &str, path: &str, line: u64) -> u64 {
    let bytes = Sha256::of(format!("{manual_id}\n{path}\n{line}").as_bytes()).bytes();
    bytes.iter().take(8).fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

/// Characters as tokens, about.
pub const fn tokens(chars: usize) -> usize {
    chars.div_ceil(4)
}
