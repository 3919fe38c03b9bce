//! `POST /mcp`: the SDK's Streamable HTTP service, with JSON for every error and access decided before a tool runs.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use annai_core::{Identity, Registry, TokenScope};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream;
use http::header::{ACCEPT, ALLOW, CONTENT_LENGTH, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Collected, Full, LengthLimitError, Limited, StreamBody};
use hyper::body::Incoming;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, GetMeta, JsonRpcMessage, ProtocolVersion, RequestId,
    RequestMetaObject,
};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::{Body, reply};
use crate::envelope::Json;
use crate::message::{self, Refusal};
use crate::{Server, ToolList, envelope, tool_list};

/// How long a client may take to send a body.
const BODY_TIME: Duration = Duration::from_secs(30);
const JSON: &str = "application/json";
const EVENT_STREAM: &str = "text/event-stream";

/// Whether handshake-era clients get a session of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sessions {
    /// Every request stands alone.
    None,
    /// As the SDK keeps them, in memory.
    InMemory,
}

/// What is served at `/mcp`.
pub struct Options<S> {
    /// The service.
    pub handler: S,
    /// Its tools, for access checks.
    pub registry: Arc<Registry>,
    /// The `tools` array of `tools/list`.
    pub tools: ToolList,
    /// Sessions or none.
    pub sessions: Sessions,
}

type Service = Arc<
    dyn Fn(Request<Full<Bytes>>) -> BoxFuture<'static, Response<BoxBody<Bytes, Infallible>>> + Send + Sync,
>;

/// The endpoint.
pub struct Mcp {
    service: Service,
    registry: Arc<Registry>,
    tools: ToolList,
    sessions: Sessions,
    max_body_bytes: usize,
    /// Places for requests; all are free when nothing runs.
    places: Arc<Semaphore>,
    max_in_flight: u32,
}

impl Mcp {
    /// The endpoint of a service.
    pub fn new<S: ServerHandler + Clone>(server: &Server, options: Options<S>) -> Self {
        let max_body_bytes = usize::try_from(server.max_body_bytes).unwrap_or(usize::MAX);
        let max_in_flight = u32::try_from(server.max_in_flight).unwrap_or(u32::MAX);
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(options.sessions == Sessions::InMemory)
            .with_json_response(true)
            // The door has looked at these already, and at more.
            .disable_allowed_hosts()
            .with_max_request_body_bytes(max_body_bytes);
        let service = match options.sessions {
            Sessions::None => service(options.handler, NeverSessionManager::default(), config),
            Sessions::InMemory => service(options.handler, LocalSessionManager::default(), config),
        };
        Self {
            service,
            registry: options.registry,
            tools: options.tools,
            sessions: options.sessions,
            max_body_bytes,
            places: Arc::new(Semaphore::new(max_in_flight as usize)),
            max_in_flight,
        }
    }

    /// Waits until no call runs, also those whose clients have left.
    pub async fn wait_for_calls(&self) {
        let _ = self.places.acquire_many(self.max_in_flight).await;
    }

    /// Answers one request.
    pub async fn answer(&self, parts: Parts, body: Incoming) -> Response<Body> {
        if parts.method != Method::POST {
            return self.answer_other_method(parts).await;
        }
        let bytes = match self.read(&parts.headers, body).await {
            Ok(bytes) => bytes,
            Err((status, why)) => return refuse(status, None, ErrorCode::INVALID_REQUEST, &why),
        };
        let json = match envelope::parse(&bytes) {
            Ok(json) => json,
            Err(why) => {
                let why = format!("cannot be read: {why}");
                return refuse(StatusCode::BAD_REQUEST, None, ErrorCode::PARSE_ERROR, &why);
            }
        };
        if let Json::Object(message) = &json
            && let Some(id) = tool_list::plain_id(message)
            && self.may_list(&parts.headers, &RequestMetaObject::default())
        {
            return reply::bytes(
                StatusCode::OK,
                tool_list::plain_reply(id, &(self.tools)(&identity_of(&parts))),
            );
        }
        match message::read(json) {
            Ok(Some(message)) => self.answer_message(parts, message).await,
            Ok(None) => accepted(),
            Err(refusal) => {
                let status = match refusal.code {
                    ErrorCode::INVALID_REQUEST => StatusCode::BAD_REQUEST,
                    ErrorCode::METHOD_NOT_FOUND if is_modern(&parts.headers) => StatusCode::NOT_FOUND,
                    _ => StatusCode::OK,
                };
                reply::rpc_error(status, &refusal)
            }
        }
    }

