//! The pages of results that `manual_hits` returns.

use serde_json::{Value, json};

use super::super::Failure;
use super::super::local_session::LocalSession;

/// One page of the results that `manual_find` stored under its trace id.
pub(super) fn hits_page(
    session: &LocalSession,
    report: &Value,
    kind: &str,
    limit: usize,
) -> Result<Value, Failure> {
    let trace_id = report.get("trace_id").cloned().unwrap_or_default();
    session.call("manual_hits", &json!({ "trace_id": trace_id, "kind": kind, "limit": limit }))
}

/// The items of a page.
pub(super) fn items(page: &Value) -> impl Iterator<Item = &Value> {
    page.get("items").and_then(Value::as_array).into_iter().flatten()
}
