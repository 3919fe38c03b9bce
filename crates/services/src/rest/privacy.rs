//! `GET /privacy`: what is stored about people, for people to read. Directories of apps ask for the address of such a page.

use std::sync::LazyLock;

use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};

use super::callers::Visitor;
use crate::domain::limits::RETENTION_DAYS;

static PAGE: LazyLock<String> =
    LazyLock::new(|| include_str!("privacy.html").replace("{retention_days}", &RETENTION_DAYS.to_string()));

/// Shows the page.
pub async fn page(_: Visitor) -> Response {
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'"),
        (CACHE_CONTROL, "public, max-age=3600"),
    ];
    (headers, PAGE.as_str()).into_response()
}
