//! The routes for operators: `/health` and `/metrics`, and the question to a server whether it is there.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use annai_core::metrics;
use axum::body::Body;
use axum::response::Response;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use serde::Deserialize;
use serde_json::json;

use super::reply;

/// How long another server may take to say that it is an Annai server. A server on the same machine answers within
/// milliseconds; after two seconds something else has the port.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum size of that answer in bytes; it has less than a hundred.
const MAX_ANSWER_BYTES: usize = 1024;

/// `GET /health`: the server is up, with its version and its uptime in seconds.
pub fn health(version: &str, started: Instant) -> Response {
    let uptime = started.elapsed().as_secs();
    reply::json(StatusCode::OK, &json!({ "status": "ok", "version": version, "uptime": uptime }))
}

/// What `/health` answers. A reply with other members is that of another program.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Health {
    status: String,
    version: String,
    #[serde(rename = "uptime")]
    _uptime: u64,
}

/// The version of the Annai server that already listens on this address; `None` if there is none, or if the address is not
/// on loopback: nobody else is asked.
pub async fn running_version(mut address: SocketAddr) -> Option<String> {
    if address.ip().is_unspecified() {
        address.set_ip(if address.is_ipv4() {
            Ipv4Addr::LOCALHOST.into()
        } else {
            Ipv6Addr::LOCALHOST.into()
        });
    }
    if !address.ip().is_loopback() {
        return None;
    }
    tokio::time::timeout(ANSWER_TIMEOUT, ask(address)).await.ok()?
}

async fn ask(address: SocketAddr) -> Option<String> {
    // Installing the provider fails only if it is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // Without TLS there are no certificates to verify, so none are loaded.
    let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
    let client = client.tls_certs_only([]).build().ok()?;
    let mut reply = client.get(format!("http://{address}/health")).send().await.ok()?;
    let mut body = Vec::new();
    while let Some(chunk) = reply.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_ANSWER_BYTES {
            return None;
        }
    }
    let health: Health = serde_json::from_slice(&body).ok()?;
    (health.status == "ok").then_some(health.version)
}

/// `GET /metrics`: all metrics in the Prometheus text format.
pub fn metrics() -> Response {
    let mut response = Response::new(Body::from(metrics::render()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(metrics::CONTENT_TYPE));
    response
}
