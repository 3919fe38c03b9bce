//! The routes for operators: `/health` and `/metrics`.

use std::time::Instant;

use annai_core::metrics;
use axum::body::Body;
use axum::response::Response;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use serde_json::json;

use super::reply;

/// `GET /health`: the server is up, with its version and its uptime in seconds.
pub fn health(version: &str, started: Instant) -> Response {
    let uptime = started.elapsed().as_secs();
    reply::json(StatusCode::OK, &json!({ "status": "ok", "version": version, "uptime": uptime }))
}

/// `GET /metrics`: all metrics in the Prometheus text format.
pub fn metrics() -> Response {
    let mut response = Response::new(Body::from(metrics::render()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(metrics::CONTENT_TYPE));
    response
}
