//! The documents that lead a client from this server to its issuer (RFC 9728, RFC 8414).

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use annai_core::TokenScope;
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use http::header::LOCATION;
use http::{HeaderValue, StatusCode};
use serde_json::json;

use super::verifier::OAuth;
use crate::ServerSection;
use crate::http::reply;

const PROTECTED_RESOURCE: &str = "/.well-known/oauth-protected-resource";

/// The names under which tokens are issued for this server: its base URL, and that of `/mcp`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    base: String,
}

impl Resource {
    /// The resource with this base URL, such as `https://annai.example.com`.
    pub fn new(base: &str) -> Self {
        Self { base: base.trim().trim_end_matches('/').to_owned() }
    }

    /// The resource of a server: its public URL, or else the address as programs on this machine write it.
    pub fn of_server(server: &ServerSection, mut address: SocketAddr) -> Self {
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        Self::new(&server.public_url.clone().unwrap_or_else(|| format!("http://{address}")))
    }

    /// The base URL and the URL of `/mcp`.
    pub fn names(&self) -> [String; 2] {
        [self.base.clone(), format!("{}/mcp", self.base)]
    }

    /// The URL of the metadata document that a challenge names.
    pub fn metadata_url(&self) -> String {
        format!("{}{PROTECTED_RESOURCE}/mcp", self.base)
    }
}

/// The routes of the metadata documents.
pub fn routes(oauth: &Arc<OAuth>, resource: &Resource, scopes: &[TokenScope]) -> Router {
    let scopes: Vec<_> = scopes.iter().map(|scope| scope.as_str()).collect();
    let [root, mcp] = resource.names().map(|resource| {
        json!({
            "resource": resource,
            "authorization_servers": [oauth.issuer_url()],
            "scopes_supported": scopes,
            "bearer_methods_supported": ["header"],
        })
    });
    let location = oauth.issuer.metadata_url();
    Router::new()
        .route(PROTECTED_RESOURCE, get(async move || reply::json(StatusCode::OK, &root)))
        .route(&format!("{PROTECTED_RESOURCE}/mcp"), get(async move || reply::json(StatusCode::OK, &mcp)))
        .route("/.well-known/oauth-authorization-server", get(async move || redirect(&location)))
}

fn redirect(location: &str) -> Response {
    let mut response = reply::empty(StatusCode::TEMPORARY_REDIRECT);
    if let Ok(location) = HeaderValue::from_str(location) {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}
