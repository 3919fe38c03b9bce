//! The summaries of the two finds in numbers. They are published exactly as declared here, field by field.

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

/// Why the search was widened, or would have been.
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
    /// The number of files that were searched.
    pub scanned_files: usize,
    /// The number of sections that were searched.
    pub scanned_nodes: usize,
    /// The number of matching sections.
    pub candidates: usize,
    /// The number of files that could not be read or parsed, plus the number of search stages that failed.
    pub warnings: usize,
    /// The last search stage that ran.
    pub max_stage_applied: u8,
    /// Whether the search was widened to other manuals.
    pub scope_expanded: bool,
    /// The number of places that were not searched; manual_hits with kind `unscanned` lists them.
    pub unscanned_sections_count: usize,
    /// The number of matches before matches in the same section were merged.
    pub integrated_candidates: usize,
    /// The number of sections after merging.
    pub integrated_nodes: usize,
    /// The number of matching sections per kind of match.
    pub signal_coverage: SignalCoverage,
    /// The share of the matches that lie in a single file, from 0 to 1; a high value means that the result depends on
    /// one file.
    pub file_bias_ratio: f64,
    /// The number of pairs of sections that contradict each other.
    pub conflict_count: usize,
    /// The number of terms of the question that nothing was found for.
    pub gap_count: usize,
    /// How well the result answers the question, from 0 to 1.
    pub sufficiency_score: f64,
    /// `ready`: read the best sections and answer. `needs_followup`: follow next_actions first. `blocked`: nothing
    /// was found.
    pub integration_status: IntegrationStatus,
    /// Why some places were not searched; absent when everything was. `time_budget`: the time ran out.
    /// `candidate_cap`: there were more matches than max_candidates. `stage_cap`: max_stage excluded the other
    /// manuals. `hard_limit`: a file is larger than 256 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cutoff_reason: Option<SkipReason>,
    /// Why the search was widened, or would have been if it were allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub escalation_reasons: Vec<EscalationReason>,
}

/// A find of the vault in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VaultFindSummary {
    /// The number of files that were searched.
    pub scanned_files: usize,
    /// The number of paragraphs that were searched.
    pub scanned_nodes: usize,
    /// The number of matching paragraphs.
    pub candidates: usize,
    /// The number of files that could not be read or are not text.
    pub warnings: usize,
    /// The last search stage that ran.
    pub max_stage_applied: u8,
    /// Always false, because there is only one vault.
    pub scope_expanded: bool,
    /// The number of places that were not searched; manual_hits with kind `unscanned` lists them.
    pub unscanned_sections_count: usize,
    /// The number of matches before matches in the same paragraph were merged.
    pub integrated_candidates: usize,
    /// The number of paragraphs after merging.
    pub integrated_nodes: usize,
    /// The number of matching sections per kind of match.
    pub signal_coverage: VaultSignalCoverage,
    /// The share of the matches that lie in a single file, from 0 to 1; a high value means that the result depends on
    /// one file.
    pub file_bias_ratio: f64,
    /// The number of pairs of paragraphs that contradict each other.
    pub conflict_count: usize,
    /// The number of terms of the question that nothing was found for.
    pub gap_count: usize,
    /// The number of line ranges without a match in the files that have matches.
    pub gap_ranges_count: usize,
    /// How well the result answers the question, from 0 to 1.
    pub sufficiency_score: f64,
    /// `ready`: read the best sections and answer. `needs_followup`: follow next_actions first. `blocked`: nothing
    /// was found.
    pub integration_status: IntegrationStatus,
    /// Why some places were not searched; absent when everything was. `time_budget`: the time ran out.
    /// `candidate_cap`: there were more matches than max_candidates. `stage_cap`: max_stage excluded the other
    /// manuals. `hard_limit`: a file is larger than 256 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cutoff_reason: Option<SkipReason>,
}

/// How many candidates each signal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VaultSignalCoverage {
    /// Paragraphs that contain a term as it is, after normalization.
    pub normalized: usize,
    /// Paragraphs that match loosely: other separators, other spellings or synonyms.
    pub loose: usize,
}

/// How many candidates each signal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SignalCoverage {
    /// Sections whose heading matches.
    pub heading: usize,
    /// Sections that contain a term as it is, after normalization.
    pub normalized: usize,
    /// Sections that match loosely: other separators, other spellings or synonyms.
    pub loose: usize,
    /// Sections that contain an exception word.
    pub exceptions: usize,
    /// Sections that another match refers to.
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

#[cfg(test)]
mod tests {
    use super::super::place::NodePlace;
    use super::*;

    #[test]
    fn each_candidate_counts_for_each_of_its_signals() {
        let candidate = |signals| Candidate {
            place: NodePlace { view: 0, segment: 0, node: 0 },
            score: 1.0,
            signals,
            terms: 1,
        };
        let candidates = [
            candidate(Signals::HEADING.with(Signals::NORMALIZED)),
            candidate(Signals::NORMALIZED.with(Signals::LOOSE)),
            candidate(Signals::EXCEPTIONS),
            candidate(Signals::REFERENCE.with(Signals::EXCEPTIONS)),
        ];
        let expected = SignalCoverage { heading: 1, normalized: 2, loose: 1, exceptions: 2, reference: 1 };
        assert_eq!(SignalCoverage::of(&candidates), expected);
        assert_eq!(VaultSignalCoverage::of(&candidates), VaultSignalCoverage { normalized: 2, loose: 1 });
    }

    #[test]
    fn shares_have_two_decimals() {
        assert_eq!((rounded(2.0 / 3.0), rounded(0.995), rounded(0.0)), (0.67, 1.0, 0.0));
    }
}
