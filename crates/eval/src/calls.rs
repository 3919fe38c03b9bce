//! The tool calls that are measured. How a tool is called is up to the program.

use std::collections::BTreeSet;
use std::time::Instant;

use annai_core::{ErrorKind, JsonObject};
use serde_json::{Map, Value};

use crate::error::EvalError;

/// The largest page of `manual_hits`.
const MAX_PAGE: usize = 200;

/// The tools over some manuals.
pub trait Tools {
    /// Calls a tool, and returns its structured result. The message of an error begins with the name of the tool.
    fn call(&self, tool: &str, arguments: JsonObject) -> Result<Value, EvalError>;
}

/// What `manual_find` says about a question.
pub struct Found {
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
    pub fn of_test(sufficiency: f64, is_ready: bool, conflicts: u64) -> Self {
        let (trace_id, variants, chars, millis) = (String::new(), 0, 2000, 1.0);
        Self { trace_id, sufficiency, is_ready, conflicts, variants, chars, millis }
    }
}

/// Calls `manual_find`.
pub fn find(tools: &dyn Tools, arguments: JsonObject) -> Result<Found, EvalError> {
    let started = Instant::now();
    let report = tools.call("manual_find", arguments)?;
    let millis = started.elapsed().as_secs_f64() * 1e3;
    let field = |pointer: &str| {
        let missing = || EvalError {
            kind: ErrorKind::Internal,
            message: format!("manual_find: the reply has no {pointer}"),
        };
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
pub fn hits(tools: &dyn Tools, found: &Found, kind: &str, max_items: usize) -> Result<Vec<Value>, EvalError> {
    let (mut items, mut offset) = (Vec::new(), Some(0));
    while let Some(start) = offset.filter(|_| items.len() < max_items) {
        let limit = (max_items - items.len()).min(MAX_PAGE);
        let arguments = [
            ("trace_id", Value::from(found.trace_id.as_str())),
            ("kind", kind.into()),
            ("offset", start.into()),
            ("limit", limit.into()),
        ];
        let mut page = tools.call("manual_hits", object(arguments))?;
        if let Some(Value::Array(page)) = page.get_mut("items").map(Value::take) {
            items.extend(page);
        }
        offset = page.get("next_offset").and_then(Value::as_u64).filter(|next| *next > start);
    }
    Ok(items)
}

/// The ids of the manuals; none if their folder does not exist.
pub fn served_manuals(tools: &dyn Tools) -> Result<BTreeSet<String>, EvalError> {
    let (mut ids, mut cursor) = (BTreeSet::new(), None::<String>);
    loop {
        let arguments = Map::from_iter(cursor.take().map(|cursor| ("cursor".to_owned(), cursor.into())));
        let page = match tools.call("manual_list", arguments) {
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(ids),
            page => page?,
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

/// The arguments of a call.
pub fn object<const N: usize>(arguments: [(&str, Value); N]) -> JsonObject {
    arguments.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
