//! One log line for each request, and no way for a panic to end a connection without a reply.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{FromRequestParts, MatchedPath, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use http::request::Parts;
use tracing::Instrument as _;

use super::error::{ApiError, LoggedFailure};

/// Identifies a request in the log, also in the lines of the store and of tools that it runs.
#[derive(Debug, Clone)]
pub struct RequestId(pub String);

impl<S: Send + Sync> FromRequestParts<S> for RequestId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(parts.extensions.get().cloned().unwrap_or_else(Self::next))
    }
}

impl RequestId {
    fn next() -> Self {
        static REQUESTS: AtomicU64 = AtomicU64::new(1);
        Self(format!("rest-{}", REQUESTS.fetch_add(1, Ordering::Relaxed)))
    }
}

/// Answers a request, and logs its route, status and duration; never its path, its query or its body.
pub async fn log(mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map(|route| route.as_str().to_owned());
    let id = RequestId::next();
    let span = tracing::error_span!("rest", %method, route, request_id = id.0);
    request.extensions_mut().insert(id);
    let answer = AssertUnwindSafe(next.run(request)).catch_unwind().instrument(span.clone()).await;
    let response = answer.unwrap_or_else(|_| ApiError::panicked().into_response());
    span.in_scope(|| log_outcome(&response, started));
    response
}

/// Writes the line: an error when the server is at fault, a warning when the caller is.
fn log_outcome(response: &Response, started: Instant) {
    let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let status = response.status().as_u16();
    let failure = response.extensions().get::<LoggedFailure>();
    let (code, cause) =
        (failure.map(|failure| failure.code), failure.and_then(|failure| failure.cause.as_deref()));
    if response.status().is_server_error() {
        tracing::error!(ok = false, status, elapsed_ms, code, cause);
    } else if response.status().is_client_error() {
        tracing::warn!(ok = false, status, elapsed_ms, code, cause);
    } else {
        tracing::info!(ok = true, status, elapsed_ms);
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::{Body, to_bytes};
    use axum::middleware::from_fn;
    use axum::routing::get;
    use serde_json::{Value, json};
    use tower::ServiceExt as _;

    use super::*;

    async fn fail() -> &'static str {
        panic!("a secret")
    }

    #[tokio::test]
    async fn a_panic_becomes_an_internal_error_that_tells_nothing() {
        let router = Router::new().route("/fail", get(fail)).route_layer(from_fn(log));
        let request = Request::get("/fail").body(Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        assert_eq!(response.status(), 500);
        let body = to_bytes(response.into_body(), 1000).await.unwrap();
        let message = "internal error; the server's log has the cause";
        let expected = json!({ "error": { "code": "internal", "message": message } });
        assert_eq!(serde_json::from_slice::<Value>(&body).unwrap(), expected);
    }
}
