//! Builds the learning record of a find: its numbers, for the thresholds of later ones.

use std::collections::HashSet;

use super::manual_find::FindReport;
use super::request::FindRequest;
use super::unscanned::UnscannedPart;
use crate::adaptive::{
    Adaptive, FindReach, FoundSection, LearningRecord, file_number, hash_of, now, section_number, tokens,
};

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
    adaptive.keep(&request.owner, record, reach(request, report), &sections);
}

/// The sections that a find found, as numbers.
fn found_sections(report: &FindReport) -> Vec<FoundSection> {
    let home = report.basis.home.as_deref();
    let section = report.record.candidates.iter().map(|item| {
        let manual = item.place.manual_id.as_deref().unwrap_or_default();
        FoundSection {
            number: section_number(manual, &item.place.path, item.place.start_line.unwrap_or(1)),
            file: file_number(manual, &item.place.path),
            is_outside_home: home.is_some_and(|home| home != manual),
        }
    });
    section.collect()
}

/// Which files a find searched.
fn reach(request: &FindRequest, report: &FindReport) -> FindReach {
    let file_of =
        |part: &UnscannedPart| file_number(part.manual_id.as_deref().unwrap_or_default(), &part.path);
    let whole_files = report.record.unscanned.iter().filter(|part| part.lines.is_empty());
    let except: HashSet<u64> = whole_files.map(file_of).collect();
    // A find of what an earlier one left out searched nothing else.
    let only = request.left_out_of.as_ref().map(|earlier| earlier.unscanned.iter().map(file_of).collect());
    FindReach { manuals: report.basis.manuals.iter().cloned().collect(), only, except }
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
