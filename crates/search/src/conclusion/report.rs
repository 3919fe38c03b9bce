//! The summary of a find in numbers. It is published exactly as declared here, field by field.

use schemars::JsonSchema;
use serde::Serialize;

use crate::conclusion::term_presence::TermPresence;
use crate::matching::candidate::{Candidate, Signals};
use crate::query::terms::Goal;
use crate::reference::Target;
use crate::trace::UnsearchableFile;
use crate::trace::unscanned::SkipReason;
use annai_files::fs::UnsearchableReason;

/// Whether what was found is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntegrationStatus {
    Ready,
    NeedsFollowup,
    Blocked,
}

impl IntegrationStatus {
    /// A result is not ready while matches were cut, and with goal `everything` not while anything is left to read or to
    /// search.
    pub const fn for_goal(self, goal: Goal, left: Left) -> Self {
        let is_left = match goal {
            Goal::Answer => left.cut > 0,
            Goal::Everything => left.cut + left.unread + left.unscanned > 0,
        };
        match self {
            Self::Ready if is_left => Self::NeedsFollowup,
            _ => self,
        }
    }
}

/// What a find leaves to do.
#[derive(Debug, Clone, Copy, Default)]
pub struct Left {
    /// The number of places that were not searched in time, and of matches beyond the maximum.
    pub cut: usize,
    /// The number of candidates that were not handed out.
    pub unread: usize,
    /// The number of all places that were not searched.
    pub unscanned: usize,
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

/// A find in numbers. The sections of the vault are paragraphs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FindSummary {
    /// The number of files that were searched.
    pub scanned_files: usize,
    /// The number of sections that were searched.
    pub scanned_nodes: usize,
    /// The number of matching sections, and of matching passages of long sections: those that contain a term of the question as it is written, with other
    /// separators, or as a synonym, and the best fifty of each of `phrasings` and of `hypothetical`. manual_hits lists them
    /// all.
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
    #[schemars(range(min = 0, max = 1))]
    pub file_bias_ratio: f64,
    /// The number of pairs of sentences of a manual that are the same but for a value, a negation or an opposite; manual_hits with kind `conflicts` quotes them.
    pub conflict_count: usize,
    /// The number of pairs of sections that state other values because their headings or file names name different
    /// products, plans, editions or years; manual_hits with kind `variants` quotes them.
    pub variant_count: usize,
    /// True when there are more conflicts or variants than these; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflicts_limited: Option<bool>,
    /// The number of gaps: terms of the question that stand nowhere, and wording that its intent calls for and no section
    /// has. manual_hits with kind `gaps` lists them.
    pub gap_count: usize,
    /// The number of line ranges without a match in the files that have matches; all files when nothing was found. Only of
    /// the vault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap_ranges_count: Option<usize>,
    /// The estimated probability that the five best sections hold the answer, from 0 to 1. It is fitted on other manuals,
    /// so that it is a guide rather than a proof.
    #[schemars(range(min = 0, max = 1))]
    pub sufficiency_score: f64,
    /// `ready`: sufficiency_score is at least 0.9, none of the five best sections is in a conflict, and no match was cut;
    /// read them and answer, or say that they do not state it. `needs_followup`: follow next_actions first. `blocked`:
    /// nothing was found.
    pub integration_status: IntegrationStatus,
    /// Why some places were not searched; absent when everything was. `time_budget`: the time ran out.
    /// `candidate_cap`: there were more matches than max_candidates. `stage_cap`: max_stage excluded the other
    /// manuals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cutoff_reason: Option<SkipReason>,
    /// Why the search was widened, or would have been if it were allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub escalation_reasons: Vec<EscalationReason>,
    /// How many of the candidates lie outside the manual that was asked for. They rank below all others, and count
    /// neither for the sufficiency nor for `ready`. Absent when none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside_candidates: Option<usize>,
    /// What was searched, and what was handed out.
    #[serde(flatten)]
    pub coverage: SearchCoverage,
    /// Where the terms of the question stand, and where to look instead.
    #[serde(flatten)]
    pub presence: TermPresence,
}

/// What was searched, and what was handed out.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SearchCoverage {
    /// The number of sections that are only related to the question: they contain a part of a term, or another match
    /// leads to them. They are not candidates.
    pub related: usize,
    /// The goal of the search: `answer` leads to the best sections, `everything` to all candidates.
    pub goal: Goal,
    /// How many of the candidates were handed out as text. Together with `unread` they are all candidates.
    pub handed_out: usize,
    /// How many of the candidates were not handed out yet; manual_hits with kind `unread` lists them.
    pub unread: usize,
    /// Whether the server remembers what it hands out to this caller. It does not for anonymous callers over HTTP.
    pub read_ledger: bool,
    /// The number of files that were to be searched: the sum of scanned_files, unscanned_files and unsearchable_files.
    pub files_total: usize,
    /// The number of files that were not searched, because of the time or the stage.
    pub unscanned_files: usize,
    /// The number of files that cannot be searched.
    pub unsearchable_files: usize,
    /// The first three files that cannot be searched, without pictures and stylesheets; manual_hits with kind `unsearchable`
    /// lists them all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unsearchable: Vec<UnsearchableEntry>,
    /// A hash of the paths and contents of the files that were searched. Two searches with the same value saw the same
    /// text.
    pub corpus_rev: String,
    /// Sentences about what the result does not cover; absent when there is nothing to say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

