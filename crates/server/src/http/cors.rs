//! What browsers on allowed origins are told.

use axum::response::Response;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, HeaderMap, VARY,
};
use http::{HeaderValue, StatusCode};

use super::reply;

const REQUEST_HEADERS: &str =
    "Authorization, Content-Type, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID";
const RESPONSE_HEADERS: &str = "Mcp-Session-Id, WWW-Authenticate";
/// So many further `Mcp-…` headers a browser may ask for at once.
const MOST_HEADERS: usize = 16;

/// The answer to a browser that asks before it sends.
pub fn preflight(origin: &str, asked: &HeaderMap) -> Response {
    let mut response = reply::empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    allow(Some(origin), headers);
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE, OPTIONS"));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed_headers(asked));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

/// The headers by name, and those of the protocol's own that this browser asks for.
fn allowed_headers(asked: &HeaderMap) -> HeaderValue {
    let asked =
        asked.get(ACCESS_CONTROL_REQUEST_HEADERS).and_then(|names| names.to_str().ok()).unwrap_or_default();
    let more = asked.split(',').map(str::trim).filter(|name| name.to_ascii_lowercase().starts_with("mcp-"));
    let names: Vec<_> = std::iter::once(REQUEST_HEADERS).chain(more.take(MOST_HEADERS)).collect();
    HeaderValue::from_str(&names.join(", ")).unwrap_or(HeaderValue::from_static(REQUEST_HEADERS))
}

/// Lets a page on `origin` read the response; caches must tell origins apart.
pub fn allow(origin: Option<&str>, headers: &mut HeaderMap) {
    headers.insert(VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = origin.and_then(|origin| HeaderValue::from_str(origin).ok()) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(RESPONSE_HEADERS));
    }
}
