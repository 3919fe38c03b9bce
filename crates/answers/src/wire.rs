//! How failures look on the wire: the JSON-RPC codes of `openai-responses-mcp` and `mcp-o3-search`.

use annai_core::{ErrorKind, Facts, JsonObject, ToolError, WireError};
use serde_json::{Value, json};

use crate::config::PROFILE_REQUIRED;
use crate::errors::AnswersError;
use crate::plain_text::truncate_within;
use crate::responses::whole_seconds;

/// The maximum length of `data.message`, in characters; as in `openai-responses-mcp`. The rest is cut off,
/// and an ellipsis marks the cut.
const MAX_DEBUG_MESSAGE_CHARS: usize = 400;

/// The wire form of a failure of an answer tool.
pub fn answers_error(debug: bool, tool: &Facts, error: &ToolError) -> WireError {
    let failure = error.downcast_source::<AnswersError>();
    let details = || failure.and_then(AnswersError::details).map(Value::Object);
    match failure {
        Some(AnswersError::KeyMissing { .. }) => rpc(-32051, error.message(), details()),
        Some(AnswersError::ProfileMissing) => rpc(-32052, PROFILE_REQUIRED, details()),
        // The same code as for the missing profile: both are settings that the owner of the server has to correct.
        Some(AnswersError::Settings(_)) => rpc(-32052, error.message(), details()),
        Some(failure @ AnswersError::Request(_)) => {
            let mut data = failure.details().unwrap_or_default();
            data.extend(debug_members(debug, failure));
            rpc(-32050, "openai responses failed", Some(data.into()))
        }
        None => match error.kind() {
            ErrorKind::InvalidParameter => {
                let message = format!("{}: invalid arguments", tool.name);
                rpc(-32001, &message, Some(invalid_arguments(debug, error)))
            }
            ErrorKind::Internal => rpc(-32603, error.message(), None),
            _ => {
                let data = json!({ "retries": 0, "reason": error.message() });
                rpc(-32050, "openai responses failed", Some(data))
            }
        },
    }
}

/// The wire form of a failure of the search tool.
pub fn search_error(debug: bool, error: &ToolError) -> WireError {
    let failure = error.downcast_source::<AnswersError>();
    let (code, message) = match (error.kind(), failure) {
        (ErrorKind::Internal, _) => {
            let details = internal_details(debug, error);
            return rpc(-32603, "Internal Error", Some(json!({ "details": details })));
        }
        (ErrorKind::InvalidParameter, _) => (-32602, "Invalid params"),
        (ErrorKind::Unauthorized, _) | (_, Some(AnswersError::KeyMissing { .. })) => {
            (-32001, "Authentication Error")
        }
        (ErrorKind::RateLimited, _) => (-32003, "Rate Limit Exceeded"),
        _ => (-32002, "Search Error"),
    };
    let mut data = object([("details", error.message().into())]);
    data.extend(failure.map(|failure| search_members(debug, failure)).unwrap_or_default());
    if error.kind() == ErrorKind::RateLimited {
        let seconds = match failure {
            Some(AnswersError::Request(failure)) => failure.retry_after.map(whole_seconds),
            _ => None,
        };
        data.insert("retryAfter".to_owned(), seconds.into());
    }
    rpc(code, message, Some(data.into()))
}

fn rpc(code: i32, message: &str, data: Option<Value>) -> WireError {
    WireError::Rpc { code, message: message.to_owned(), data }
}

