//! The suggested next calls after a find. Every suggested call differs from the one just made and narrows what is left,
//! so that following the suggestions ends.

use serde_json::{Map, Value, json};

use super::query::Query;
use super::report::{EscalationReason, FindSummary, IntegrationStatus};
use super::request::FindRequest;
use super::trace::TraceRecord;
use super::unscanned::SkipReason;
use crate::manuals::FileType;
use crate::reference::{NextAction, Ref};
use crate::search::FileFilter;

/// The maximum length of a suggested question, in bytes. A longer one would repeat most of the caller's own words; then
/// no find is suggested.
const MAX_SUGGESTED_QUERY: usize = 2000;

/// The outcome of a find of the manuals.
pub struct ManualFindOutcome<'a> {
    /// The request.
    pub request: &'a FindRequest,
    /// The manual that was searched first; none for all.
    pub home: Option<&'a str>,
    /// The terms that no candidate contains, as a bit set.
    pub gap_terms: u64,
    /// The parsed question.
    pub query: &'a Query,
    /// The find in numbers.
    pub summary: &'a FindSummary,
    /// The trace.
    pub record: &'a TraceRecord,
    /// The id of the trace.
    pub trace_id: &'a str,
}

/// The next call after a find of the manuals: resolve conflicts, close gaps, stop when the result is sufficient,
/// otherwise list the best sections.
pub fn after_manual_find(outcome: &ManualFindOutcome<'_>) -> Vec<NextAction> {
    let ManualFindOutcome { summary, record, trace_id, .. } = outcome;
    if let Some((item, _)) = record.conflicts.first() {
        return vec![read_section(&item.place, 0.9)];
    }
    let biased = summary.escalation_reasons.contains(&EscalationReason::FileBias);
    if (summary.gap_count > 0 || biased || summary.candidates == 0)
        && let Some(again) = find_again(outcome)
    {
        return vec![again];
    }
    let action = match summary.integration_status {
        IntegrationStatus::Ready => NextAction::stop(summary.sufficiency_score),
        IntegrationStatus::Blocked => NextAction::stop(0.5),
        IntegrationStatus::NeedsFollowup => {
            NextAction::call("manual_hits", 0.6, json!({ "trace_id": trace_id, "kind": "integrated_top" }))
        }
    };
    vec![action]
}

/// Suggests reading the section at a place.
fn read_section(place: &Ref, confidence: f64) -> NextAction {
    let scope = if FileType::of(&place.path) == Some(FileType::Json) { "snippet" } else { "section" };
    let least = json!({
        "target": place.target,
        "manual_id": place.manual_id,
        "path": place.path,
        "start_line": place.start_line,
        "rev": place.rev,
    });
    NextAction::call("manual_read", confidence, json!({ "ref": least, "scope": scope }))
}

/// Suggests another find with the arguments that should change; none where no change could help.
fn find_again(outcome: &ManualFindOutcome<'_>) -> Option<NextAction> {
    let ManualFindOutcome { request, home, record, trace_id, .. } = outcome;
    let find = |changes: &[(&str, Value)]| {
        let mut params = Map::new();
        for (key, value) in changes {
            params.insert((*key).to_owned(), value.clone());
        }
        if let Some(intent) = request.intent {
            params.insert("intent".to_owned(), json!(intent));
        }
        Some(NextAction::call("manual_find", 0.7, Value::Object(params)))
    };
    let late = late_places(record);
    let before = request.left_out_of.as_ref().map(|earlier| late_places(earlier));
    if late > 0 && before.is_none_or(|before| late < before) {
        // The same question, for what was not searched before the deadline.
        return find(&[
            ("query", request.query.clone().into()),
            ("only_unscanned_from_trace_id", (*trace_id).into()),
        ]);
    }
    if request.left_out_of.is_some() {
        return None;
    }
    if record.unscanned.iter().any(|part| part.reason == SkipReason::StageCap) && request.hard_max_stage >= 4
    {
        let mut changes = vec![("query", request.query.clone().into()), ("max_stage", 4.into())];
        changes.extend(home.map(|home| ("manual_id", home.into())));
        return find(&changes);
    }
    // Another manual may contain what this one does not, if it was not searched.
    let terms = outcome.query.terms.iter().enumerate();
    // A hyphen in front of a term would exclude it, so it is removed.
    let missing: Vec<_> = terms
        .filter(|(index, _)| outcome.gap_terms >> index & 1 == 1)
        .map(|(_, term)| term.text().trim_start_matches('-'))
        .filter(|term| !term.is_empty())
        .collect();
    let missing = missing.join(" ");
    let elsewhere = home.is_some() && request.manual_id.is_some() && !outcome.summary.scope_expanded;
    if elsewhere && !missing.is_empty() && missing.len() <= MAX_SUGGESTED_QUERY && missing != request.query {
        return find(&[("query", missing.into())]);
    }
    None
}

/// The number of places that were not searched before the deadline.
fn late_places(record: &TraceRecord) -> usize {
    let late = record.unscanned.iter().filter(|part| part.reason == SkipReason::TimeBudget);
    late.map(|part| part.count()).sum()
}

/// The next call after a find of the vault: scan the likeliest file where nothing was found, search the other files
/// where one file has nearly all candidates, otherwise stop.
pub fn after_vault_find(found: &VaultFindOutcome<'_>) -> Vec<NextAction> {
    let action = match (&found.likeliest_file, &found.dominant_file) {
        (Some(path), _) => {
            NextAction::call("vault_scan", 0.6, json!({ "path": path, "cursor": { "start_line": 1 } }))
        }
        (None, Some(path)) if !found.files.has_glob() => {
            let mut scope = Map::new();
            scope.insert("glob".to_owned(), format!("!{}", escaped_glob(path)).into());
            if let Some(folder) = found.files.folder() {
                scope.insert("relative_dir".to_owned(), folder.as_str().into());
            }
            NextAction::call("vault_find", 0.6, json!({ "query": found.query, "scope": scope }))
        }
        _ => NextAction::stop(found.sufficiency),
    };
    vec![action]
}

/// The outcome of a find of the vault.
pub struct VaultFindOutcome<'a> {
    /// The question as the caller wrote it.
    pub query: &'a str,
    /// Which files were searched.
    pub files: &'a FileFilter,
    /// The file to scan where nothing was found.
    pub likeliest_file: Option<String>,
    /// The file that has nearly all candidates.
    pub dominant_file: Option<String>,
    /// How well the candidates answer the question, from 0 to 1.
    pub sufficiency: f64,
}

/// A path as a glob that matches nothing else.
fn escaped_glob(path: &str) -> String {
    let mut glob = String::new();
    for character in path.chars() {
        match character {
            '*' | '?' | '[' | ']' | '{' | '}' => glob.extend(['[', character, ']']),
            _ => glob.push(character),
        }
    }
    glob
}

#[cfg(test)]
#[path = "next_actions_tests.rs"]
mod tests;