    async fn answer_other_method(&self, parts: Parts) -> Response<Body> {
        if self.sessions == Sessions::InMemory && matches!(parts.method, Method::GET | Method::DELETE) {
            return in_json((self.service)(Request::from_parts(parts, Full::default())).await).await;
        }
        let why = "use POST: every request stands alone here, so there is no stream to GET and no session to DELETE";
        let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, None, ErrorCode::INVALID_REQUEST, why);
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        response
    }

    /// The body, whole, within its limits of size and time.
    async fn read(&self, headers: &HeaderMap, body: Incoming) -> Result<Bytes, (StatusCode, String)> {
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case(JSON) {
            return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, format!("Content-Type: expected {JSON}")));
        }
        let limit = self.max_body_bytes;
        let too_long = || {
            (
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("the body is longer than {limit} bytes (server.max_body_bytes)"),
            )
        };
        let announced = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        if announced.is_some_and(|length: u64| length > limit as u64) {
            return Err(too_long());
        }
        match tokio::time::timeout(BODY_TIME, Limited::new(body, limit).collect()).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_long()),
            Ok(Err(_)) => Err((StatusCode::BAD_REQUEST, "the body broke off".to_owned())),
            Err(_) => Err((
                StatusCode::REQUEST_TIMEOUT,
                format!("the body took longer than {} s", BODY_TIME.as_secs()),
            )),
        }
    }

    async fn answer_message(&self, parts: Parts, message: ClientJsonRpcMessage) -> Response<Body> {
        let identity = identity_of(&parts);
        let mut request = match message {
            JsonRpcMessage::Request(request) => request,
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) if self.sessions == Sessions::None => {
                let why = "this server asks clients nothing, so there is no reply to give";
                return refuse(StatusCode::BAD_REQUEST, None, ErrorCode::INVALID_REQUEST, why);
            }
            other => return self.hand_on(parts, &other, Wants::Events).await,
        };
        match &request.request {
            ClientRequest::ListToolsRequest(list)
                if self.may_list(&parts.headers, request.request.get_meta()) =>
            {
                let meta = request.request.get_meta();
                if let Some(json) = tool_list::reply(&request.id, list, meta, &(self.tools)(&identity)) {
                    return reply::bytes(StatusCode::OK, json);
                }
            }
            ClientRequest::CallToolRequest(call) => {
                if let Err(denied) = self.registry.admit(&call.params.name, &identity)
                    && let Some(scope) = denied.scope()
                {
                    denied.log(&self.registry, &call.params.name, &request.id.to_string());
                    return sign_in(&request.id, scope, is_modern(&parts.headers));
                }
            }
            _ => {}
        }
        let wants = Wants::of(&parts.headers);
        if wants == Wants::Json {
            // Without a stream there is nowhere to report progress to.
            request.request.get_meta_mut().0.shift_remove("progressToken");
        }
        self.hand_on(parts, &JsonRpcMessage::Request(request), wants).await
    }

    /// Whether the headers leave nothing for the SDK to refuse in a request for the list.
    fn may_list(&self, headers: &HeaderMap, meta: &RequestMetaObject) -> bool {
        let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
        let once = |name: &str| headers.get_all(name).iter().count() <= 1;
        if !once("mcp-protocol-version") || !once("mcp-method") {
            return false;
        }
        let version = text("mcp-protocol-version");
        match meta.protocol_version() {
            Some(of_body) if of_body.has_initialize() => false,
            Some(of_body) => version == Some(of_body.as_str()) && text("mcp-method") == Some("tools/list"),
            None => self.sessions == Sessions::None && version.is_none_or(is_handshake_version),
        }
    }

    /// Gives a message to the SDK, as it was understood here: what we checked is what it reads. A client of
    /// 2026-07-28 that goes away cancels its call; the call of an older one runs on, in a task of its own.
    async fn hand_on(
        &self,
        mut parts: Parts,
        message: &ClientJsonRpcMessage,
        wants: Wants,
    ) -> Response<Body> {
        let modern = is_modern(&parts.headers);
        parts.headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        parts.headers.remove(CONTENT_LENGTH);
        let Ok(bytes) = serde_json::to_vec(message) else { return failed() };
        let request = Request::from_parts(parts, Full::new(Bytes::from(bytes)));
        let (service, places) = (self.service.clone(), self.places.clone());
        let work = async move {
            // Never closed, so a place is always had in the end.
            let place = places.acquire_owned().await;
            let response = in_json(service(request).await).await;
            let response = if wants == Wants::Json { without_events(response).await } else { response };
            (response, place)
        };
        if modern {
            let (response, place) = work.await;
            // The place is kept while a stream goes on.
            return response.map(|body| {
                let frames = body.map_frame(move |frame| {
                    let _ = &place;
                    frame
                });
                frames.boxed_unsync()
            });
        }
        let (answered, answer) = oneshot::channel();
        tokio::spawn(async move {
            let (response, place) = work.await;
            if is_event_stream(response.headers()) {
                relay(response, answered).await;
            } else {
                let _ = answered.send(response);
            }
            drop(place);
        });
        answer.await.unwrap_or_else(|_| failed())
    }
}

