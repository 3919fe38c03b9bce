//! Builders for the responses of this crate. Every body is JSON, also that of an error.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};

use crate::failure::RpcError;

/// A response with a JSON value as its body.
pub fn json(status: StatusCode, body: &Value) -> Response {
    bytes(status, body.to_string())
}

/// A response whose body is JSON that is already serialized.
pub fn bytes(status: StatusCode, json: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Body::from(json.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A response without a body.
pub fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// `{"error":{code,message}}`, the error body of every route except `/mcp`.
pub fn error(status: StatusCode, code: &str, message: &str) -> Response {
    json(status, &json!({ "error": { "code": code, "message": message } }))
}

/// A JSON-RPC error, the error body of `/mcp`.
pub fn rpc_error(status: StatusCode, error: &RpcError) -> Response {
    bytes(status, error.to_json())
}
