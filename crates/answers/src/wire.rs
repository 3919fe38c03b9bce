//! How failures look on the wire: the codes that users of the servers before this one know.

use annai_core::{ErrorKind, Facts, JsonObject, ToolError, WireError};
use serde_json::{Value, json};

use crate::config::PROFILE_REQUIRED;
use crate::responses::{Cause, Failed};

/// A failed request as a tool's error.
pub fn tool_error(failed: &Failed, debug: bool) -> ToolError {
    let kind = match (failed.cause, failed.status) {
        (Cause::TimedOut, _) => ErrorKind::TimedOut,
        (Cause::Refused, Some(401 | 403)) => ErrorKind::Unauthorized,
        _ if failed.quota => ErrorKind::Upstream,
        (Cause::Refused, Some(429)) => ErrorKind::RateLimited,
        (Cause::Unfinished, _) if failed.rate_limited => ErrorKind::RateLimited,
        _ => ErrorKind::Upstream,
    };
    ToolError::new(kind, failed.reason()).with_details(failed.data(debug)).because(failed.reason())
}

fn detail<'a>(error: &'a ToolError, key: &str) -> Option<&'a Value> {
    error.details().and_then(|details| details.get(key))
}

/// A failure of an answer tool.
pub fn answers(debug: bool, tool: &Facts, error: &ToolError) -> WireError {
    let rpc =
        |code, message: &str, data: Option<Value>| WireError::Rpc { code, message: message.to_owned(), data };
    match error.kind() {
        ErrorKind::InvalidParameter => {
            let mut data = json!({ "reason": error.message() });
            if let (true, Some(data)) = (debug, data.as_object_mut()) {
                data.insert(
                    "message".to_owned(),
                    error.message().chars().take(400).collect::<String>().into(),
                );
                data.insert("name".to_owned(), error.kind().code().into());
            }
            rpc(-32001, &format!("{}: invalid arguments", tool.name), Some(data))
        }
        ErrorKind::NotConfigured if detail(error, "env").is_some() => {
            rpc(-32051, error.message(), error.details().cloned())
        }
        ErrorKind::NotConfigured if detail(error, "key").is_some() => {
            rpc(-32052, PROFILE_REQUIRED, error.details().cloned())
        }
        ErrorKind::Internal => rpc(-32603, error.message(), None),
        _ => {
            let data = error.details().cloned();
            let data = data.unwrap_or_else(|| json!({ "retries": 0, "reason": error.message() }));
            rpc(-32050, "openai responses failed", Some(data))
        }
    }
}

/// A failure of the search tool.
pub fn search(debug: bool, error: &ToolError) -> WireError {
    let rpc = |code, message: &str, data: JsonObject| WireError::Rpc {
        code,
        message: message.to_owned(),
        data: Some(data.into()),
    };
    let details = |sentence: &str| JsonObject::from_iter([("details".to_owned(), sentence.into())]);
    let data = || {
        let mut data = details(error.message());
        // What else is known, under the names that the answer tools use.
        let known = ["retries", "status", "env", "fix", "message", "type", "name"];
        let more = known.iter().filter_map(|key| Some(((*key).to_owned(), detail(error, key)?.clone())));
        data.extend(more);
        data
    };
    match error.kind() {
        ErrorKind::InvalidParameter => rpc(-32602, "Invalid params", data()),
        ErrorKind::Unauthorized => rpc(-32001, "Authentication Error", data()),
        ErrorKind::NotConfigured if detail(error, "env").is_some() => {
            rpc(-32001, "Authentication Error", data())
        }
        ErrorKind::RateLimited => {
            let mut data = data();
            data.insert("retryAfter".to_owned(), detail(error, "retry_after").cloned().unwrap_or_default());
            rpc(-32003, "Rate Limit Exceeded", data)
        }
        ErrorKind::Internal => {
            let cause = if debug {
                std::error::Error::source(error)
                    .map_or_else(|| error.message().to_owned(), ToString::to_string)
            } else {
                "An unexpected error occurred".to_owned()
            };
            rpc(-32603, "Internal Error", details(&cause))
        }
        _ => rpc(-32002, "Search Error", data()),
    }
}
