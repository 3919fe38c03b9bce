//! `/gpt/preferences`: the kinds of task that a person likes or avoids.

use schemars::JsonSchema;
use serde::Deserialize;

use super::body::JsonBody;
use super::error::ApiError;
use super::gpt_gate::Gpt;
use super::query::Query;
use super::reply::Json;
use super::session::only_session;
use crate::domain::ids::SessionToken;
use crate::domain::preferences::{NewPreferences, PreferencesReport, PreferencesSaved, TaskPreference};
use crate::domain::text::List;

/// New preferences, which replace the old ones.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreferencesRequest {
    /// The session token from `POST /gpt/auth`.
    session_token: SessionToken,
    /// The preferences, each task type once. They replace the old ones.
    preferences: List<TaskPreference>,
}

/// `GET /gpt/preferences`.
pub async fn get(Gpt(caller): Gpt, query: Query) -> Result<Json<PreferencesReport>, ApiError> {
    let session = only_session(query)?;
    let services = caller.sign_in(session).await?.services;
    Ok(Json(services.store().preferences(session).await?))
}

/// `POST /gpt/preferences`.
pub async fn set(
    Gpt(caller): Gpt,
    JsonBody(request): JsonBody<PreferencesRequest>,
) -> Result<Json<PreferencesSaved>, ApiError> {
    let PreferencesRequest { session_token, preferences } = request;
    let services = caller.sign_in(session_token).await?.services;
    let preferences = NewPreferences::parse(preferences)?;
    Ok(Json(services.store().set_preferences(session_token, preferences).await?))
}
