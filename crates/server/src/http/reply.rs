//! Replies of our own: always JSON, whatever went wrong.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

use super::Body;
use crate::message::Refusal;

/// A body that is all there.
pub fn body(bytes: Vec<u8>) -> Body {
    Full::new(Bytes::from(bytes)).boxed_unsync()
}

/// A JSON body.
pub fn json(status: StatusCode, body: &Value) -> Response<Body> {
    bytes(status, body.to_string().into_bytes())
}

/// A JSON text as the body.
pub fn bytes(status: StatusCode, json: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(body(json));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// `{"error":{code,message}}`, the shape of every route but `/mcp`.
pub fn error(status: StatusCode, code: &str, message: &str) -> Response<Body> {
    json(status, &json!({ "error": { "code": code, "message": message } }))
}

/// A JSON-RPC error.
pub fn rpc_error(status: StatusCode, refusal: &Refusal) -> Response<Body> {
    bytes(status, refusal.to_json())
}
