//! The wire format of failures: JSON-RPC errors, and the results of failed tool calls.

use annai_core::{ErrorKind, ErrorText, JsonObject, ToolError, WireError};
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, ErrorData, MetaObject, RequestId};
use serde_json::{Value, json};

use crate::era::Era;

/// The key of the error object in a result's `_meta`.
const ERROR_META: &str = "annai/error";
/// The key in `_meta` in which ChatGPT expects the `WWW-Authenticate` challenge that makes it offer to sign in.
const CHALLENGE_META: &str = "mcp/www_authenticate";

/// A JSON-RPC error reply to a message that reaches no tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    /// The id of the request; `None` when it has none or an invalid one.
    pub id: Option<RequestId>,
    /// The JSON-RPC error code.
    pub code: ErrorCode,
    /// What is wrong, and what is expected instead.
    pub message: String,
}

impl RpcError {
    /// An error with a JSON-RPC error code.
    pub fn new(id: Option<RequestId>, code: ErrorCode, message: impl Into<String>) -> Self {
        Self { id, code, message: message.into() }
    }

    /// The reply as JSON. JSON-RPC requires `id: null` when there is no id; the SDK's own type would omit it.
    pub fn to_json(&self) -> Vec<u8> {
        let error = json!({ "code": self.code.0, "message": self.message });
        json!({ "jsonrpc": "2.0", "id": self.id, "error": error }).to_string().into_bytes()
    }
}

/// A failed call in the form that its toolset chose: a JSON-RPC error, or a result with `isError`. Clients of 2026-07-28
/// always get a result, because that version reserves the error codes that the toolsets use.
///
/// # Errors
///
/// The JSON-RPC error, when that is the form.
pub fn of_call(wire: WireError, kind: ErrorKind, era: Era) -> Result<CallToolResult, ErrorData> {
    match wire {
        WireError::Rpc { code, message, data } if era == Era::Handshake => {
            Err(ErrorData::new(ErrorCode(code), message, data))
        }
        other => Ok(result(other, kind)),
    }
}

/// The result of an unauthorized call, with the challenge that makes ChatGPT offer to sign in.
/// `text` replaces the text of the result, for toolsets that have a sentence of their own for it.
pub fn of_denied(error: &ToolError, challenge: Option<&str>, text: Option<&str>) -> CallToolResult {
    let mut result = result(WireError::result(error), error.kind());
    if let Some(text) = text {
        result.content = vec![ContentBlock::text(text)];
    }
    if let (Some(challenge), Some(meta)) = (challenge, &mut result.meta) {
        meta.0.insert(CHALLENGE_META.to_owned(), json!([challenge]));
    }
    result
}

/// A result with `isError`: its text is `{code, message, details?}`, repeated in `_meta`. It is not in
/// `structuredContent`, which the official clients validate against the output schema even for a failed call.
fn result(wire: WireError, kind: ErrorKind) -> CallToolResult {
    let mut error = JsonObject::new();
    let mut sentence = None;
    if let WireError::Result { code, message, details, text } = wire.into_result(kind) {
        sentence = (text == ErrorText::Message).then(|| message.clone());
        error.insert("code".to_owned(), code.into());
        error.insert("message".to_owned(), message.into());
        error.extend(details.map(|details| ("details".to_owned(), details)));
    }
    let error = Value::Object(error);
    let text = sentence.unwrap_or_else(|| error.to_string());
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
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
    fn clients_of_2026_07_28_get_a_result_instead_of_a_json_rpc_error() {
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
    fn an_unauthorized_call_carries_the_challenge_in_its_meta() {
        let error = ToolError::new(ErrorKind::Unauthorized, "sign in");
        let result = serde_json::to_value(of_denied(&error, Some("Bearer"), None)).unwrap();
        assert_eq!(result["_meta"][CHALLENGE_META], json!(["Bearer"]));
        assert_eq!(result["_meta"][ERROR_META], json!({ "code": "unauthorized", "message": "sign in" }));
        let result = serde_json::to_value(of_denied(&error, None, Some("Please sign in."))).unwrap();
        assert_eq!(result["content"][0]["text"], "Please sign in.");
        let wire = WireError::message(&error);
        let result = of_call(wire, error.kind(), Era::Handshake).unwrap();
        assert_eq!(serde_json::to_value(result).unwrap()["content"][0]["text"], "sign in");
    }

    #[test]
    fn an_error_without_an_id_has_the_id_null() {
        let json = RpcError::new(None, ErrorCode::PARSE_ERROR, "no").to_json();
        let json: Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(
            json,
            json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": "no" } })
        );
    }
}
