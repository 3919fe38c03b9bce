//! The response to a caller who is not authorized: status 401 or 403, a `WWW-Authenticate` header, and the same challenge in
//! the body as a failed result, because some clients read only the header and others only the body.

use std::collections::BTreeSet;

use annai_core::{Denied, ErrorKind, Identity, Registry, ToolError};
use axum::response::Response;
use http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use rmcp::model::{ErrorCode, RequestId};
use serde_json::{Value, json};

use super::oauth::{RETRY_DELAY, TokenRefusal};
use super::reply;
use crate::era::Era;
use crate::failure::{self, RpcError};

/// Builds the challenges of a server.
#[derive(Debug, Clone)]
pub struct Challenger {
    /// The URL of the metadata that leads a client to the issuer; `None` without an issuer.
    pub metadata_url: Option<String>,
}

/// Why a request is not authorized, and the response to it.
pub struct Challenge {
    status: StatusCode,
    reason: ToolError,
    /// The value of `WWW-Authenticate`; a response that asks the client to wait has none.
    header: Option<String>,
    /// The same for the body. ChatGPT offers to sign in only if it contains an error, while the header of a request without
    /// a token must not contain one (RFC 6750).
    for_body: Option<String>,
}

impl Challenger {
    /// The challenge to a request without a token.
    pub fn no_token(&self, scopes: &BTreeSet<&str>) -> Challenge {
        let needed = join(scopes);
        let reason = match &self.metadata_url {
            Some(_) => format!("sign in first: this needs an access token with the scope {needed}"),
            None => format!(
                "this needs a token with the scope {needed}; ask the operator of this server for one (annai token new)"
            ),
        };
        let header = self.header(None, scopes);
        let for_body = self.header(Some(("invalid_token", &reason)), scopes);
        Challenge::new(StatusCode::UNAUTHORIZED, ErrorKind::Unauthorized, reason, header, for_body)
    }

    /// The challenge to a request whose token identifies nobody. If that is only because the issuer cannot be reached, the
    /// client is asked to wait: signing in again would not help.
    pub fn refused_token(&self, refusal: TokenRefusal, scopes: &BTreeSet<&str>) -> Challenge {
        match refusal {
            TokenRefusal::Invalid(problem) => {
                let header = self.header(Some(("invalid_token", problem)), scopes);
                let remedy = match &self.metadata_url {
                    Some(_) => "sign in again",
                    None => "ask the operator of this server for a token (annai token new)",
                };
                let (kind, reason) = (ErrorKind::Unauthorized, format!("{problem}; {remedy}"));
                Challenge::new(StatusCode::UNAUTHORIZED, kind, reason, header.clone(), header)
            }
            TokenRefusal::IssuerUnavailable => {
                let reason = ToolError::new(ErrorKind::Upstream, refusal.to_string());
                Challenge { status: StatusCode::SERVICE_UNAVAILABLE, reason, header: None, for_body: None }
            }
        }
    }

    /// The challenge to a verified person whose token lacks a scope. It names the token's own scopes too, because older
    /// clients replace their scopes by those of the challenge, and would lose the others.
    pub fn missing_scope(&self, needed: &str, granted: &BTreeSet<String>) -> Challenge {
        let scopes: BTreeSet<_> = granted.iter().map(String::as_str).chain([needed]).collect();
        let reason = format!("the token lacks the scope {needed}, which this needs");
        let header = self.header(Some(("insufficient_scope", &reason)), &scopes);
        Challenge::new(StatusCode::FORBIDDEN, ErrorKind::Forbidden, reason, header.clone(), header)
    }

    /// The challenge to a call or a read that was denied; `None` when no token would change that. A caller without a token
    /// is asked for all scopes of `toolset_scopes` at once, so that one sign-in suffices.
    pub fn denied(
        &self,
        denied: Denied,
        identity: &Identity,
        toolset_scopes: &BTreeSet<&str>,
    ) -> Option<Challenge> {
        match (denied, identity) {
            (Denied::Unknown, _) => None,
            (Denied::Scope(scope), Identity::Person(person)) => {
                Some(self.missing_scope(scope.as_str(), &person.scopes))
            }
            (Denied::SignIn(scope) | Denied::Scope(scope), _) => {
                let mut scopes = toolset_scopes.clone();
                scopes.insert(scope.as_str());
                Some(self.no_token(&scopes))
            }
        }
    }

    fn header(&self, error: Option<(&str, &str)>, scopes: &BTreeSet<&str>) -> String {
        let metadata = self.metadata_url.iter().map(|url| ("resource_metadata", url.clone()));
        let error = error.into_iter().flat_map(|(error, description)| {
            [("error", error.to_owned()), ("error_description", description.to_owned())]
        });
        let scope = (!scopes.is_empty()).then(|| ("scope", join(scopes)));
        let parameters: Vec<_> = metadata
            .chain(error)
            .chain(scope)
            .map(|(name, value)| format!("{name}=\"{}\"", quotable(&value)))
            .collect();
        format!("Bearer {}", parameters.join(", "))
    }
}

/// The characters that a quoted string in a header may contain unescaped. A scope comes from a token, so it may contain more.
fn quotable(value: &str) -> String {
    value.chars().filter(|c| (' '..='~').contains(c) && !matches!(c, '"' | '\\')).collect()
}

fn join(scopes: &BTreeSet<&str>) -> String {
    scopes.iter().copied().collect::<Vec<_>>().join(" ")
}

/// The scopes of all tools of a registry.
pub fn all_scopes(registry: &Registry) -> BTreeSet<&'static str> {
    registry.scopes().iter().map(|scope| scope.as_str()).collect()
}

impl Challenge {
    fn new(status: StatusCode, kind: ErrorKind, reason: String, header: String, for_body: String) -> Self {
        Self { status, reason: ToolError::new(kind, reason), header: Some(header), for_body: Some(for_body) }
    }

    /// The response to a tool call. `text` replaces the text of the result.
    pub fn to_call(&self, id: &RequestId, era: Era, text: Option<&str>) -> Response {
        let mut result = json!(failure::of_denied(&self.reason, self.for_body.as_deref(), text));
        if let Value::Object(result) = &mut result {
            match era {
                Era::Handshake => drop(result.shift_remove("resultType")),
                Era::PerRequest => drop(result.insert("resultType".to_owned(), "complete".into())),
            }
        }
        let body = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        self.response(body.to_string().into_bytes())
    }

    /// The response to any other MCP request.
    pub fn to_request(&self, id: Option<&RequestId>) -> Response {
        let error = RpcError::new(id.cloned(), ErrorCode::INVALID_REQUEST, self.reason.message());
        self.response(error.to_json())
    }

    /// The response to a request to another route.
    pub fn to_route(&self) -> Response {
        let error = json!({ "code": self.reason.kind().code(), "message": self.reason.message() });
        self.response(json!({ "error": error }).to_string().into_bytes())
    }

    fn response(&self, json: Vec<u8>) -> Response {
        let mut response = reply::bytes(self.status, json);
        let headers = response.headers_mut();
        if let Some(header) = self.header.as_deref().and_then(|header| HeaderValue::from_str(header).ok()) {
            headers.insert(WWW_AUTHENTICATE, header);
        }
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from(RETRY_DELAY.as_secs()));
        }
        response
    }
}

#[cfg(test)]
#[path = "challenge_tests.rs"]
mod tests;
