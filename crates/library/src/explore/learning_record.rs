//! Builds the learning record of a find: its numbers, for the thresholds of later ones.

use super::manual_find::FindReport;
use super::request::FindRequest;
use super::trace::Reach;
use crate::adaptive::{
    Adaptive, FindReach, FoundSection, LearningRecord, file_number, hash_of, now, section_number, tokens,
};

/// The maximum number of sections of a find that are remembered, so that a find of a common word costs no more memory and
/// time than others.
const MAX_LEARNED_SECTIONS: usize = 2000;

/// Stores the numbers of a find whose reply has this many characters.
pub fn keep_learning_record(
    adaptive: &Adaptive,
    request: &FindRequest,
    report: &FindReport,
    reply_chars: usize,
) {
    let sections = found_sections(report);
    let added = adaptive.added(&request.owner, &sections);
    let record = learning_record(request, report, reply_chars, added);
    adaptive.keep(&request.owner, record, reach(report), &sections);
}

/// The sections that a find found, as numbers.
fn found_sections(report: &FindReport) -> Vec<FoundSection> {
    let home = report.basis.home.as_deref();
    // The best ones first: of very many, the others are seldom used.
    let all = report.record.best().chain(report.record.evidence()).take(MAX_LEARNED_SECTIONS);
    let section = all.filter_map(|found| {
        let file = report.record.file_of(found)?;
        let manual = file.manual_id.as_deref().unwrap_or_default();
        Some(FoundSection {
            number: section_number(manual, &file.path, found.span.start.line.into()),
            file: file_number(manual, &file.path),
            is_outside_home: home.is_some_and(|home| home != manual),
        })
    });
    section.collect()
}

/// Which files a find searched.
fn reach(report: &FindReport) -> FindReach {
    match &report.record.reach {
        Reach::Manuals(reach) => reach.clone(),
        Reach::Vault(_) => FindReach::default(),
    }
}

fn learning_record(
    request: &FindRequest,
    report: &FindReport,
    reply_chars: usize,
    added: usize,
) -> LearningRecord {
    let (basis, summary) = (&report.basis, &report.summary);
    let chars_in = request.query.chars().count();
    let est_tokens = tokens(chars_in + reply_chars);
    LearningRecord {
        ts: now(),
        query_hash: hash_of(&request.query),
        scanned_files: summary.scanned_files,
        candidates: summary.candidates,
        warnings: summary.warnings,
        max_stage_applied: summary.max_stage_applied,
        scope_expanded: summary.scope_expanded,
        cutoff_reason: summary.cutoff_reason.map(|reason| reason.name().to_owned()),
        unscanned_sections_count: summary.unscanned_sections_count,
        est_tokens,
        est_tokens_in: tokens(chars_in),
        est_tokens_out: tokens(reply_chars),
        added_evidence_count: added,
        added_est_tokens: est_tokens,
        marginal_gain: (est_tokens > 0)
            .then(|| (added as f64 / est_tokens as f64 * 10_000.0).round() / 10_000.0),
        candidate_low_threshold: basis.thresholds.candidate_low,
        file_bias_threshold: basis.thresholds.file_bias,
        candidate_low_since: None,
        file_bias_since: None,
        trace_hash: hash_of(&report.trace_id),
        home_candidates: basis.home.is_some().then_some(basis.home_candidates),
        home_bias: (basis.home_bias * 100.0).round() / 100.0,
        used: 0,
        used_found: 0,
        used_widened: 0,
    }
}
