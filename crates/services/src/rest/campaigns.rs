//! `/campaigns`: sponsors create and change them, everybody may read them.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::header::LINK;
use http::{HeaderMap, HeaderValue};
use schemars::JsonSchema;
use serde::Serialize;

use super::body::JsonBody;
use super::callers::{Sponsor, Visitor};
use super::error::ApiError;
use super::idempotency::IdempotencyHeader;
use super::pages::page_request;
use super::path::PathParam;
use super::query::Query;
use super::reply::{Created, Json};
use super::state::RestState;
use crate::domain::campaign::{Campaign, CampaignDraft, CampaignPatch};
use crate::domain::ids::CampaignId;
use crate::store::Page;

/// The reply of `POST /campaigns`.
#[derive(Serialize, JsonSchema)]
pub struct CampaignCreated {
    /// The campaign.
    campaign: Campaign,
    /// Where everybody can read it.
    campaign_url: String,
    /// Where its sponsor sees what it has achieved.
    dashboard_url: String,
}

/// A campaign by itself.
#[derive(Serialize, JsonSchema)]
pub struct CampaignReply {
    /// The campaign.
    campaign: Campaign,
}

/// A page of campaigns.
#[derive(Serialize, JsonSchema)]
pub struct CampaignList {
    /// The campaigns, newest first.
    campaigns: Vec<Campaign>,
    /// Where the next page begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// A campaign for programs that look for services.
#[derive(Serialize, JsonSchema)]
struct DiscoveredCampaign {
    /// The campaign.
    campaign_id: CampaignId,
    /// Its name.
    name: String,
    /// Who pays.
    sponsor: String,
    /// Whether it is switched on.
    active: bool,
    /// Pages about the campaign.
    query_urls: Vec<String>,
    /// Where its first service is run.
    service_run_url: String,
    /// Where the sponsored APIs are listed.
    sponsored_api_discovery_url: String,
}

/// The reply of `GET /campaigns/discovery`.
#[derive(Serialize, JsonSchema)]
pub struct DiscoveredCampaigns(Vec<DiscoveredCampaign>);

/// `POST /campaigns`.
pub async fn create(
    State(state): State<RestState>,
    _: Sponsor,
    IdempotencyHeader(key): IdempotencyHeader,
    headers: HeaderMap,
    JsonBody(draft): JsonBody<CampaignDraft>,
) -> Result<Created<CampaignCreated>, ApiError> {
    let campaign = state.open().await?.store().create_campaign(draft, key).await?;
    let (base, id) = (state.base_url(&headers), campaign.id);
    Ok(Created(CampaignCreated {
        campaign_url: format!("{base}/campaigns/{id}"),
        dashboard_url: format!("{base}/dashboard/sponsor/{id}"),
        campaign,
    }))
}

/// `PATCH /campaigns/{id}`.
pub async fn patch(
    State(state): State<RestState>,
    _: Sponsor,
    PathParam(id): PathParam<CampaignId>,
    IdempotencyHeader(key): IdempotencyHeader,
    JsonBody(patch): JsonBody<CampaignPatch>,
) -> Result<Json<CampaignReply>, ApiError> {
    let campaign = state.open().await?.store().patch_campaign(id, patch, key).await?;
    Ok(Json(CampaignReply { campaign }))
}

/// `GET /campaigns/{id}`.
pub async fn get(
    State(state): State<RestState>,
    _: Visitor,
    PathParam(id): PathParam<CampaignId>,
) -> Result<Json<CampaignReply>, ApiError> {
    let campaign = state.open().await?.store().campaign(id).await?;
    Ok(Json(CampaignReply { campaign }))
}

/// `GET /campaigns`.
pub async fn list(
    State(state): State<RestState>,
    _: Visitor,
    query: Query,
) -> Result<Json<CampaignList>, ApiError> {
    let page = page_request(query)?;
    let Page { entries: campaigns, next } = state.open().await?.store().campaigns(page).await?;
    Ok(Json(CampaignList { campaigns, next_cursor: next.map(|next| next.to_string()) }))
}

/// `GET /campaigns/discovery`. The reply is a bare array, as it always was, so the next page is named in a header.
pub async fn discover(
    State(state): State<RestState>,
    _: Visitor,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, ApiError> {
    let page = page_request(query)?;
    let limit = page.limit.get();
    let Page { entries, next } = state.open().await?.store().campaigns(page).await?;
    let base = state.base_url(&headers);
    let active = entries.into_iter().filter(|campaign| campaign.active);
    let discovered = active.map(|campaign| discovered(&base, campaign)).collect();
    let mut response = Json(DiscoveredCampaigns(discovered)).into_response();
    let link =
        next.map(|next| format!("<{base}/campaigns/discovery?limit={limit}&cursor={next}>; rel=\"next\""));
    if let Some(link) = link.and_then(|link| HeaderValue::from_str(&link).ok()) {
        response.headers_mut().insert(LINK, link);
    }
    Ok(response)
}

fn discovered(base: &str, campaign: Campaign) -> DiscoveredCampaign {
    let Campaign { id, name, sponsor, active, query_urls, target_tools, .. } = campaign;
    // A campaign for no service in particular shows where the key goes.
    let service = target_tools.first().map_or_else(|| "{service}".to_owned(), |key| path_segment(key));
    DiscoveredCampaign {
        campaign_id: id,
        name,
        sponsor,
        active,
        query_urls,
        service_run_url: format!("{base}/proxy/{service}/run"),
        sponsored_api_discovery_url: format!("{base}/sponsored-apis"),
    }
}

/// A text as one segment of a path, percent-encoded.
fn path_segment(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}
