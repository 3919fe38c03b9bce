//! `POST /gpt/auth`: registers or recognizes a person and begins a session.

use annai_core::ErrorKind;
use http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;

use super::body::JsonBody;
use super::error::ApiError;
use super::gpt_gate::Gpt;
use super::reply::Json;
use super::session::ACCEPTED;
use crate::domain::email::Email;
use crate::domain::text::{List, Name, Problem};
use crate::domain::user::{SignIn, SignInReport, VerifiedSubject};

/// Who signs in. Another Annai server, which has verified the person, also names the issuer and the subject.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuthRequest {
    /// The e-mail address of the person.
    email: Email,
    /// Their region, such as `JP`, or `auto`.
    region: Name,
    /// Their roles, which campaigns target; without them, the earlier ones stay.
    roles: Option<List<Name>>,
    /// The tools they use; without them, the earlier ones stay.
    tools_used: Option<List<Name>>,
    /// The issuer that has verified the person. Only another Annai server may name one.
    issuer: Option<Name>,
    /// The issuer's id of the person.
    subject: Option<Name>,
}

/// Signs a person in. A person who is bound to an identity provider enters only with that identity.
pub async fn sign_in(
    Gpt(caller): Gpt,
    JsonBody(request): JsonBody<AuthRequest>,
) -> Result<([(&'static str, &'static str); 1], Json<SignInReport>), ApiError> {
    let AuthRequest { email, region, roles, tools_used, issuer, subject } = request;
    let services = caller.without_session().await?;
    let subject = match (issuer, subject) {
        (None, None) => None,
        (Some(_), None) => return Err(Problem::new("is required with an issuer").of("subject").into()),
        (None, Some(_)) => return Err(Problem::new("is required with a subject").of("issuer").into()),
        (Some(_), Some(_)) if !caller.key.is_internal() => {
            let message = "only another Annai server may name the identity of a person: its key must be the setting services.mcp_internal_api_key, and differ from services.gpt_actions_api_key";
            return Err(ApiError::key_refused(StatusCode::FORBIDDEN, ErrorKind::Forbidden, message));
        }
        (Some(issuer), Some(subject)) => Some(VerifiedSubject { issuer, subject }),
    };
    let (roles, tools_used) = (roles.unwrap_or_default(), tools_used.unwrap_or_default());
    let sign_in = SignIn { email, region, roles, tools_used };
    Ok((ACCEPTED, Json(services.store().sign_in(sign_in, subject).await?)))
}
