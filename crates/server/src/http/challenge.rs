//! The response to a caller who is not authorized: status 401 or 403, a `WWW-Authenticate` header, and the same challenge in
//! the body as a failed result, because some clients read only the header and others only the body.

use std::collections::BTreeSet;

use annai_core::tool::RegisteredTool;
use annai_core::{
    Denied, ErrorKind, ErrorText, Identity, Person, Registry, TokenScope, TokenScopes, ToolError,
};
use axum::response::Response;
use http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use rmcp::model::{ErrorCode, RequestId};
use serde_json::{Value, json};

use super::oauth::{RETRY_DELAY, TokenRefusal};
use super::reply;
use crate::era::Era;
use crate::failure::{self, RpcError};
use crate::tokens::TOKEN_ISSUER;

/// The next step where no token can be had.
const NO_SIGN_IN: &str = "this server has no sign-in yet: its operator has to set OAUTH_ISSUER";

/// Builds the challenges of a server.
#[derive(Debug, Clone)]
pub struct Challenger {
    /// The URL of the metadata that leads a client to the issuer; `None` without an issuer.
    pub metadata_url: Option<String>,
    /// The scopes that static tokens can have.
    pub static_scopes: BTreeSet<&'static str>,
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
    /// Whether the server has an issuer with which people can sign in.
    has_issuer: bool,
}

impl Challenger {
    /// The challenge to a request without a token. The header asks for all of `scopes`, so that one sign-in suffices; the
    /// sentence names the scope that is `needed`, or none where every token is let in.
    pub fn no_token(&self, needed: Option<&'static str>, scopes: &BTreeSet<&str>) -> Challenge {
        self.no_token_with(needed.map(|scope| TokenScope::new(scope).into()), scopes)
    }

    fn no_token_with(&self, needed: Option<TokenScopes>, scopes: &BTreeSet<&str>) -> Challenge {
        let needs = |token: &str| match needed {
            Some(needed) => format!("this needs {token} with the {needed}"),
            None => format!("this server needs {token}"),
        };
        let can_be_static = match needed {
            Some(needed) => self.are_static(needed),
            None => self.has_static(scopes),
        };
        let reason = match &self.metadata_url {
            Some(_) => format!("sign in first: {}", needs("an access token")),
            None if can_be_static => {
                format!("{}; ask the operator of this server for one (annai token new)", needs("a token"))
            }
            None => format!("{}, and {NO_SIGN_IN}", needs("an access token")),
        };
        let header = self.header(None, scopes);
        let for_body = self.header(Some(("invalid_token", &reason)), scopes);
        self.challenge(StatusCode::UNAUTHORIZED, ErrorKind::Unauthorized, reason, header, for_body)
    }

    /// The challenge to a request whose token identifies nobody. If that is only because the issuer cannot be reached, the
    /// client is asked to wait: signing in again would not help.
    pub fn refused_token(&self, refusal: TokenRefusal, scopes: &BTreeSet<&str>) -> Challenge {
        match refusal {
            TokenRefusal::Invalid(problem) => {
                let header = self.header(Some(("invalid_token", problem)), scopes);
                let remedy = match &self.metadata_url {
                    Some(_) => "sign in again",
                    None if self.has_static(scopes) => {
                        "ask the operator of this server for a token (annai token new)"
                    }
                    None => NO_SIGN_IN,
                };
                let (kind, reason) = (ErrorKind::Unauthorized, format!("{problem}; {remedy}"));
                self.challenge(StatusCode::UNAUTHORIZED, kind, reason, header.clone(), header)
            }
            TokenRefusal::IssuerUnavailable => {
                let reason = ToolError::new(ErrorKind::Upstream, refusal.to_string());
                let status = StatusCode::SERVICE_UNAVAILABLE;
                Challenge { status, reason, header: None, for_body: None, has_issuer: true }
            }
        }
    }

    /// The challenge to a verified person whose token lacks a scope. It names the token's own scopes too, because older
    /// clients replace their scopes by those of the challenge, and would lose the others.
    pub fn missing_scope(&self, needed: &'static str, person: &Person) -> Challenge {
        self.missing_scopes(TokenScope::new(needed).into(), person)
    }

    fn missing_scopes(&self, needed: TokenScopes, person: &Person) -> Challenge {
        let own = person.scopes.iter().map(String::as_str);
        let scopes: BTreeSet<_> = own.chain(needed.iter().map(|scope| scope.as_str())).collect();
        let them = if needed.iter().count() == 1 { "it" } else { "them" };
        let remedy = if person.issuer != TOKEN_ISSUER {
            format!("sign in again and allow {them}")
        } else if self.are_static(needed) {
            format!("ask the operator of this server for a token with {them} (annai token new)")
        } else if self.metadata_url.is_some() {
            "a static token cannot have it: sign in instead".to_owned()
        } else {
            format!("a static token cannot have it, and {NO_SIGN_IN}")
        };
        let reason = format!("the token lacks the {needed}, which this needs; {remedy}");
        let header = self.header(Some(("insufficient_scope", &reason)), &scopes);
        self.challenge(StatusCode::FORBIDDEN, ErrorKind::Forbidden, reason, header.clone(), header)
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
            (Denied::Scope(needed), Identity::Person(person)) => Some(self.missing_scopes(needed, person)),
            (Denied::SignIn(needed) | Denied::Scope(needed), _) => {
                let mut scopes = toolset_scopes.clone();
                scopes.extend(needed.iter().map(|scope| scope.as_str()));
                Some(self.no_token_with(Some(needed), &scopes))
            }
        }
    }

    /// Whether a static token can have all of these scopes.
    fn are_static(&self, scopes: TokenScopes) -> bool {
        scopes.iter().all(|scope| self.static_scopes.contains(scope.as_str()))
    }

    /// Whether a static token can have any of these scopes.
    fn has_static(&self, scopes: &BTreeSet<&str>) -> bool {
        scopes.iter().any(|scope| self.static_scopes.contains(scope))
    }

    fn challenge(
        &self,
        status: StatusCode,
        kind: ErrorKind,
        reason: String,
        header: String,
        for_body: String,
    ) -> Challenge {
        let (reason, has_issuer) = (ToolError::new(kind, reason), self.metadata_url.is_some());
        Challenge { status, reason, header: Some(header), for_body: Some(for_body), has_issuer }
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
    /// The response to a call of a tool; `None` where no tool has the name.
    pub fn to_call(&self, id: &RequestId, era: Era, tool: Option<&RegisteredTool>) -> Response {
        let text = tool.and_then(|tool| self.text(tool));
        let mut result = json!(failure::of_denied(&self.reason, self.for_body.as_deref(), text.as_deref()));
        if let Value::Object(result) = &mut result {
            match era {
                Era::Handshake => drop(result.shift_remove("resultType")),
                Era::PerRequest => drop(result.insert("resultType".to_owned(), "complete".into())),
            }
        }
        let body = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        self.response(body.to_string().into_bytes())
    }

    /// The text of the result, where the toolset of the tool speaks in sentences.
    fn text(&self, tool: &RegisteredTool) -> Option<String> {
        let reason = self.reason.message();
        match tool.sign_in_message {
            Some(sentence) if self.status == StatusCode::UNAUTHORIZED && self.has_issuer => {
                Some(sentence.to_owned())
            }
            // Nobody can do what the sentence says, so the reason follows.
            Some(sentence) if self.status == StatusCode::UNAUTHORIZED => {
                Some(format!("{sentence}\n{reason}"))
            }
            _ => (tool.error_text(&self.reason) == ErrorText::Message).then(|| reason.to_owned()),
        }
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
