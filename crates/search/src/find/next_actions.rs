//! The suggested call after everything that a find leads to was read. It differs from the find and narrows what is left,
//! so that following the suggestions ends.

use serde_json::{Map, Value, json};

use crate::conclusion::report::{FindSummary, IntegrationStatus};
use crate::find::request::FindRequest;
use crate::query::Query;
use crate::query::terms::Goal;
use crate::query::wordings::OtherWords;
use crate::reference::NextAction;
use crate::trace::unscanned::{SkipReason, UnscannedPart, count_left_out};
use annai_files::FileFilter;

/// The maximum length of a suggested question, in bytes. A longer one would repeat most of the caller's own words; then
/// no find is suggested.
const MAX_SUGGESTED_QUERY: usize = 2000;

/// What a caller has to supply for a find with other wordings.
const OTHER_WORDINGS_NOTE: &str = "Repeat the call and add `phrasings` (three other ways to ask, in the language and terms of the text) and `hypothetical` (one to three sentences, as the text might state the answer).";
/// The confidence of the suggestion to ask with other wordings.
const OTHER_WORDINGS_CONFIDENCE: f64 = 0.8;

/// The suggestion to ask again with other wordings; none where the find has them, or is ready.
pub fn request_for_wordings(
    tool: &'static str,
    other_words: &OtherWords,
    status: IntegrationStatus,
) -> Option<NextAction> {
    let is_needed = status != IntegrationStatus::Ready && other_words.is_empty();
    is_needed.then(|| NextAction::to_complete(tool, OTHER_WORDINGS_CONFIDENCE, OTHER_WORDINGS_NOTE))
}

/// What a find of the manuals leaves to do after reading.
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
    /// What was not searched.
    pub unscanned: &'a [UnscannedPart],
    /// The id of the trace.
    pub trace_id: &'a str,
}

/// The next call when everything that has to be read was read: search with what should change, otherwise stop.
pub fn follow_up_of_manual_find(outcome: &ManualFindOutcome<'_>) -> NextAction {
    let summary = outcome.summary;
    let confidence = match summary.integration_status {
        IntegrationStatus::Blocked => 0.5,
        _ => summary.sufficiency_score,
    };
    find_again(outcome).unwrap_or(NextAction::stop(confidence))
}

/// Suggests another find with the arguments that should change; none where no change could help.
fn find_again(outcome: &ManualFindOutcome<'_>) -> Option<NextAction> {
    let ManualFindOutcome { request, home, unscanned, trace_id, .. } = outcome;
    let find = |changes: &[(&str, Value)]| {
        let mut params = Map::new();
        for (key, value) in changes {
            params.insert((*key).to_owned(), value.clone());
        }
        params.extend(other_words(&request.other_words));
        if let Some(intent) = request.intent {
            params.insert("intent".to_owned(), json!(intent));
        }
        if let Some(goal) = request.goal {
            params.insert("goal".to_owned(), json!(goal));
        }
        Some(NextAction::call("manual_find", 0.7, Value::Object(params)))
    };
    // Another manual may contain what this one does not, if it was not searched.
    let missing = missing_terms(outcome);
    let elsewhere = home.is_some() && request.manual_id.is_some() && !outcome.summary.scope_expanded;
    if request.left_out_of.is_none()
        && elsewhere
        && !missing.is_empty()
        && missing.len() <= MAX_SUGGESTED_QUERY
        && missing != request.query
    {
        return find(&[("query", missing.into())]);
    }
    let left = count_left_out(unscanned);
    let before = request.left_out_of.as_ref().map(|earlier| count_left_out(&earlier.unscanned));
    if left > 0 && before.is_none_or(|before| left < before) {
        // The same question, for what was not searched before the deadline or within the maximum.
        return find(&[
            ("query", request.query.clone().into()),
            ("only_unscanned_from_trace_id", (*trace_id).into()),
        ]);
    }
    let is_needed = outcome.summary.integration_status != IntegrationStatus::Ready;
    let has_other_manuals = unscanned.iter().any(|part| part.reason == SkipReason::StageCap);
    if request.left_out_of.is_none() && is_needed && has_other_manuals && request.hard_max_stage >= 4 {
        let mut changes = vec![("query", request.query.clone().into()), ("max_stage", 4.into())];
        changes.extend(home.map(|home| ("manual_id", home.into())));
        return find(&changes);
    }
    None
}

/// The arguments with the other wordings, so that a suggested find has them too; none where they are long.
fn other_words(other_words: &OtherWords) -> Map<String, Value> {
    let OtherWords { phrasings, hypothetical } = other_words;
    let length: usize = phrasings.iter().chain(hypothetical).map(String::len).sum();
    let mut params = Map::new();
    if length <= MAX_SUGGESTED_QUERY {
        params.extend((!phrasings.is_empty()).then(|| ("phrasings".to_owned(), json!(phrasings))));
        params.extend(hypothetical.as_ref().map(|passage| ("hypothetical".to_owned(), json!(passage))));
    }
    params
}

/// The terms that no candidate contains, as a question.
fn missing_terms(outcome: &ManualFindOutcome<'_>) -> String {
    let terms = outcome.query.terms.iter().enumerate();
    // A hyphen in front of a term would exclude it, so it is removed.
    let missing = terms
        .filter(|(index, _)| outcome.gap_terms >> index & 1 == 1)
        .map(|(_, term)| term.text().trim_start_matches('-'))
        .filter(|term| !term.is_empty());
    missing.collect::<Vec<_>>().join(" ")
}

/// The next call of a find of the vault when everything that has to be read was read: scan the likeliest file where
/// nothing was found, search the other files where one file has nearly all candidates, otherwise stop.
pub fn follow_up_of_vault_find(found: &VaultFindOutcome<'_>) -> NextAction {
    let find = |glob: Option<String>| {
        let mut params = json!({ "query": found.query });
        let mut scope = Map::new();
        scope.extend(glob.map(|glob| ("glob".to_owned(), glob.into())));
        let folder = found.files.folder().map(|folder| folder.as_str());
        scope.extend(folder.map(|folder| ("relative_dir".to_owned(), folder.into())));
        if let Some(params) = params.as_object_mut() {
            params.extend(other_words(found.other_words));
            params.extend((!scope.is_empty()).then(|| ("scope".to_owned(), Value::Object(scope))));
            params.extend(found.goal.map(|goal| ("goal".to_owned(), json!(goal))));
        }
        NextAction::call("vault_find", 0.6, params)
    };
    if found.is_cut {
        // The same question without the maximum.
        return find(found.files.glob().map(str::to_owned));
    }
    match (&found.likeliest_file, &found.dominant_file) {
        // The rest of the vault was searched because one file had nearly everything; that is the end.
        (Some(_), _) if found.files.is_exclusion() => NextAction::stop(found.sufficiency),
        (Some(path), _) => {
            NextAction::call("vault_scan", 0.6, json!({ "path": path, "cursor": { "start_line": 1 } }))
        }
        (None, Some(path)) if !found.files.has_glob() => find(Some(format!("!{}", escaped_glob(path)))),
        _ => NextAction::stop(found.sufficiency),
    }
}

/// The outcome of a find of the vault.
pub struct VaultFindOutcome<'a> {
    /// The question as the caller wrote it.
    pub query: &'a str,
    /// Its other wordings.
    pub other_words: &'a OtherWords,
    /// Which files were searched.
    pub files: &'a FileFilter,
    /// The goal that the caller set.
    pub goal: Option<Goal>,
    /// Whether matches beyond the maximum that the caller set were left out.
    pub is_cut: bool,
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
