//! `GET /gpt/user/status`: what a person has completed and what they can run.

use super::error::ApiError;
use super::gpt_gate::Gpt;
use super::query::Query;
use super::reply::Json;
use super::session::{SessionHeader, only_session};
use crate::domain::user::UserStatus;

/// Shows the status of the person of a session.
pub async fn status(
    Gpt(caller): Gpt,
    header: SessionHeader,
    query: Query,
) -> Result<Json<UserStatus>, ApiError> {
    let session = only_session(header, query)?;
    let services = caller.sign_in(session).await?.services;
    Ok(Json(services.user_status(session, &caller.state.registry).await?))
}
