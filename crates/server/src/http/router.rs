//! The routes and their middleware: metrics, the door, CORS, and the limits of the toolsets' REST routes.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use annai_core::{Identity, TokenScope};
use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, MatchedPath, Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::{any, get};
use futures_util::stream;
use http::{HeaderValue, Method, StatusCode};

use super::authentication::Authenticator;
use super::body::{BodyError, UnreadBody};
use super::challenge::Challenger;
use super::door::Door;
use super::held_body::HeldBody;
use super::limits::Limits;
use super::mcp::McpEndpoint;
use super::{cors, health, metrics, reply};
use crate::bulkheads::Share;

/// The scope of a token that may read `/metrics`.
pub const METRICS_READ: TokenScope = TokenScope::new("metrics.read");

/// The state that the routes share.
pub struct Site {
    pub door: Door,
    pub authenticator: Arc<Authenticator>,
    pub challenger: Challenger,
    pub mcp: McpEndpoint,
    pub version: &'static str,
    pub started: Instant,
    pub limits: Limits,
}

/// The metrics label of a response that middleware produced before any route was reached.
#[derive(Clone, Copy)]
struct RouteLabel(&'static str);

/// All routes. The door checks the requests to `/mcp`, `/metrics` and the toolsets' routes; `/health` is open to everyone.
pub fn router(site: &Arc<Site>, metadata: Router, toolset_routes: Vec<Router>) -> Router {
    let limited = toolset_routes.into_iter().enumerate().map(|(group, routes)| {
        routes
            .method_not_allowed_fallback(method_not_allowed)
            // The size of a body is limited below, for all routes alike.
            .layer(DefaultBodyLimit::disable())
            .layer(from_fn_with_state((site.clone(), Share::routes(group)), enforce_limits))
    });
    let limited = limited.fold(Router::new(), Router::merge);
    let behind_door = Router::new()
        .route("/mcp", any(mcp))
        .route("/metrics", get(show_metrics).fallback(use_get))
        .with_state(site.clone())
        .merge(metadata.method_not_allowed_fallback(use_get))
        .merge(limited)
        .fallback(not_found)
        .layer(from_fn_with_state(site.clone(), pass_door));
    Router::new()
        .route("/health", get(show_health).fallback(use_get))
        .with_state(site.clone())
        .merge(behind_door)
        .layer(from_fn(count))
}

async fn mcp(State(site): State<Arc<Site>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    site.mcp.answer(parts, body).await
}

async fn show_health(State(site): State<Arc<Site>>) -> Response {
    health::health(site.version, site.started)
}

/// Shows the metrics to the owner of the machine and to people whose token has the scope. They tell how the server is used.
async fn show_metrics(State(site): State<Arc<Site>>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let challenge = match site.authenticator.identify(&mut parts).await {
        Ok(caller) => match caller.identity {
            Identity::Owner => return health::metrics(),
            Identity::Person(person) if person.has(METRICS_READ) => return health::metrics(),
            Identity::Person(person) => site.challenger.missing_scope(METRICS_READ.as_str(), &person),
            Identity::Anonymous => {
                let scope = METRICS_READ.as_str();
                site.challenger.no_token(Some(scope), &[scope].into())
            }
        },
        Err(refusal) => site.challenger.refused_token(refusal, &[METRICS_READ.as_str()].into()),
    };
    challenge.to_route()
}

async fn use_get() -> Response {
    let mut response = reply::error(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "use GET");
    response.headers_mut().insert(http::header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    response
}

async fn method_not_allowed() -> Response {
    let message = "this route does not support the method";
    reply::error(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
}

async fn not_found() -> Response {
    let message = "no such route; the MCP endpoint is /mcp and the health check is /health";
    reply::error(StatusCode::NOT_FOUND, "not_found", message)
}

/// Counts every request by the pattern of its route, never by its path, so that the number of labels is bounded.
async fn count(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    let label = response.extensions().get::<RouteLabel>().map(|label| label.0);
    let label = label.or_else(|| route.as_ref().map(MatchedPath::as_str)).unwrap_or("none");
    metrics::count_request(label, response.status().as_u16());
    response
}

/// Refuses requests that the door does not allow, stores the caller's `Identity` in the request, and adds CORS headers.
async fn pass_door(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let origin = match site.door.check(&parts.uri, &parts.headers) {
        Ok(origin) => origin.map(str::to_owned),
        Err(refused) => {
            let response = reply::error(StatusCode::FORBIDDEN, "forbidden", refused.message());
            return labeled(response, "refused");
        }
    };
    if let (Some(origin), &Method::OPTIONS) = (&origin, &parts.method) {
        return labeled(cors::preflight(origin, &parts.headers), "preflight");
    }
    // The routes that read tokens replace this by the person of the token.
    parts.extensions.insert(site.authenticator.without_token(&parts));
    let mut response = next.run(Request::from_parts(parts, body)).await;
    cors::allow(origin.as_deref(), response.headers_mut());
    response
}

fn labeled(mut response: Response, label: &'static str) -> Response {
    response.extensions_mut().insert(RouteLabel(label));
    response
}

/// Applies the limits to a request to a toolset's route: body size, calls in flight, and duration. The body is read when the
/// route asks for it, which is after it has checked the caller; only then, or for a request without a body at once, does the
/// request take a place among the calls in flight.
async fn enforce_limits(
    State((site, share)): State<(Arc<Site>, Share)>,
    request: Request,
    next: Next,
) -> Response {
    let limits = site.limits.clone();
    let (parts, body) = request.into_parts();
    let identity = parts.extensions.get::<Identity>().cloned().unwrap_or(Identity::Anonymous);
    let (place, failure) = (Arc::new(OnceLock::new()), Arc::new(OnceLock::<BodyError>::new()));
    let unread = UnreadBody::new(&parts, body);
    let call_timeout = limits.call_timeout;
    let work = async {
        let body = if unread.is_empty() {
            let _ = place.set(limits.places.acquire(share).await);
            Body::empty()
        } else {
            let reserved = limits.begin_admitted_body(&parts, &identity);
            let (place, failure) = (place.clone(), failure.clone());
            Body::from_stream(stream::once(async move {
                let read = unread.read(limits.max_body_bytes, reserved).await;
                if let Err(error) = &read {
                    let _ = failure.set(*error);
                }
                let read = read?;
                let _ = place.set(limits.places.acquire(share).await);
                Ok::<_, BodyError>(read.bytes)
            }))
        };
        let response = next.run(Request::from_parts(parts, body)).await;
        match failure.get() {
            Some(error) => reply::error(error.status(), error.code(), &error.to_string()),
            None => response.map(|body| Body::new(HeldBody::new(place, body))),
        }
    };
    tokio::time::timeout(call_timeout, work).await.unwrap_or_else(|_| {
        let message = "the request timed out; the limit is the setting server.call_timeout_ms";
        reply::error(StatusCode::GATEWAY_TIMEOUT, "timed_out", message)
    })
}
