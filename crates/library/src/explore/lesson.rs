//! What a find teaches: its numbers, for the thresholds of later ones.

use std::collections::HashSet;

use super::find::{Asked, Found};
use super::trace::Unscanned;
use crate::adaptive::{Had, Reach, Record, file_number, hash_of, now, section_number, tokens};
use crate::toolset::Shelves;

/// Keeps the numbers of a find whose reply has so many characters.
pub fn learn(shelves: &Shelves, asked: &Asked, found: &Found, reply_chars: usize) {
    let (lesson, summary) = (&found.lesson, &found.summary);
    let had: Vec<_> = found
        .seen
        .candidates
        .iter()
        .map(|item| {
            let manual = item.place.manual_id.as_deref().unwrap_or_default();
            Had {
                number: section_number(manual, &item.place.path, item.place.start_line.unwrap_or(1)),
                file: file_number(manual, &item.place.path),
                elsewhere: lesson.home.as_deref().is_some_and(|home| home != manual),
            }
        })
        .collect();
    let file_of = |part: &Unscanned| file_number(part.manual_id.as_deref().unwrap_or_default(), &part.path);
    let whole = found.seen.unscanned.iter().filter(|part| part.lines.is_empty());
    let except: HashSet<u64> = whole.map(file_of).collect();
    // A find of what was left out looked at nothing else.
    let only = asked.left_out_of.as_ref().map(|(_, earlier)| earlier.unscanned.iter().map(file_of).collect());
    let reach = Reach { manuals: lesson.manuals.iter().cloned().collect(), only, except };
    let chars_in = asked.query.chars().count();
    let est_tokens = tokens(chars_in + reply_chars);
    let added = shelves.adaptive.added(&asked.owner, &had);
    let record = Record {
        ts: now(),
        query_hash: hash_of(&asked.query),
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
        candidate_low_threshold: lesson.thresholds.candidate_low,
        file_bias_threshold: lesson.thresholds.file_bias,
        candidate_low_since: None,
        file_bias_since: None,
        trace_hash: hash_of(&found.trace_id),
        home_candidates: lesson.home.is_some().then_some(lesson.home_candidates),
        home_bias: (lesson.home_bias * 100.0).round() / 100.0,
        used: 0,
        used_found: 0,
        used_widened: 0,
    };
    shelves.adaptive.keep(&asked.owner, record, reach, &had);
}
