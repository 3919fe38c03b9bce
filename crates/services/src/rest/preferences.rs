//! `/gpt/preferences`: the kinds of task that a person likes or avoids.

use schemars::JsonSchema;
use serde::Deserialize;

use super::body::JsonBody;
use super::error::ApiError;
use super::gpt_gate::Gpt;
use super::query::Query;
use super::reply::Json;
use super::session::{SessionHeader, only_session};
use crate::domain::ids::SessionToken;
use crate::domain::preferences::{NewPreferences, PreferencesReport, PreferencesSaved, TaskPreference};
use crate::domain::text::List;

/// New preferences, which replace the old ones.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreferencesRequest {
    /// The session token from `POST /gpt/auth`.
    #[schemars(required)]
    session_token: Option<SessionToken>,
    /// The preferences, each task type once. They replace the old ones.
    preferences: List<TaskPreference>,
}

/// `GET /gpt/preferences`.
pub async fn get(
    Gpt(caller): Gpt,
    header: SessionHeader,
    query: Query,
) -> Result<Json<PreferencesReport>, ApiError> {
    let session = only_session(header, query)?;
    let services = caller.sign_in(session).await?.services;
    Ok(Json(services.store().preferences(session).await?))
}

/// `POST /gpt/preferences`.
pub async fn set(
    Gpt(caller): Gpt,
    header: SessionHeader,
    JsonBody(request): JsonBody<PreferencesRequest>,
) -> Result<Json<PreferencesSaved>, ApiError> {
    let PreferencesRequest { session_token, preferences } = request;
    let session_token = header.require(session_token)?;
    let services = caller.sign_in(session_token).await?.services;
    let preferences = NewPreferences::parse(preferences)?;
    Ok(Json(services.store().set_preferences(session_token, preferences).await?))
}