fn object<const N: usize>(members: [(&str, Value); N]) -> JsonObject {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The members that `server.debug` adds to the data of a failed request.
fn debug_members(debug: bool, failure: &AnswersError) -> JsonObject {
    match failure {
        AnswersError::Request(failure) if debug => object([
            ("message", failure.message().into()),
            ("type", failure.api_type.as_deref().into()),
            ("name", failure.name().into()),
        ]),
        _ => JsonObject::new(),
    }
}

fn invalid_arguments(debug: bool, error: &ToolError) -> Value {
    let mut data = object([("reason", error.message().into())]);
    if debug {
        let message = truncate_within(error.message(), MAX_DEBUG_MESSAGE_CHARS);
        data.extend(object([("message", message.into()), ("name", error.kind().code().into())]));
    }
    data.into()
}

/// The members of a failed search, under the names that the answer tools use too.
fn search_members(debug: bool, failure: &AnswersError) -> JsonObject {
    match failure {
        AnswersError::Request(request) => {
            let mut members = object([("retries", request.retries.into())]);
            members.extend(request.status.map(|status| ("status".to_owned(), status.into())));
            members.extend(debug_members(debug, failure));
            members
        }
        AnswersError::KeyMissing { .. } | AnswersError::ProfileMissing | AnswersError::Settings(_) => {
            failure.details().unwrap_or_default()
        }
    }
}

/// The cause of an internal error, which only `server.debug` shows.
fn internal_details(debug: bool, error: &ToolError) -> String {
    if !debug {
        return "An unexpected error occurred".to_owned();
    }
    std::error::Error::source(error).map_or_else(|| error.message().to_owned(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use annai_core::{Access, Effect, Guide, Sponsor, TokenScope, Widget, World};

    use super::*;
    use crate::responses::{FailureKind, RequestFailure};

    const FACTS: Facts = Facts {
        name: "answer",
        title: "",
        description: "",
        effect: Effect::Read,
        world: World::Open,
        access: Access::Local(TokenScope::new("s")),
        sponsor: Sponsor::Never,
        status: None,
        widget: Widget::None,
        guide: Guide { when: "", safe_defaults: "", common_errors: &[] },
    };

    fn rate_limited() -> ToolError {
        let failure = RequestFailure {
            status: Some(429),
            retries: 3,
            api_message: Some("Slow down.".into()),
            retry_after: Some(Duration::from_secs(9)),
            ..RequestFailure::new(FailureKind::HttpStatus, "too many requests")
        };
        AnswersError::Request(Arc::new(failure)).into()
    }

    fn key_missing() -> ToolError {
        AnswersError::KeyMissing { env: "K".into(), problem: "K is not set".into() }.into()
    }

    #[test]
    fn failures_of_the_answer_tools_have_their_codes() {
        let wire = |debug, error: &ToolError| answers_error(debug, &FACTS, error);
        let fix = "set K to an OpenAI API key in the environment of this server";
        let request = json!({ "retries": 3, "reason": "too many requests: Slow down.", "status": 429, "retry_after": 9 });
        for (error, expected) in [
            (rate_limited(), rpc(-32050, "openai responses failed", Some(request))),
            (
                key_missing(),
                rpc(-32051, &format!("K is not set; {fix}"), Some(json!({ "env": "K", "fix": fix }))),
            ),
            (
                AnswersError::ProfileMissing.into(),
                rpc(
                    -32052,
                    "model_profiles.answer is required",
                    Some(json!({ "key": "model_profiles.answer" })),
                ),
            ),
            (
                AnswersError::Settings("openai.base_url: no".into()).into(),
                rpc(-32052, "openai.base_url: no", Some(json!({ "key": "openai.base_url" }))),
            ),
            (
                ToolError::invalid("query is required"),
                rpc(-32001, "answer: invalid arguments", Some(json!({ "reason": "query is required" }))),
            ),
            (
                ToolError::new(ErrorKind::TimedOut, "late"),
                rpc(-32050, "openai responses failed", Some(json!({ "retries": 0, "reason": "late" }))),
            ),
        ] {
            assert_eq!(wire(false, &error), expected);
        }
        let WireError::Rpc { data: Some(data), .. } = wire(true, &rate_limited()) else { panic!("no data") };
        assert_eq!(
            (&data["message"], &data["type"], &data["name"]),
            (&json!("Slow down."), &Value::Null, &json!("RateLimitError"))
        );
        let WireError::Rpc { data, .. } = wire(true, &ToolError::invalid("no")) else { panic!("no data") };
        assert_eq!(data, Some(json!({ "reason": "no", "message": "no", "name": "invalid_parameter" })));
    }

    #[test]
    fn failures_of_the_search_tool_have_their_codes() {
        let fix = "set K to an OpenAI API key in the environment of this server";
        let limited = json!({ "details": "too many requests: Slow down.", "retries": 3, "status": 429, "retryAfter": 9 });
        let key = json!({ "details": format!("K is not set; {fix}"), "env": "K", "fix": fix });
        for (error, expected) in [
            (rate_limited(), rpc(-32003, "Rate Limit Exceeded", Some(limited))),
            (key_missing(), rpc(-32001, "Authentication Error", Some(key))),
            (ToolError::invalid("no"), rpc(-32602, "Invalid params", Some(json!({ "details": "no" })))),
            (
                ToolError::internal("secret"),
                rpc(-32603, "Internal Error", Some(json!({ "details": "An unexpected error occurred" }))),
            ),
            (
                AnswersError::Settings("openai.base_url: no".into()).into(),
                rpc(
                    -32002,
                    "Search Error",
                    Some(json!({ "details": "openai.base_url: no", "key": "openai.base_url" })),
                ),
            ),
        ] {
            assert_eq!(search_error(false, &error), expected);
        }
        let internal = search_error(true, &ToolError::internal("the cause"));
        assert_eq!(internal, rpc(-32603, "Internal Error", Some(json!({ "details": "the cause" }))));
    }
}
