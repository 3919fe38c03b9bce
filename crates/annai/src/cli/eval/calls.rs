//! The tool calls that are measured.

use std::collections::BTreeSet;
use std::time::Instant;

use annai_core::ErrorKind;
use serde_json::{Value, json};

use super::super::Failure;
use super::super::local_session::{LocalSession, failed_call};

/// The largest page of `manual_hits`.
const MAX_PAGE: usize = 200;

/// What `manual_find` says about a question.
pub(super) struct Found {
    pub trace_id: String,
    pub sufficiency: f64,
    pub is_ready: bool,
    pub conflicts: u64,
    pub variants: u64,
    /// The length of the reply, which takes up context of the model.
    pub chars: usize,
    pub millis: f64,
}

#[cfg(test)]
impl Found {
    /// A find for tests of what is made of it.
    pub(super) fn of_test(sufficiency: f64, is_ready: bool, conflicts: u64) -> Self {
        let (trace_id, variants, chars, millis) = (String::new(), 0, 2000, 1.0);
        Self { trace_id, sufficiency, is_ready, conflicts, variants, chars, millis }
    }
}

/// Calls `manual_find`.
pub(super) fn find(session: &LocalSession, arguments: &Value) -> Result<Found, Failure> {
    let started = Instant::now();
    let report = session.call("manual_find", arguments)?;
    let millis = started.elapsed().as_secs_f64() * 1e3;
    let field = |pointer: &str| {
        let missing = || Failure::new(format!("manual_find: the reply has no {pointer}"));
        report.pointer(pointer).ok_or_else(missing)
    };
    Ok(Found {
        trace_id: field("/trace_id")?.as_str().unwrap_or_default().to_owned(),
        sufficiency: field("/summary/sufficiency_score")?.as_f64().unwrap_or_default(),
        is_ready: field("/summary/integration_status")? == "ready",
        conflicts: field("/summary/conflict_count")?.as_u64().unwrap_or_default(),
        variants: report.pointer("/summary/variant_count").and_then(Value::as_u64).unwrap_or_default(),
        chars: report.to_string().chars().count(),
        millis,
    })
}

/// The first entries of a kind that `manual_hits` lists for a find. A page may be shorter than asked for.
pub(super) fn hits(
    session: &LocalSession,
    found: &Found,
    kind: &str,
    max_items: usize,
) -> Result<Vec<Value>, Failure> {
    let (mut items, mut offset) = (Vec::new(), Some(0));
    while let Some(start) = offset.filter(|_| items.len() < max_items) {
        let limit = (max_items - items.len()).min(MAX_PAGE);
        let arguments = json!({ "trace_id": found.trace_id, "kind": kind, "offset": start, "limit": limit });
        let mut page = session.call("manual_hits", &arguments)?;
        if let Some(Value::Array(page)) = page.get_mut("items").map(Value::take) {
            items.extend(page);
        }
        offset = page.get("next_offset").and_then(Value::as_u64).filter(|next| *next > start);
    }
    Ok(items)
}

/// The ids of the manuals; none if their folder does not exist.
pub(super) fn served_manuals(session: &LocalSession) -> Result<BTreeSet<String>, Failure> {
    let (mut ids, mut cursor) = (BTreeSet::new(), None::<String>);
    loop {
        let mut arguments = serde_json::Map::new();
        arguments.extend(cursor.take().map(|cursor| ("cursor".to_owned(), cursor.into())));
        let page = match session.try_call("manual_list", arguments, None) {
            Some(Ok(page)) => page.output,
            Some(Err(failed)) if failed.error.kind() == ErrorKind::NotFound => return Ok(ids),
            Some(Err(failed)) => return Err(failed_call("manual_list", &failed.error)),
            // Says that the tool is not among the chosen ones.
            None => session.call("manual_list", &json!({}))?,
        };
        let items = page.get("items").and_then(Value::as_array).into_iter().flatten();
        let page_ids = items.filter_map(|item| item.get("manual_id").and_then(Value::as_str));
        ids.extend(page_ids.map(str::to_owned));
        match page.get("next_cursor").and_then(Value::as_str) {
            Some(next) => cursor = Some(next.to_owned()),
            None => return Ok(ids),
        }
    }
}
