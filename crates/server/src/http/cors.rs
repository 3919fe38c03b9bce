//! What browsers on allowed origins are told.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, HeaderMap, VARY,
};
use http::{HeaderValue, Response, StatusCode};

use super::{Body, reply};

const REQUEST_HEADERS: &str =
    "Authorization, Content-Type, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID";
const RESPONSE_HEADERS: &str = "Mcp-Session-Id, WWW-Authenticate";

/// The answer to a browser that asks before it sends.
pub fn preflight(origin: &str) -> Response<Body> {
    let mut response = Response::new(reply::body(Vec::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    allow(origin, headers);
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE, OPTIONS"));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(REQUEST_HEADERS));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

/// Lets a page on `origin` read the response.
pub fn allow(origin: &str, headers: &mut HeaderMap) {
    if let Ok(origin) = HeaderValue::from_str(origin) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(RESPONSE_HEADERS));
        headers.insert(VARY, HeaderValue::from_static("Origin"));
    }
}
