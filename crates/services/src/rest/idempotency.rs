//! The header `Idempotency-Key`.

use axum::extract::FromRequestParts;
use http::request::Parts;

use super::error::ApiError;
use crate::domain::idempotency::IdempotencyKey;
use crate::domain::text::Problem;

/// The caller's key for doing something at most once, if there is one.
pub struct IdempotencyHeader(pub Option<IdempotencyKey>);

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyHeader {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let mut values = parts.headers.get_all("idempotency-key").iter();
        let Some(value) = values.next() else { return Ok(Self(None)) };
        if values.next().is_some() {
            return Err(Problem::new("must not be given twice").of("Idempotency-Key").into());
        }
        // Bytes that are not ASCII are no text here; the parser refuses the empty text in their place.
        let key = IdempotencyKey::parse(value.to_str().unwrap_or_default())?;
        Ok(Self(Some(key)))
    }
}
