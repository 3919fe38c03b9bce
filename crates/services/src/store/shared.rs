//! What every store does in the same way.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::domain::idempotency::{IdempotencyKey, RequestHash};
use crate::domain::ids::SponsoredApiId;
use crate::domain::service::Service;
use crate::error::ServicesError;
use crate::store::RunTarget;
use crate::upstream::HttpTarget;

/// A time after another, or the last that there is.
pub fn later(now: Timestamp, by: std::time::Duration) -> Timestamp {
    let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
    now.checked_add(by).unwrap_or(Timestamp::MAX)
}

/// A time before another, or the first that there is.
pub fn earlier(now: Timestamp, by: std::time::Duration) -> Timestamp {
    let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
    now.checked_sub(by).unwrap_or(Timestamp::MIN)
}

/// A sponsor's key and the request it stands for.
#[derive(Debug, Clone)]
pub struct SponsorKey {
    pub key: IdempotencyKey,
    pub request_hash: RequestHash,
}

impl SponsorKey {
    /// A sponsor's key with the request that it stands for.
    pub fn new(key: Option<IdempotencyKey>, route: &str, body: &impl Serialize) -> Option<Self> {
        let body = serde_json::to_string(body).unwrap_or_default();
        key.map(|key| Self { key, request_hash: RequestHash::of(&[route, &body]) })
    }
}

/// The error for a key that stands for another request.
pub fn key_conflict() -> ServicesError {
    ServicesError::Conflict(
        "this idempotency key was used for another request; use a new key for each new request".to_owned(),
    )
}

/// The error for a key that another session of the same person has used.
pub fn other_session() -> ServicesError {
    ServicesError::Conflict(
        "this idempotency key was used in another session, and only that session gets its result; use a new key".to_owned(),
    )
}

/// The error for a service key that another sponsored API has.
pub fn service_key_taken(service_key: &str) -> ServicesError {
    ServicesError::Conflict(format!("the service_key `{service_key}` is taken; choose another one"))
}

/// The error for a sponsored API that does not exist.
pub fn no_sponsored_api(id: SponsoredApiId) -> ServicesError {
    ServicesError::NotFound {
        what: "sponsored API",
        key: "id",
        value: id.to_string(),
        remedy: "list the sponsored APIs to find one",
    }
}

/// What runs a service.
pub fn run_target(service: &Service<'_>) -> RunTarget {
    match (service.tool, service.api) {
        (Some((name, argument)), _) => RunTarget::Tool { name: name.to_owned(), argument },
        (None, api) => RunTarget::Http(HttpTarget {
            url: api.map(|api| api.upstream_url.clone()).unwrap_or_default(),
            method: api.map(|api| api.upstream_method).unwrap_or_default(),
            headers: api.map(|api| api.upstream_headers.clone()).unwrap_or_default(),
        }),
    }
}
