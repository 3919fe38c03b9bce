//! `GET /dashboard/sponsor/{campaign_id}`: what a campaign has achieved, for its sponsor.

use axum::extract::State;

use super::callers::Sponsor;
use super::error::ApiError;
use super::path::PathParam;
use super::reply::Json;
use super::state::RestState;
use crate::domain::ids::CampaignId;
use crate::store::Dashboard;

/// Shows the dashboard of a campaign.
pub async fn get(
    State(state): State<RestState>,
    _: Sponsor,
    PathParam(campaign): PathParam<CampaignId>,
) -> Result<Json<Dashboard>, ApiError> {
    Ok(Json(state.open().await?.store().dashboard(campaign).await?))
}
