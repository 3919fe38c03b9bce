//! The session token of a request: in the header `X-Session-Token`, or in the query or the body, as GPT actions send it.

use axum::extract::FromRequestParts;
use http::request::Parts;
use schemars::JsonSchema;

use super::error::ApiError;
use super::query::Query;
use crate::domain::ids::SessionToken;
use crate::domain::text::{FieldError, Problem};
use crate::session_header::SESSION_HEADER;

/// The name of the parameter.
const SESSION_TOKEN: &str = "session_token";

/// What the reply to a sign-in has in this header: the server takes it, so that nothing needs to be in a query.
pub const ACCEPTED: [(&str, &str); 1] = [(SESSION_HEADER, "accepted")];

/// The session in the header of a request, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionHeader(Option<SessionToken>);

impl<S: Send + Sync> FromRequestParts<S> for SessionHeader {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let mut values = parts.headers.get_all(SESSION_HEADER).iter();
        let Some(value) = values.next() else { return Ok(Self(None)) };
        if values.next().is_some() {
            return Err(Problem::new("must not be given twice").of("X-Session-Token").into());
        }
        let text = value.to_str().unwrap_or_default().trim();
        let token = SessionToken::parse(text).map_err(|problem| problem.of("X-Session-Token"))?;
        Ok(Self(Some(token)))
    }
}

impl SessionHeader {
    /// The session of the header, or else the one that the query or the body names.
    ///
    /// # Errors
    ///
    /// They are different.
    pub fn or(self, other: Option<SessionToken>) -> Result<Option<SessionToken>, FieldError> {
        match (self.0, other) {
            (Some(header), Some(other)) if header != other => {
                Err(Problem::new("is another one than that in X-Session-Token; send one of them")
                    .of(SESSION_TOKEN))
            }
            (header, other) => Ok(header.or(other)),
        }
    }

    /// The session of the header, or else the one that the body names.
    ///
    /// # Errors
    ///
    /// They are different, or there is none.
    pub fn require(self, other: Option<SessionToken>) -> Result<SessionToken, FieldError> {
        self.or(other)?.ok_or_else(|| {
            Problem::new("is required; sign in with POST /gpt/auth to get one").of(SESSION_TOKEN)
        })
    }
}

/// The session of a request whose query has nothing else.
pub fn only_session(header: SessionHeader, mut query: Query) -> Result<SessionToken, FieldError> {
    let session = take_session(&mut query)?;
    query.read::<NoParameters>()?;
    header.require(session)
}

/// Takes the session out of a query. A blank one counts as absent, since models send those.
pub fn take_session(query: &mut Query) -> Result<Option<SessionToken>, FieldError> {
    let token = query.take(SESSION_TOKEN)?.filter(|token| !token.trim().is_empty());
    let parse =
        |token: String| SessionToken::parse(token.trim()).map_err(|problem| problem.of(SESSION_TOKEN));
    token.map(parse).transpose()
}

/// The parameter where it is required, for the document of the routes.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is read")]
pub struct SessionParameter {
    /// The session token from `POST /gpt/auth`. Programs send it in the header `X-Session-Token` instead, which no log shows.
    session_token: SessionToken,
}

/// The parameter where it is optional, for the document of the routes.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is read")]
pub struct OptionalSessionParameter {
    /// The session token from `POST /gpt/auth`; with it, the preferences of the user apply.
    session_token: Option<SessionToken>,
}

/// No parameters at all.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct NoParameters {}
