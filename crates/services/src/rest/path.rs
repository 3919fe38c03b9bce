//! The parameter of a path.

use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;

use super::error::ApiError;
use crate::domain::text::Problem;

/// The only parameter of a route's path, parsed. An error names it as the route does.
pub struct PathParam<T>(pub T);

impl<S: Send + Sync, T: TryFrom<String, Error = Problem>> FromRequestParts<S> for PathParam<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let wrong = |problem: &str| ApiError::from(Problem::new(problem).of("path"));
        let params = RawPathParams::from_request_parts(parts, state).await;
        let params = params.map_err(|_| wrong("must be valid UTF-8 after percent-decoding"))?;
        let (name, value) = params.iter().next().ok_or_else(|| wrong("must have a parameter"))?;
        T::try_from(value.to_owned()).map(Self).map_err(|problem| problem.of(name).into())
    }
}
