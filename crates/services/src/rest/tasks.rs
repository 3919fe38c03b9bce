//! `/gpt/tasks/{campaign_id}`: the task of a campaign, and completing it. `POST /tasks/complete` is the older path.

use schemars::JsonSchema;
use serde::Deserialize;

use super::body::JsonBody;
use super::error::ApiError;
use super::gpt_gate::Gpt;
use super::path::PathParam;
use super::query::Query;
use super::reply::Json;
use super::session::{SessionHeader, only_session};
use crate::domain::consent::ConsentAnswers;
use crate::domain::ids::{CampaignId, SessionToken};
use crate::domain::task::{CompletionReport, TaskCompletion, TaskDetails, TaskSubmission};
use crate::domain::text::{LongText, Name};

/// What a user sends to complete a task.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompleteRequest {
    /// The session token from `POST /gpt/auth`.
    #[schemars(required)]
    session_token: Option<SessionToken>,
    /// The name of the task, which must be the campaign's.
    task_name: Name,
    /// The fields of the form as a JSON object in text.
    details: Option<LongText>,
    /// The user's consent.
    consent: ConsentAnswers,
}

/// The same on the older path, with the campaign in the body.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LegacyCompleteRequest {
    /// The session token from `POST /gpt/auth`.
    #[schemars(required)]
    session_token: Option<SessionToken>,
    /// The campaign.
    campaign_id: CampaignId,
    /// The name of the task, which must be the campaign's.
    task_name: Name,
    /// The fields of the form as a JSON object in text.
    details: Option<LongText>,
    /// The user's consent.
    consent: ConsentAnswers,
}

/// `GET /gpt/tasks/{campaign_id}`.
pub async fn details(
    Gpt(caller): Gpt,
    PathParam(campaign): PathParam<CampaignId>,
    header: SessionHeader,
    query: Query,
) -> Result<Json<TaskDetails>, ApiError> {
    let session = only_session(header, query)?;
    let services = caller.sign_in(session).await?.services;
    Ok(Json(services.store().task_details(session, campaign).await?))
}

/// `POST /gpt/tasks/{campaign_id}/complete`.
pub async fn complete(
    Gpt(caller): Gpt,
    PathParam(campaign): PathParam<CampaignId>,
    header: SessionHeader,
    JsonBody(request): JsonBody<CompleteRequest>,
) -> Result<Json<CompletionReport>, ApiError> {
    let CompleteRequest { session_token, task_name, details, consent } = request;
    let session_token = header.require(session_token)?;
    let services = caller.sign_in(session_token).await?.services;
    let submission = TaskSubmission { task_name, details, consent };
    Ok(Json(services.store().complete_task(session_token, campaign, submission).await?.report))
}

/// `POST /tasks/complete`, whose reply is the stored completion.
pub async fn complete_legacy(
    Gpt(caller): Gpt,
    header: SessionHeader,
    JsonBody(request): JsonBody<LegacyCompleteRequest>,
) -> Result<Json<TaskCompletion>, ApiError> {
    let LegacyCompleteRequest { session_token, campaign_id, task_name, details, consent } = request;
    let session_token = header.require(session_token)?;
    let services = caller.sign_in(session_token).await?.services;
    let submission = TaskSubmission { task_name, details, consent };
    Ok(Json(services.store().complete_task(session_token, campaign_id, submission).await?.completion))
}