impl FindSummary {
    /// The summary as it may be logged.
    pub fn for_log(&self) -> Self {
        Self { presence: self.presence.in_numbers(), ..self.clone() }
    }
}

/// A file that cannot be searched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnsearchableEntry {
    /// The id of its manual; absent for the vault, and for what lies beside the manuals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manual_id: Option<String>,
    /// Its path, relative to its manual, to the folder of the manuals, or to the vault.
    pub path: String,
    /// Why it cannot be searched. `type`: not a text format that is searched. `encoding`: not text in a known
    /// encoding. `too_large`: larger than 256 MiB. `unreadable`: it cannot be opened. `link`: a symbolic link. `stray`:
    /// it lies beside the manuals, in none of them.
    pub reason: UnsearchableReason,
}

impl From<&UnsearchableFile> for UnsearchableEntry {
    fn from(unsearchable: &UnsearchableFile) -> Self {
        Self {
            manual_id: unsearchable.manual_id.as_deref().map(str::to_owned),
            path: unsearchable.file.path.clone(),
            reason: unsearchable.file.reason,
        }
    }
}

/// How many candidates each signal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SignalCoverage {
    /// Sections whose heading matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<usize>,
    /// Sections that contain a term as it is, after normalization.
    pub normalized: usize,
    /// Sections that match loosely: other separators, other spellings or synonyms.
    pub loose: usize,
    /// Sections that contain an exception word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exceptions: Option<usize>,
    /// Sections that another match refers to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<usize>,
}

fn count(candidates: &[&Candidate], signal: Signals) -> usize {
    candidates.iter().filter(|candidate| candidate.signals.has(signal)).count()
}

impl SignalCoverage {
    /// Counts the candidates of each signal. A find of the vault has only the first two stages, which know neither headings
    /// nor what leads to a section.
    pub fn of(target: Target, candidates: &[&Candidate]) -> Self {
        let of_manual = |signal| (target == Target::Manual).then(|| count(candidates, signal));
        Self {
            heading: of_manual(Signals::HEADING),
            normalized: count(candidates, Signals::NORMALIZED),
            loose: count(candidates, Signals::LOOSE),
            exceptions: of_manual(Signals::EXCEPTIONS),
            reference: of_manual(Signals::REFERENCE),
        }
    }
}

/// A share with two decimals, which is as exact as it is.
pub fn rounded(share: f64) -> f64 {
    (share * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::place::NodePlace;
    use crate::test_corpus::candidate;

    #[test]
    fn each_candidate_counts_for_each_of_its_signals() {
        let place = NodePlace { view: 0, segment: 0, node: 0 };
        let candidate = |signals| Candidate { signals, ..candidate(place) };
        let candidates = [
            candidate(Signals::HEADING.with(Signals::NORMALIZED)),
            candidate(Signals::NORMALIZED.with(Signals::LOOSE)),
            candidate(Signals::EXCEPTIONS),
            candidate(Signals::REFERENCE.with(Signals::EXCEPTIONS)),
        ];
        let (heading, exceptions, reference) = (Some(1), Some(2), Some(1));
        let expected = SignalCoverage { heading, normalized: 2, loose: 1, exceptions, reference };
        let candidates: Vec<_> = candidates.iter().collect();
        assert_eq!(SignalCoverage::of(Target::Manual, &candidates), expected);
        let expected =
            SignalCoverage { heading: None, normalized: 2, loose: 1, exceptions: None, reference: None };
        assert_eq!(SignalCoverage::of(Target::Vault, &candidates), expected);
    }

    #[test]
    fn nothing_that_matters_to_the_goal_may_be_left_of_a_ready_result() {
        use IntegrationStatus::{Blocked, NeedsFollowup, Ready};
        let left = |cut, unread, unscanned| Left { cut, unread, unscanned };
        for (status, goal, left, expected) in [
            (Ready, Goal::Answer, left(0, 3, 2), Ready),
            (Ready, Goal::Answer, left(1, 0, 1), NeedsFollowup),
            (Ready, Goal::Everything, left(0, 0, 0), Ready),
            (Ready, Goal::Everything, left(0, 1, 0), NeedsFollowup),
            (Ready, Goal::Everything, left(0, 0, 1), NeedsFollowup),
            (Blocked, Goal::Everything, left(0, 1, 0), Blocked),
        ] {
            assert_eq!(status.for_goal(goal, left), expected, "{status:?} {goal:?} {left:?}");
        }
    }

    #[test]
    fn shares_have_two_decimals() {
        assert_eq!((rounded(2.0 / 3.0), rounded(0.995), rounded(0.0)), (0.67, 1.0, 0.0));
    }
}
