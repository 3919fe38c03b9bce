//! The HTTP response to a caller who is not authorized: status 401 or 403, a `WWW-Authenticate` header, and the same
//! challenge in the body as a failed result, because some clients read only the header and others only the body.

use annai_core::{Denied, ToolError};
use axum::response::Response;
use http::header::WWW_AUTHENTICATE;
use http::{HeaderValue, StatusCode};
use rmcp::model::{ErrorCode, RequestId};
use serde_json::{Value, json};

use super::reply;
use crate::era::Era;
use crate::failure::{self, RpcError};

/// The response to an unauthorized tool call; `None` when no token would change the outcome.
pub fn to_call(id: &RequestId, denied: Denied, era: Era) -> Option<Response> {
    let challenge = Challenge::of(denied)?;
    let mut result = json!(failure::of_denied(&challenge.reason, Some(&challenge.header)));
    if let Value::Object(result) = &mut result {
        match era {
            Era::Handshake => drop(result.shift_remove("resultType")),
            Era::PerRequest => drop(result.insert("resultType".to_owned(), "complete".into())),
        }
    }
    let body = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    Some(challenge.response(body.to_string().into_bytes()))
}

/// The response to an unauthorized `resources/read`; `None` when no token would change the outcome.
pub fn to_read(id: &RequestId, denied: Denied) -> Option<Response> {
    let challenge = Challenge::of(denied)?;
    let error = RpcError::new(Some(id.clone()), ErrorCode::INVALID_REQUEST, challenge.reason.message());
    Some(challenge.response(error.to_json()))
}

struct Challenge {
    status: StatusCode,
    reason: ToolError,
    header: String,
}

impl Challenge {
    fn of(denied: Denied) -> Option<Self> {
        let (status, error, scope) = match denied {
            Denied::Unknown => return None,
            Denied::SignIn(scope) => (StatusCode::UNAUTHORIZED, "invalid_token", scope),
            Denied::Scope(scope) => (StatusCode::FORBIDDEN, "insufficient_scope", scope),
        };
        let (reason, scope) = (ToolError::from(denied), scope.as_str());
        let description = reason.message();
        let header =
            format!("Bearer error=\"{error}\", error_description=\"{description}\", scope=\"{scope}\"");
        Some(Self { status, reason, header })
    }

    fn response(&self, json: Vec<u8>) -> Response {
        let mut response = reply::bytes(self.status, json);
        if let Ok(header) = HeaderValue::from_str(&self.header) {
            response.headers_mut().insert(WWW_AUTHENTICATE, header);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use annai_core::TokenScope;
    use http_body_util::BodyExt as _;

    use super::*;

    const READ: TokenScope = TokenScope::new("library.read");

    async fn parts(denied: Denied, era: Era) -> (u16, String, Value) {
        let response = to_call(&RequestId::Number(7), denied, era).unwrap();
        let header = response.headers()[WWW_AUTHENTICATE].to_str().unwrap().to_owned();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, header, serde_json::from_slice(&body).unwrap())
    }

    #[tokio::test]
    async fn a_missing_token_is_401_and_a_missing_scope_403() {
        let (status, header, body) = parts(Denied::SignIn(READ), Era::Handshake).await;
        let message = "this needs a verified token with the scope library.read";
        let challenge = format!(
            "Bearer error=\"invalid_token\", error_description=\"{message}\", scope=\"library.read\""
        );
        let error = json!({ "code": "unauthorized", "message": message });
        assert_eq!((status, &header), (401, &challenge));
        assert_eq!(
            body,
            json!({ "jsonrpc": "2.0", "id": 7, "result": {
                "content": [{ "type": "text", "text": error.to_string() }],
                "isError": true,
                "_meta": { "annai/error": error, "mcp/www_authenticate": [challenge] },
            } })
        );
        let (status, header, body) = parts(Denied::Scope(READ), Era::PerRequest).await;
        assert_eq!(status, 403);
        assert!(header.starts_with("Bearer error=\"insufficient_scope\""), "{header}");
        assert_eq!(body["result"]["resultType"], "complete");
    }
}
