//! A find in numbers, as its result shows it. The two summaries are published as they stand here, field by field.

use schemars::JsonSchema;
use serde::Serialize;

use super::candidate::{Candidate, Signals};
use super::unscanned::SkipReason;

/// Whether what was found is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntegrationStatus {
    Ready,
    NeedsFollowup,
    Blocked,
}

/// Why a find went further than asked, or would have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EscalationReason {
    ZeroCandidates,
    LowCandidates,
    FileBias,
    ExceptionsMissing,
    ManualScopeExpanded,
    StageCap,
    PrioritizedUnscannedSections,
}

/// A find of the manuals in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FindSummary {
    /// Files that were looked at.
    pub scanned_files: usize,
    /// Sections that were looked at.
    pub scanned_nodes: usize,
    /// Sections that were found.
    pub candidates: usize,
    /// Files that could not be read or are not what they say, and stages that failed.
    pub warnings: usize,
    /// The last stage that ran.
    pub max_stage_applied: u8,
    /// Whether other manuals were looked at too.
    pub scope_expanded: bool,
    /// Places that were not looked at; manual_hits kind unscanned has them.
    pub unscanned_sections_count: usize,
    /// Hits, before those in one section became one.
    pub integrated_candidates: usize,
    /// Sections that they are in.
    pub integrated_nodes: usize,
    /// How many candidates each signal has.
    pub signal_coverage: SignalCoverage,
    /// The share of the candidates that the file with the most of them has.
    pub file_bias_ratio: f64,
    /// Pairs of sections that disagree.
    pub conflict_count: usize,
    /// Things asked for that nothing was found for.
    pub gap_count: usize,
    /// How far this answers the question, 0 to 1.
    pub sufficiency_score: f64,
    /// Whether it is enough.
    pub integration_status: IntegrationStatus,
    /// Why something was left out; absent where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cutoff_reason: Option<SkipReason>,
    /// Why the find went further, or would have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub escalation_reasons: Vec<EscalationReason>,
}

/// A find of the vault in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VaultFindSummary {
    /// Files that were looked at.
    pub scanned_files: usize,
    /// Paragraphs that were looked at.
    pub scanned_nodes: usize,
    /// Places that were found.
    pub candidates: usize,
    /// Files that could not be read or are no text.
    pub warnings: usize,
    /// The last stage that ran.
    pub max_stage_applied: u8,
    /// Always false: there is one vault.
    pub scope_expanded: bool,
    /// Places that were not looked at; manual_hits kind unscanned has them.
    pub unscanned_sections_count: usize,
    /// Hits, before those in one paragraph became one.
    pub integrated_candidates: usize,
    /// Paragraphs that they are in.
    pub integrated_nodes: usize,
    /// How many candidates each signal has.
    pub signal_coverage: VaultSignalCoverage,
    /// The share of the candidates that the file with the most of them has.
    pub file_bias_ratio: f64,
    /// Pairs of places that disagree.
    pub conflict_count: usize,
    /// Things asked for that nothing was found for.
    pub gap_count: usize,
    /// In the files that were found, the ranges of lines where nothing was.
    pub gap_ranges_count: usize,
    /// How far this answers the question, 0 to 1.
    pub sufficiency_score: f64,
    /// Whether it is enough.
    pub integration_status: IntegrationStatus,
    /// Why something was left out; absent where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cutoff_reason: Option<SkipReason>,
}

/// How many candidates each signal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VaultSignalCoverage {
    pub normalized: usize,
    pub loose: usize,
}

/// How many candidates each signal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SignalCoverage {
    pub heading: usize,
    pub normalized: usize,
    pub loose: usize,
    pub exceptions: usize,
    pub reference: usize,
}

fn count(candidates: &[Candidate], signal: Signals) -> usize {
    candidates.iter().filter(|candidate| candidate.signals.has(signal)).count()
}

impl SignalCoverage {
    /// Counts the candidates of each signal.
    pub fn of(candidates: &[Candidate]) -> Self {
        Self {
            heading: count(candidates, Signals::HEADING),
            normalized: count(candidates, Signals::NORMALIZED),
            loose: count(candidates, Signals::LOOSE),
            exceptions: count(candidates, Signals::EXCEPTIONS),
            reference: count(candidates, Signals::REFERENCE),
        }
    }
}

impl VaultSignalCoverage {
    /// Counts the candidates of each signal that a find of the vault knows.
    pub fn of(candidates: &[Candidate]) -> Self {
        Self { normalized: count(candidates, Signals::NORMALIZED), loose: count(candidates, Signals::LOOSE) }
    }
}

/// A share with two decimals, which is as exact as it is.
pub fn rounded(share: f64) -> f64 {
    (share * 100.0).round() / 100.0
}
