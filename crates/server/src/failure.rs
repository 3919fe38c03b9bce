//! How failures look on the wire: the one place that builds a JSON-RPC error, and the result of a failed tool.

use annai_core::{ErrorKind, JsonObject, ToolError, WireError};
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, ErrorData, MetaObject, RequestId};
use serde_json::{Value, json};

use crate::era::Era;

/// The key of a failure in a result's `_meta`.
const ERROR_META: &str = "annai/error";
/// The key under which ChatGPT looks for a challenge to sign in.
const CHALLENGE_META: &str = "mcp/www_authenticate";

/// A message that is answered with a JSON-RPC error before any tool is involved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    /// The id of the request, where it has one.
    pub id: Option<RequestId>,
    /// JSON-RPC's code.
    pub code: ErrorCode,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl RpcError {
    /// An error with one of JSON-RPC's codes.
    pub fn new(id: Option<RequestId>, code: ErrorCode, message: impl Into<String>) -> Self {
        Self { id, code, message: message.into() }
    }

    /// The reply as JSON. JSON-RPC requires `id: null` where there is no id; the SDK leaves it out.
    pub fn to_json(&self) -> Vec<u8> {
        let error = json!({ "code": self.code.0, "message": self.message });
        json!({ "jsonrpc": "2.0", "id": self.id, "error": error }).to_string().into_bytes()
    }
}

/// A failed call in the form that its toolset chose; peers of 2026-07-28 get a result whatever it chose.
///
/// # Errors
///
/// The JSON-RPC error, where that is the form.
pub fn of_call(wire: WireError, kind: ErrorKind, era: Era) -> Result<CallToolResult, ErrorData> {
    match wire {
        WireError::Rpc { code, message, data } if era == Era::Handshake => {
            Err(ErrorData::new(ErrorCode(code), message, data))
        }
        other => Ok(result(other, kind)),
    }
}

/// The result of a call that was not admitted, with the challenge that makes ChatGPT offer to sign in.
pub fn of_denied(error: &ToolError, challenge: Option<&str>) -> CallToolResult {
    let mut result = result(WireError::result(error), error.kind());
    if let (Some(challenge), Some(meta)) = (challenge, &mut result.meta) {
        meta.0.insert(CHALLENGE_META.to_owned(), json!([challenge]));
    }
    result
}

/// A result with `isError`: its text is `{code, message, details?}`, repeated in `_meta`. It is not in
/// `structuredContent`, which official clients check against the output schema even then.
fn result(wire: WireError, kind: ErrorKind) -> CallToolResult {
    let mut error = JsonObject::new();
    if let WireError::Result { code, message, details } = wire.into_result(kind) {
        error.insert("code".to_owned(), code.into());
        error.insert("message".to_owned(), message.into());
        error.extend(details.map(|details| ("details".to_owned(), details)));
    }
    let error = Value::Object(error);
    let mut result = CallToolResult::error(vec![ContentBlock::text(error.to_string())]);
    result.meta = Some(MetaObject(JsonObject::from_iter([(ERROR_META.to_owned(), error)])));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused() -> WireError {
        WireError::Rpc { code: -32050, message: "refused".into(), data: Some(json!({ "retries": 1 })) }
    }

    #[test]
    fn a_json_rpc_error_becomes_a_result_for_newer_peers() {
        let error = of_call(refused(), ErrorKind::Upstream, Era::Handshake).unwrap_err();
        assert_eq!((error.code.0, error.message.as_ref()), (-32050, "refused"));
        let result = of_call(refused(), ErrorKind::Upstream, Era::PerRequest).unwrap();
        let error = json!({
            "code": "upstream_error", "message": "refused", "details": { "code": -32050, "retries": 1 },
        });
        let result = serde_json::to_value(result).unwrap();
        assert_eq!(result["content"][0]["text"], error.to_string());
        assert_eq!((&result["isError"], &result["_meta"]), (&json!(true), &json!({ ERROR_META: error })));
    }

    #[test]
    fn a_call_that_was_not_admitted_carries_its_challenge() {
        let error = ToolError::new(ErrorKind::Unauthorized, "sign in");
        let result = serde_json::to_value(of_denied(&error, Some("Bearer"))).unwrap();
        assert_eq!(result["_meta"][CHALLENGE_META], json!(["Bearer"]));
        assert_eq!(result["_meta"][ERROR_META], json!({ "code": "unauthorized", "message": "sign in" }));
    }

    #[test]
    fn a_refused_message_without_an_id_has_the_id_null() {
        let json = RpcError::new(None, ErrorCode::PARSE_ERROR, "no").to_json();
        let json: Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(
            json,
            json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": "no" } })
        );
    }
}
