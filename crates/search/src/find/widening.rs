//! When a find is widened from one manual to all of them, and what its reply says about that.

use crate::conclusion::report::EscalationReason;
use crate::conclusion::{dominant_file_share, file_bias};
use crate::context::Thresholds;
use crate::index::View;
use crate::matching::candidate::Signals;
use crate::query::terms::Intent;
use crate::stages::StageOutcome;

/// The minimum number of candidates for judging a bias to one file: of fewer, most would be in one file anyway.
const MIN_CANDIDATES_FOR_BIAS: usize = 5;
/// A file with at least this share of the searched sections naturally has most of the candidates; that is not a bias.
const MAX_DOMINANT_SHARE: f64 = 0.5;
/// The maximum number of manuals without searchable files that a summary names.
const MAX_NOTICES: usize = 5;

/// The reasons for widening the find.
pub fn triggers(views: &[View], outcome: &StageOutcome, thresholds: Thresholds) -> Vec<EscalationReason> {
    let evidence: Vec<_> = outcome.evidence().collect();
    let count = evidence.len();
    let has_exceptions =
        outcome.candidates.iter().any(|candidate| candidate.signals.has(Signals::EXCEPTIONS));
    let is_biased = count >= MIN_CANDIDATES_FOR_BIAS
        && file_bias(views, &evidence) >= thresholds.file_bias
        && dominant_file_share(views, &evidence) < MAX_DOMINANT_SHARE;
    let triggers = [
        (count == 0, EscalationReason::ZeroCandidates),
        ((1..thresholds.candidate_low).contains(&count), EscalationReason::LowCandidates),
        (is_biased, EscalationReason::FileBias),
        (outcome.query.intent == Intent::Exceptions && !has_exceptions, EscalationReason::ExceptionsMissing),
    ];
    triggers.into_iter().filter(|(fires, _)| *fires).map(|(_, reason)| reason).collect()
}

/// What the result does not cover, in sentences.
pub fn notices(views: &[View], home: Option<&str>, outcome: &StageOutcome) -> Vec<String> {
    let mut notices = Vec::new();
    for view in views {
        let has_text =
            view.segments.iter().any(|segment| !segment.files.is_empty()) || !view.pending.is_empty();
        if !has_text && notices.len() < MAX_NOTICES {
            let name = &view.name;
            notices.push(match view.unsearchable.len() {
                0 => format!("The manual {name} contains no files."),
                count => format!(
                    "Nothing in the manual {name} can be searched: its files ({count}) are in formats or encodings that are not supported."
                ),
            });
        }
    }
    let has_evidence = outcome.evidence().next().is_some();
    if let (false, related @ 1..) = (has_evidence, outcome.related) {
        notices.push(format!(
            "No section matches. Related sections, which contain only a part of a term or stand near one that does: {related}; manual_hits with kind related lists them."
        ));
    }
    let outside = outcome.evidence().filter(|candidate| candidate.is_outside).count();
    if let (Some(home), true) = (home, outside > 0) {
        let inside = outcome.evidence().count() - outside;
        notices.push(format!(
            "{inside} of the candidates are in the manual {home}; the other {outside} are in other manuals and marked with outside: true."
        ));
    }
    notices
}