/// Passes a stream on, and reads it to its end also when nobody listens any more.
async fn relay(response: Response<Body>, answered: oneshot::Sender<Response<Body>>) {
    let (head, mut body) = response.into_parts();
    let (sender, receiver) = mpsc::channel::<Frame<Bytes>>(16);
    let frames = stream::unfold(receiver, |mut receiver| async move {
        receiver.recv().await.map(|frame| (Ok::<_, Infallible>(frame), receiver))
    });
    let _ = answered.send(Response::from_parts(head, StreamBody::new(frames).boxed_unsync()));
    while let Some(Ok(frame)) = body.frame().await {
        let _ = sender.send(frame).await;
    }
}

/// The kinds of reply that a client takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wants {
    /// JSON alone.
    Json,
    /// An event stream too.
    Events,
}

impl Wants {
    fn of(headers: &HeaderMap) -> Self {
        let accepts = headers.get_all(ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
        let events = accepts.flat_map(|accept| accept.split(',')).any(|range| {
            let mut parts = range.split(';').map(|part| part.trim().to_ascii_lowercase());
            let kind = parts.next().unwrap_or_default();
            let refused = parts.any(|part| part.strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0)));
            matches!(kind.as_str(), EVENT_STREAM | "text/*" | "*/*") && !refused
        });
        if events { Self::Events } else { Self::Json }
    }
}

/// The reply alone, for a client that takes no stream: a tool may have said something on the way.
async fn without_events(response: Response<Body>) -> Response<Body> {
    if !is_event_stream(response.headers()) {
        return response;
    }
    let body = response.into_body().collect().await.map(Collected::to_bytes).unwrap_or_default();
    let events = body.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data:"));
    let mut messages = events.filter_map(|data| serde_json::from_slice::<Value>(data).ok());
    let reply = messages.find(|message| {
        message.get("method").is_none() && (message.get("result").is_some() || message.get("error").is_some())
    });
    reply.map_or_else(failed, |message| reply::json(StatusCode::OK, &message))
}

fn failed() -> Response<Body> {
    refuse(StatusCode::INTERNAL_SERVER_ERROR, None, ErrorCode::INTERNAL_ERROR, "internal error")
}

fn service<S: ServerHandler + Clone, M: SessionManager>(
    handler: S,
    sessions: M,
    config: StreamableHttpServerConfig,
) -> Service {
    let service = StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(sessions), config);
    Arc::new(move |request| {
        let service = service.clone();
        Box::pin(async move { service.handle(request).await })
    })
}

/// Who the door says it is.
fn identity_of(parts: &Parts) -> Identity {
    parts.extensions.get::<Identity>().cloned().unwrap_or(Identity::Anonymous)
}

fn refuse(status: StatusCode, id: Option<RequestId>, code: ErrorCode, why: &str) -> Response<Body> {
    reply::rpc_error(status, &Refusal::new(id, code, why))
}

fn accepted() -> Response<Body> {
    let mut response = Response::new(reply::body(Vec::new()));
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

/// A tool that a stranger may not call: both forms of the answer at once, as clients look for either.
fn sign_in(id: &RequestId, scope: TokenScope, modern: bool) -> Response<Body> {
    let scope = scope.as_str();
    let message = format!("this tool needs a verified token with the scope {scope}");
    let error = json!({ "code": "unauthorized", "message": message });
    let challenge =
        format!("Bearer error=\"invalid_token\", error_description=\"{message}\", scope=\"{scope}\"");
    let mut result = json!({
        "content": [{ "type": "text", "text": error.to_string() }],
        "isError": true,
        "_meta": { "annai/error": error, "mcp/www_authenticate": [challenge] },
    });
    if let (true, Value::Object(result)) = (modern, &mut result) {
        result.insert("resultType".to_owned(), "complete".into());
    }
    let body = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    let mut response = reply::json(StatusCode::UNAUTHORIZED, &body);
    if let Ok(challenge) = HeaderValue::from_str(&challenge) {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}

fn is_modern(headers: &HeaderMap) -> bool {
    let version = headers.get("mcp-protocol-version").and_then(|version| version.to_str().ok());
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28.as_str())
}

fn is_handshake_version(version: &str) -> bool {
    ProtocolVersion::KNOWN_VERSIONS.iter().any(|known| known.as_str() == version && known.has_initialize())
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(EVENT_STREAM.as_bytes()))
}

/// The SDK answers some mistakes in plain text: they become JSON-RPC errors of the same status.
async fn in_json(response: Response<BoxBody<Bytes, Infallible>>) -> Response<Body> {
    let is_json =
        response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(JSON.as_bytes()));
    if response.status().is_success() || is_json {
        return response.map(BodyExt::boxed_unsync);
    }
    let (head, body) = response.into_parts();
    let text = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
    let why = String::from_utf8_lossy(&text);
    let error: Value = json!({ "code": ErrorCode::INVALID_REQUEST.0, "message": why.trim() });
    reply::json(head.status, &json!({ "jsonrpc": "2.0", "id": null, "error": error }))
}
