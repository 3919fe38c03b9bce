//! What to do after a find. Every call that is suggested differs from the one just made and narrows what is left, so
//! following them ends.

use serde_json::{Map, Value, json};

use super::find::Asked;
use super::query::Query;
use super::summary::{Escalation, Status, Summary};
use super::trace::{Reason, Seen};
use crate::manuals::FileType;
use crate::reference::{NextAction, Ref};
use crate::search::Where;

/// Longer questions are not suggested.
const MOST_QUERY: usize = 2000;

/// What a find came to.
pub struct Outlook<'a> {
    pub asked: &'a Asked,
    /// The manual that it began in.
    pub home: Option<&'a str>,
    /// The terms that no candidate covers, as bits.
    pub gap_terms: u64,
    pub query: &'a Query,
    pub summary: &'a Summary,
    pub seen: &'a Seen,
    pub trace_id: &'a str,
}

/// What to do after a find of the manuals: settle conflicts, close gaps, stop when it is enough, else look further.
pub fn after_manual_find(outlook: &Outlook<'_>) -> Vec<NextAction> {
    let Outlook { summary, seen, trace_id, .. } = outlook;
    if let Some((item, _)) = seen.conflicts.first() {
        return vec![read(&item.place, 0.9)];
    }
    let biased = summary.escalation_reasons.contains(&Escalation::FileBias);
    if (summary.gap_count > 0 || biased || summary.candidates == 0)
        && let Some(again) = again(outlook)
    {
        return vec![again];
    }
    let action = match summary.integration_status {
        Status::Ready => NextAction::stop(summary.sufficiency_score),
        Status::Blocked => NextAction::stop(0.5),
        Status::NeedsFollowup => {
            NextAction::call("manual_hits", 0.6, json!({ "trace_id": trace_id, "kind": "integrated_top" }))
        }
    };
    vec![action]
}

/// Reads the section of a place.
fn read(place: &Ref, confidence: f64) -> NextAction {
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

/// Another find, with what should change about it; none where nothing could help.
fn again(outlook: &Outlook<'_>) -> Option<NextAction> {
    let Outlook { asked, home, seen, trace_id, .. } = outlook;
    let find = |changes: &[(&str, Value)]| {
        let mut params = Map::new();
        for (key, value) in changes {
            params.insert((*key).to_owned(), value.clone());
        }
        if let Some(intent) = asked.intent {
            params.insert("intent".to_owned(), json!(intent));
        }
        Some(NextAction::call("manual_find", 0.7, Value::Object(params)))
    };
    let late: usize =
        seen.unscanned.iter().filter(|part| part.reason == Reason::TimeBudget).map(|part| part.count()).sum();
    let before = asked.left_out_of.as_ref().map(|(_, before)| {
        before
            .unscanned
            .iter()
            .filter(|part| part.reason == Reason::TimeBudget)
            .map(|part| part.count())
            .sum::<usize>()
    });
    if late > 0 && before.is_none_or(|before| late < before) {
        // The same question, of what there was no time for.
        return find(&[
            ("query", asked.query.clone().into()),
            ("only_unscanned_from_trace_id", (*trace_id).into()),
        ]);
    }
    if asked.left_out_of.is_some() {
        return None;
    }
    if seen.unscanned.iter().any(|part| part.reason == Reason::StageCap) && asked.hard_max_stage >= 4 {
        let mut changes = vec![("query", asked.query.clone().into()), ("max_stage", 4.into())];
        changes.extend(home.map(|home| ("manual_id", home.into())));
        return find(&changes);
    }
    // What one manual does not cover another may, if it was not looked at.
    let terms = outlook.query.terms.iter().enumerate();
    // A hyphen in front would refuse a word instead.
    let missing: Vec<_> = terms
        .filter(|(index, _)| outlook.gap_terms >> index & 1 == 1)
        .map(|(_, term)| term.text().trim_start_matches('-'))
        .filter(|term| !term.is_empty())
        .collect();
    let missing = missing.join(" ");
    let elsewhere = home.is_some() && asked.manual_id.is_some() && !outlook.summary.scope_expanded;
    if elsewhere && !missing.is_empty() && missing.len() <= MOST_QUERY && missing != asked.query {
        return find(&[("query", missing.into())]);
    }
    None
}

/// What to do after a find of the vault: read through the likeliest file where nothing was found, look beside a file that
/// has nearly everything, else stop.
pub fn after_vault_find(found: &VaultOutlook<'_>) -> Vec<NextAction> {
    let action = match (found.likeliest, found.crowded) {
        (Some(path), _) => {
            NextAction::call("vault_scan", 0.6, json!({ "path": path, "cursor": { "start_line": 1 } }))
        }
        (None, Some(path)) if !found.place.has_glob() => {
            let mut scope = Map::new();
            scope.insert("glob".to_owned(), format!("!{}", escaped(path)).into());
            if let Some(folder) = found.place.folder() {
                scope.insert("relative_dir".to_owned(), folder.as_str().into());
            }
            NextAction::call("vault_find", 0.6, json!({ "query": found.query, "scope": scope }))
        }
        _ => NextAction::stop(found.enough),
    };
    vec![action]
}

/// What a find of the vault came to.
pub struct VaultOutlook<'a> {
    pub query: &'a str,
    pub place: &'a Where,
    /// The file to read where nothing was found.
    pub likeliest: Option<&'a str>,
    /// The file that has nearly everything.
    pub crowded: Option<&'a str>,
    pub enough: f64,
}

/// A path as a glob that fits it alone; one without a folder is still a whole path.
fn escaped(path: &str) -> String {
    let mut glob = String::new();
    for letter in path.chars() {
        match letter {
            '*' | '?' | '[' | ']' | '{' | '}' => glob.extend(['[', letter, ']']),
            _ => glob.push(letter),
        }
    }
    glob
}
