//! `GET /gpt/services`: searches for services.

use super::error::ApiError;
use super::gpt_gate::Gpt;
use super::query::Query;
use super::reply::Json;
use super::session::{SessionHeader, take_session};
use crate::domain::search::{SearchQuery, SearchReport};

/// Searches, with the preferences of the person where a session is given.
pub async fn search(
    Gpt(caller): Gpt,
    header: SessionHeader,
    mut query: Query,
) -> Result<Json<SearchReport>, ApiError> {
    let session = header.or(take_session(&mut query)?)?;
    let query: SearchQuery = query.read()?;
    let services = match session {
        Some(session) => caller.sign_in(session).await?.services,
        None => caller.without_session().await?,
    };
    Ok(Json(services.store().search(query, session, caller.state.tools.clone()).await?))
}
