//! `POST /gpt/services/{service}/run`: runs a service that a sponsor pays for. `/proxy/{service}/run` and
//! `/sponsored-apis/{id}/run` are the older paths, with the replies that they always had.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body::JsonBody;
use super::error::ApiError;
use super::gpt_gate::{Gpt, GptCaller};
use super::idempotency::IdempotencyHeader;
use super::path::PathParam;
use super::reply::Json;
use super::request_log::RequestId;
use super::session::SessionHeader;
use crate::domain::idempotency::IdempotencyKey;
use crate::domain::ids::{SessionToken, SponsoredApiId, TxHash};
use crate::domain::text::{Input, Name};
use crate::runs::{PaymentMode, RunReport, RunRequest};

/// What a user sends to run a service.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunBody {
    /// The session token from `POST /gpt/auth`.
    #[schemars(required)]
    session_token: Option<SessionToken>,
    /// What the service is to work on.
    input: Input,
}

/// The reply of `POST /proxy/{service}/run`.
#[derive(Serialize, JsonSchema)]
pub struct ProxyReport {
    /// The key of the service.
    service: String,
    /// What the service answered, unchanged.
    output: String,
    /// How it was paid for.
    payment_mode: PaymentMode,
    /// Who paid.
    sponsored_by: String,
    /// The payment.
    tx_hash: TxHash,
}

/// The reply of `POST /sponsored-apis/{id}/run`.
#[derive(Serialize, JsonSchema)]
pub struct ApiRunReport {
    /// The sponsored API.
    api_id: SponsoredApiId,
    /// How it was paid for.
    payment_mode: PaymentMode,
    /// Who paid.
    sponsored_by: String,
    /// The payment.
    tx_hash: TxHash,
    /// The HTTP status of the upstream; 200 for a tool.
    upstream_status: u16,
    /// What the service answered, unchanged.
    upstream_body: String,
}

/// `POST /gpt/services/{service}/run`.
pub async fn run(
    Gpt(caller): Gpt,
    PathParam(service): PathParam<Name>,
    IdempotencyHeader(key): IdempotencyHeader,
    RequestId(request_id): RequestId,
    header: SessionHeader,
    JsonBody(body): JsonBody<RunBody>,
) -> Result<Json<RunReport>, ApiError> {
    Ok(Json(run_service(&caller, service, header, body, key, request_id).await?))
}

/// `POST /proxy/{service}/run`.
pub async fn run_proxy(
    Gpt(caller): Gpt,
    PathParam(service): PathParam<Name>,
    IdempotencyHeader(key): IdempotencyHeader,
    RequestId(request_id): RequestId,
    header: SessionHeader,
    JsonBody(body): JsonBody<RunBody>,
) -> Result<Json<ProxyReport>, ApiError> {
    let report = run_service(&caller, service, header, body, key, request_id).await?;
    let RunReport { service, output, payment_mode, sponsored_by, tx_hash, .. } = report;
    Ok(Json(ProxyReport { service, output, payment_mode, sponsored_by, tx_hash }))
}

/// `POST /sponsored-apis/{id}/run`. The service may also be paid by a campaign.
pub async fn run_api(
    Gpt(caller): Gpt,
    PathParam(api_id): PathParam<SponsoredApiId>,
    IdempotencyHeader(key): IdempotencyHeader,
    RequestId(request_id): RequestId,
    header: SessionHeader,
    JsonBody(body): JsonBody<RunBody>,
) -> Result<Json<ApiRunReport>, ApiError> {
    let api = caller.state.open().await?.store().sponsored_api(api_id).await?;
    let service = Name::parse(api.service_key).map_err(|problem| problem.of("id"))?;
    let report = run_service(&caller, service, header, body, key, request_id).await?;
    let RunReport { output: upstream_body, payment_mode, sponsored_by, tx_hash, upstream_status, .. } =
        report;
    Ok(Json(ApiRunReport { api_id, payment_mode, sponsored_by, tx_hash, upstream_status, upstream_body }))
}

async fn run_service(
    caller: &GptCaller,
    service: Name,
    header: SessionHeader,
    body: RunBody,
    key: Option<IdempotencyKey>,
    request_id: String,
) -> Result<RunReport, ApiError> {
    let RunBody { session_token, input } = body;
    let session = header.require(session_token)?;
    let person = caller.sign_in(session).await?;
    let (registry, identity) = (caller.state.registry.clone(), person.identity());
    let request = RunRequest { session, service, input, key, registry, identity, request_id };
    Ok(person.services.runs().run(request).await?)
}
