//! `GET /health` and `GET /metrics`.

use std::time::Instant;

use annai_core::metrics;
use http::header::CONTENT_TYPE;
use http::{Response, StatusCode};
use serde_json::json;

use super::Body;
use super::reply::{self, body};

/// That the server lives, and since when.
pub fn health(version: &str, started: Instant) -> Response<Body> {
    let body = json!({ "status": "ok", "version": version, "uptime": started.elapsed().as_secs() });
    reply::json(StatusCode::OK, &body)
}

/// Counters for Prometheus.
pub fn metrics() -> Response<Body> {
    let mut response = Response::new(body(metrics::render().into_bytes()));
    let kind = http::HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
