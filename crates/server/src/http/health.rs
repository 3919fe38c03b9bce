//! What operators ask: whether the server is up, and its metrics.

use std::time::Instant;

use annai_core::metrics;
use axum::body::Body;
use axum::response::Response;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use serde_json::json;

use super::reply;

/// `GET /health`.
pub fn health(version: &str, started: Instant) -> Response {
    let uptime = started.elapsed().as_secs();
    reply::json(StatusCode::OK, &json!({ "status": "ok", "version": version, "uptime": uptime }))
}

/// `GET /metrics`.
pub fn metrics() -> Response {
    let mut response = Response::new(Body::from(metrics::render()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(metrics::CONTENT_TYPE));
    response
}
