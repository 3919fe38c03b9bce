//! CORS headers for browsers on allowed origins.

use axum::response::Response;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, HeaderMap, VARY,
};
use http::{HeaderValue, StatusCode};

use super::reply;

/// The request headers that a page may send.
const REQUEST_HEADERS: &str = "Authorization, Content-Type, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, \
     Mcp-Session-Id, Last-Event-ID, X-Annai-Toolsets, X-Annai-Readonly";
/// The response headers that a page may read.
const RESPONSE_HEADERS: &str = "Mcp-Session-Id, WWW-Authenticate";
/// The maximum number of further `Mcp-…` headers that one preflight may ask for, so that the reply stays small. The
/// protocol defines fewer; the rest is not allowed.
const MAX_EXTRA_HEADERS: usize = 16;

/// The reply to a preflight request.
pub fn preflight(origin: &str, request: &HeaderMap) -> Response {
    let mut response = reply::empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    allow(Some(origin), headers);
    headers.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE, OPTIONS"),
    );
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed_headers(request));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

/// The fixed list, and the `Mcp-…` headers that the preflight asks for: the protocol adds headers over time.
fn allowed_headers(request: &HeaderMap) -> HeaderValue {
    let requested =
        request.get(ACCESS_CONTROL_REQUEST_HEADERS).and_then(|names| names.to_str().ok()).unwrap_or_default();
    let more =
        requested.split(',').map(str::trim).filter(|name| name.to_ascii_lowercase().starts_with("mcp-"));
    let names: Vec<_> = std::iter::once(REQUEST_HEADERS).chain(more.take(MAX_EXTRA_HEADERS)).collect();
    HeaderValue::from_str(&names.join(", ")).unwrap_or(HeaderValue::from_static(REQUEST_HEADERS))
}

/// Lets a page on `origin` read the response. `Vary` keeps caches from serving it to other origins.
pub fn allow(origin: Option<&str>, headers: &mut HeaderMap) {
    headers.append(VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = origin.and_then(|origin| HeaderValue::from_str(origin).ok()) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(RESPONSE_HEADERS));
    }
}
