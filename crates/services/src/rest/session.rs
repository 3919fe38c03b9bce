//! The session token in the query of a request.

use schemars::JsonSchema;

use super::query::Query;
use crate::domain::ids::SessionToken;
use crate::domain::text::{FieldError, Problem};

/// The name of the parameter.
const SESSION_TOKEN: &str = "session_token";

/// The session of a query that has nothing else.
pub fn only_session(mut query: Query) -> Result<SessionToken, FieldError> {
    let session = take_session(&mut query)?;
    query.read::<NoParameters>()?;
    session
        .ok_or_else(|| Problem::new("is required; sign in with POST /gpt/auth to get one").of(SESSION_TOKEN))
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
    /// The session token from `POST /gpt/auth`.
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
