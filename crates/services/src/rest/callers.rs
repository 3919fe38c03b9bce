//! The callers of routes that need no session: sponsors with their key, and the public. Their requests are counted before
//! anything else is looked at.

use axum::extract::FromRequestParts;
use http::request::Parts;

use super::error::ApiError;
use super::origin::RequestOrigin;
use super::state::RestState;
use crate::api_keys::KeyClass;
use crate::rate_limit::RateClient;

/// The proof that a request may do what only sponsors may.
pub struct Sponsor;

impl FromRequestParts<RestState> for Sponsor {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &RestState) -> Result<Self, ApiError> {
        let config = state.config();
        let origin = RequestOrigin::of(&parts.headers, &parts.extensions, &config.section.trusted_proxies);
        let caller = config.keys.sponsor_caller(origin.key.as_deref(), &origin.identity);
        let client = RateClient::peer(caller.unwrap_or(KeyClass::None), origin.address);
        config.limiter.count(client, config.clock.instant())?;
        caller?;
        Ok(Self)
    }
}

/// The proof that a request to a public route was counted.
pub struct Visitor;

impl FromRequestParts<RestState> for Visitor {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &RestState) -> Result<Self, ApiError> {
        let config = state.config();
        let origin = RequestOrigin::of(&parts.headers, &parts.extensions, &config.section.trusted_proxies);
        let client = RateClient::peer(KeyClass::None, origin.address);
        config.limiter.count(client, config.clock.instant())?;
        Ok(Self)
    }
}
