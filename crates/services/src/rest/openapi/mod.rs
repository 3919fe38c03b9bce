//! `GET /.well-known/openapi.yaml`: the OpenAPI 3.1 document of the routes. It is generated from their declarations and from
//! the types that they read and write.

mod document;
mod operation;
mod route;
mod schemas;
mod yaml;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

use super::callers::Visitor;
use super::state::RestState;

pub use document::document;
#[cfg(test)]
pub use document::{FAILURES, operation_value};
pub use operation::{Access, Operation, Reply};
pub use route::{Route, Routes};
pub use yaml::to_yaml;

/// The media type of YAML (RFC 9512).
pub const YAML: &str = "application/yaml";

/// Shows the document.
pub async fn page(_: Visitor, State(state): State<RestState>) -> Response {
    let headers = [(CONTENT_TYPE, YAML), (CACHE_CONTROL, "public, max-age=3600")];
    (headers, state.openapi()).into_response()
}
