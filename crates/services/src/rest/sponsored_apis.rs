//! `/sponsored-apis`: sponsors create and change them, everybody may read them. Where they are run is never shown.

use axum::extract::State;
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
use crate::domain::ids::SponsoredApiId;
use crate::domain::sponsored_api::{SponsoredApi, SponsoredApiDraft, SponsoredApiPatch};
use crate::store::Page;
use crate::upstream_http::check_headers;

/// A sponsored API by itself.
#[derive(Serialize, JsonSchema)]
pub struct ApiReply {
    /// The sponsored API.
    api: SponsoredApi,
}

/// A page of sponsored APIs.
#[derive(Serialize, JsonSchema)]
pub struct ApiList {
    /// The sponsored APIs, newest first.
    apis: Vec<SponsoredApi>,
    /// Where the next page begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// `POST /sponsored-apis`. The URL and every address of its host are checked first.
pub async fn create(
    State(state): State<RestState>,
    _: Sponsor,
    IdempotencyHeader(key): IdempotencyHeader,
    JsonBody(draft): JsonBody<SponsoredApiDraft>,
) -> Result<Created<ApiReply>, ApiError> {
    check_headers(&draft.upstream_headers.clone().into_map())?;
    let api = state.open().await?.create_sponsored_api(draft, &state.registry, key).await?;
    Ok(Created(ApiReply { api }))
}

/// `PATCH /sponsored-apis/{id}`.
pub async fn patch(
    State(state): State<RestState>,
    _: Sponsor,
    PathParam(id): PathParam<SponsoredApiId>,
    IdempotencyHeader(key): IdempotencyHeader,
    JsonBody(patch): JsonBody<SponsoredApiPatch>,
) -> Result<Json<ApiReply>, ApiError> {
    if let Some(headers) = &patch.upstream_headers {
        check_headers(&headers.clone().into_map())?;
    }
    let store = state.open().await?.store();
    let api = store.patch_sponsored_api(id, patch, state.tools.clone(), key).await?;
    Ok(Json(ApiReply { api }))
}

/// `GET /sponsored-apis/{id}`.
pub async fn get(
    State(state): State<RestState>,
    _: Visitor,
    PathParam(id): PathParam<SponsoredApiId>,
) -> Result<Json<ApiReply>, ApiError> {
    let api = state.open().await?.store().sponsored_api(id).await?;
    Ok(Json(ApiReply { api }))
}

/// `GET /sponsored-apis`.
pub async fn list(
    State(state): State<RestState>,
    _: Visitor,
    query: Query,
) -> Result<Json<ApiList>, ApiError> {
    let page = page_request(query)?;
    let Page { entries: apis, next } = state.open().await?.store().sponsored_apis(page).await?;
    Ok(Json(ApiList { apis, next_cursor: next.map(|next| next.to_string()) }))
}
