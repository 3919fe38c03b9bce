//! `/mcp`: the SDK's Streamable HTTP service. In front of it, this module turns every error into JSON, answers
//! `tools/list` from bytes that are already serialized, and checks access while the status can still be 401 or 403.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use annai_core::{Access, Denied, Effect, Identity, Registry, TokenScope, World};
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream;
use http::header::{ACCEPT, ALLOW, CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body::Frame;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Collected, Full, StreamBody};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, GetMeta, JsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::{mpsc, oneshot};

use super::accept::{Accepts, JSON, is_event_stream, is_json, last_reply};
use super::authentication::{Authenticator, Caller};
use super::body::{ReadBody, UnreadBody};
use super::challenge::{Challenger, all_scopes};
use super::held_body::HeldBody;
use super::limits::Limits;
use super::oauth::TokenRefusal;
use super::pending_bytes::ReservedBytes;
use super::{reply, selection};
use crate::bulkheads::Share;
use crate::envelope::{self, Json};
use crate::era::{Era, VERSION_HEADER, is_known_handshake_version};
use crate::failure::RpcError;
use crate::message;
use crate::service::McpService;
use crate::tool_list::{ListRequest, ToolList};

/// Whether clients that send `initialize` get a session (`Mcp-Session-Id`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sessions {
    /// No sessions: every request is independent.
    None,
    /// The SDK keeps sessions in memory.
    InMemory,
}

/// What a disconnect of the client means for its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnDisconnect {
    /// Nobody can get the result any more, so the work ends.
    Cancel,
    /// The work continues in its own task, because it may have effects that the client counts on.
    Continue,
}

type SdkResponse = http::Response<BoxBody<Bytes, Infallible>>;
type SdkService = Arc<dyn Fn(Request<Full<Bytes>>) -> BoxFuture<'static, SdkResponse> + Send + Sync>;

/// The `/mcp` endpoint.
pub struct McpEndpoint {
    sdk: SdkService,
    registry: Arc<Registry>,
    tools: ToolList,
    sessions: Sessions,
    limits: Limits,
    authenticator: Arc<Authenticator>,
    challenger: Challenger,
}

impl McpEndpoint {
    /// Serves an MCP service at `/mcp`.
    pub fn new<S: ServerHandler + Clone>(
        service: McpService<S>,
        sessions: Sessions,
        limits: Limits,
        authenticator: Arc<Authenticator>,
        challenger: Challenger,
    ) -> Self {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(sessions == Sessions::InMemory)
            .with_json_response(true)
            // The door has already checked the Host header.
            .disable_allowed_hosts()
            .with_max_request_body_bytes(limits.max_body_bytes);
        let sdk = match sessions {
            Sessions::None => sdk_service(service.handler, NeverSessionManager::default(), config),
            Sessions::InMemory => sdk_service(service.handler, LocalSessionManager::default(), config),
        };
        Self {
            sdk,
            registry: service.registry,
            tools: service.tools,
            sessions,
            limits,
            authenticator,
            challenger,
        }
    }

    /// Answers one request.
    pub async fn answer(&self, mut parts: Parts, body: Body) -> Response {
        let body = UnreadBody::new(&parts, body);
        let caller = match self.authenticator.identify(&mut parts).await {
            Ok(caller) => caller,
            Err(refusal) => return self.answer_refused(&parts, body, refusal).await,
        };
        parts.extensions.insert(caller.identity.clone());
        if parts.method != Method::POST {
            return self.answer_other_method(parts).await;
        }
        let selected = selection::select(&self.registry, &parts.headers);
        let served = selected.as_ref().unwrap_or(&self.registry);
        if caller.identity == Identity::Anonymous && !served.is_open_to_anyone() {
            // Many clients begin to sign in only when `initialize` is answered with 401.
            return self.challenger.no_token(None, &all_scopes(served)).to_request(None);
        }
        let registry = match selected {
            Ok(registry) => registry,
            Err(message) => return refuse(StatusCode::BAD_REQUEST, ErrorCode::INVALID_REQUEST, &message),
        };
        // The handler of the request uses the same registry.
        parts.extensions.insert(registry.clone());
        if !has_json_content(&parts.headers) {
            let message = format!("Content-Type: expected {JSON}");
            return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, ErrorCode::INVALID_REQUEST, &message);
        }
        let reserved = self.limits.begin_body(&parts, &caller.identity);
        let read = body.read(self.limits.max_body_bytes, reserved).await;
        let ReadBody { bytes, reserved } = match read {
            Ok(read) => read,
            Err(error) => return refuse(error.status(), ErrorCode::INVALID_REQUEST, &error.to_string()),
        };
        let json = match envelope::parse(&bytes) {
            Ok(json) => json,
            Err(problem) => {
                let message = format!("parse error: {problem}");
                return refuse(StatusCode::BAD_REQUEST, ErrorCode::PARSE_ERROR, &message);
            }
        };
        if let Json::Object(message) = &json
            && let Some(request) = ListRequest::read(message)
            && self.can_answer_list(&request, &parts.headers)
        {
            let tools = (self.tools)(&registry, &identity_of(&parts));
            return reply::pieces(StatusCode::OK, request.reply_in_pieces(tools));
        }
        drop(bytes);
        match message::read(json) {
            // In a box of its own: thousands of connections may wait for their bodies at this time, without this state.
            Ok(Some(message)) => {
                Box::pin(self.answer_message(parts, &caller, &registry, message, reserved)).await
            }
            Ok(None) => reply::empty(StatusCode::ACCEPTED),
            Err(error) => {
                let era = Era::of_headers(&parts.headers);
                let status = match error.code {
                    ErrorCode::INVALID_REQUEST => StatusCode::BAD_REQUEST,
                    ErrorCode::METHOD_NOT_FOUND if era == Era::PerRequest => StatusCode::NOT_FOUND,
                    _ => StatusCode::OK,
                };
                reply::rpc_error(status, &error)
            }
        }
    }

    async fn answer_other_method(&self, parts: Parts) -> Response {
        if self.sessions == Sessions::InMemory && matches!(parts.method, Method::GET | Method::DELETE) {
            return to_json_error((self.sdk)(Request::from_parts(parts, Full::default())).await).await;
        }
        let message =
            "use POST; this server is stateless, so there is no event stream to GET and no session to DELETE";
        let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::INVALID_REQUEST, message);
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        response
    }

    /// The response to a request whose token identifies nobody, whatever its method. A tool call is answered with a result,
    /// for which its id is needed.
    async fn answer_refused(&self, parts: &Parts, body: UnreadBody, refusal: TokenRefusal) -> Response {
        let registry = selection::select(&self.registry, &parts.headers);
        let registry = registry.unwrap_or_else(|_| self.registry.clone());
        let challenge = self.challenger.refused_token(refusal, &all_scopes(&registry));
        if parts.method != Method::POST {
            return challenge.to_request(None);
        }
        let reserved = self.limits.begin_refused_body(parts);
        let Some(bytes) = body.read_refused(reserved).await else { return challenge.to_request(None) };
        match envelope::parse(&bytes).map(message::read) {
            Ok(Ok(Some(JsonRpcMessage::Request(request)))) => match request.request {
                ClientRequest::CallToolRequest(call) => {
                    let tool = registry.get(&call.params.name);
                    challenge.to_call(&request.id, Era::of_headers(&parts.headers), tool)
                }
                _ => challenge.to_request(Some(&request.id)),
            },
            Ok(Err(error)) => challenge.to_request(error.id.as_ref()),
            _ => challenge.to_request(None),
        }
    }

    async fn answer_message(
        &self,
        mut parts: Parts,
        caller: &Caller,
        registry: &Arc<Registry>,
        message: ClientJsonRpcMessage,
        reserved: ReservedBytes,
    ) -> Response {
        let mut request = match message {
            JsonRpcMessage::Request(request) => request,
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) if self.sessions == Sessions::None => {
                let message = "this server sends no requests to clients, so it accepts no responses";
                return refuse(StatusCode::BAD_REQUEST, ErrorCode::INVALID_REQUEST, message);
            }
            other => {
                let on_disconnect = self.on_disconnect(registry, &parts, None);
                let accepts = Accepts::EventStream;
                return self.forward(parts, Share::PROTOCOL, &other, accepts, on_disconnect, reserved).await;
            }
        };
        if let Some(challenge) = self.challenge(registry, &parts, &request.id, &request.request) {
            return challenge;
        }
        if needs_email(registry, &request.request, &caller.identity) {
            parts.extensions.insert(self.authenticator.with_email(caller).await);
        }
        let accepts = Accepts::of(&parts.headers);
        if accepts == Accepts::Json {
            // Progress notifications need an event stream, which this client does not accept.
            request.request.get_meta_mut().0.shift_remove("progressToken");
        }
        let share = self.limits.places.share_of(registry, &request.request);
        let on_disconnect = self.on_disconnect(registry, &parts, Some(&request.request));
        self.forward(parts, share, &JsonRpcMessage::Request(request), accepts, on_disconnect, reserved).await
    }

    /// What a disconnect means. In 2026-07-28 it cancels every request. Earlier versions say that it is no cancellation, so
    /// calls with effects or costs continue; but without a session their clients have no way to the result of a call that
    /// only reads what this machine has, and its work would be for nobody.
    fn on_disconnect(
        &self,
        registry: &Registry,
        parts: &Parts,
        request: Option<&ClientRequest>,
    ) -> OnDisconnect {
        let is_local_read = || match request {
            Some(ClientRequest::CallToolRequest(call)) => {
                let facts = registry.get(&call.params.name).map(|tool| &tool.facts);
                facts.is_some_and(|facts| facts.effect == Effect::Read && facts.world == World::Closed)
            }
            _ => false,
        };
        if Era::of_headers(&parts.headers) == Era::PerRequest
            || (self.sessions == Sessions::None && is_local_read())
        {
            OnDisconnect::Cancel
        } else {
            OnDisconnect::Continue
        }
    }

    /// The 401 or 403 response to an unauthorized caller. The handler checks access again before a tool runs; this early
    /// check exists because the SDK would answer every call with status 200.
    fn challenge(
        &self,
        registry: &Arc<Registry>,
        parts: &Parts,
        id: &RequestId,
        request: &ClientRequest,
    ) -> Option<Response> {
        let identity = identity_of(parts);
        let request_id = id.to_string();
        match request {
            ClientRequest::CallToolRequest(call) => {
                let name: &str = &call.params.name;
                let denied = match registry.admit(name, &identity) {
                    Ok(_) => self.missing_person(registry, name, &identity)?,
                    Err(denied) => denied,
                };
                let scopes = registry.toolset_scopes(name).map(TokenScope::as_str).collect();
                let challenge = self.challenger.denied(denied, &identity, &scopes)?;
                denied.log(registry, name, &identity, &request_id);
                Some(challenge.to_call(id, Era::of_headers(&parts.headers), registry.get(name)))
            }
            ClientRequest::ReadResourceRequest(read) => {
                let uri = &read.params.uri;
                let denied = registry.admit_resource(uri, &identity).err()?;
                let challenge = self.challenger.denied(denied, &identity, &BTreeSet::new())?;
                denied.log_resource(uri, &identity, &request_id);
                Some(challenge.to_request(Some(id)))
            }
            _ => None,
        }
    }

    /// Why the owner of the machine may not call a tool after all: where people sign in with OAuth, tools that need a person
    /// ask for a token from everybody.
    fn missing_person(&self, registry: &Registry, tool: &str, identity: &Identity) -> Option<Denied> {
        match registry.get(tool)?.facts.access {
            Access::SignedIn(scope) if *identity == Identity::Owner && self.authenticator.oauth.is_some() => {
                Some(Denied::SignIn(scope.into()))
            }
            _ => None,
        }
    }

    /// Whether a `tools/list` request can be answered here. Where the headers are wrong, the SDK must refuse it.
    fn can_answer_list(&self, request: &ListRequest<'_>, headers: &HeaderMap) -> bool {
        let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
        let once = |name: &str| headers.get_all(name).iter().count() <= 1;
        if !once(VERSION_HEADER) || !once("mcp-method") {
            return false;
        }
        let version = text(VERSION_HEADER);
        match (request.era(), request.meta.protocol_version()) {
            (Era::PerRequest, Some(of_body)) => {
                version == Some(of_body.as_str()) && text("mcp-method") == Some("tools/list")
            }
            (Era::Handshake, None) => {
                self.sessions == Sessions::None && version.is_none_or(is_known_handshake_version)
            }
            _ => false,
        }
    }

    /// Passes a message on to the SDK, serialized again, so that the SDK reads exactly what was checked here.
    async fn forward(
        &self,
        mut parts: Parts,
        share: Share,
        message: &ClientJsonRpcMessage,
        accepts: Accepts,
        on_disconnect: OnDisconnect,
        reserved: ReservedBytes,
    ) -> Response {
        parts.headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        parts.headers.remove(CONTENT_LENGTH);
        let Ok(bytes) = serde_json::to_vec(message) else { return internal_error() };
        let request = Request::from_parts(parts, Full::new(Bytes::from(bytes)));
        let (sdk, places) = (self.sdk.clone(), self.limits.places.clone());
        let work = async move {
            let place = places.acquire(share).await;
            // From here on the number of calls limits the memory of their arguments.
            drop(reserved);
            let response = to_json_error(sdk(request).await).await;
            let response = match accepts {
                Accepts::Json if is_event_stream(response.headers()) => {
                    last_reply(response.into_body()).await.unwrap_or_else(internal_error)
                }
                _ => response,
            };
            (response, place)
        };
        if on_disconnect == OnDisconnect::Cancel {
            let (response, place) = work.await;
            return response.map(|body| Body::new(HeldBody::new(place, body)));
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
        answer.await.unwrap_or_else(|_| internal_error())
    }
}

/// Whether a call needs the e-mail address of a person whose token does not contain it: tools that sign people in do, and
/// tools that use what is known about a person whose token allows it.
fn needs_email(registry: &Registry, request: &ClientRequest, identity: &Identity) -> bool {
    let (ClientRequest::CallToolRequest(call), Identity::Person(person)) = (request, identity) else {
        return false;
    };
    let needs_person = match registry.get(&call.params.name).map(|tool| tool.facts.access) {
        Some(Access::SignedIn(_)) => true,
        Some(Access::AnyoneOr(scope)) => person.has(scope),
        Some(_) | None => false,
    };
    needs_person && person.email.is_none()
}

/// Relays an event stream to the client. It reads the stream to its end even after the client has disconnected, because
/// dropping the stream would cancel the call.
async fn relay(response: Response, answered: oneshot::Sender<Response>) {
    let (head, mut body) = response.into_parts();
    let (sender, receiver) = mpsc::channel::<Frame<Bytes>>(16);
    let frames = stream::unfold(receiver, |mut receiver| async move {
        receiver.recv().await.map(|frame| (Ok::<_, Infallible>(frame), receiver))
    });
    let _ = answered.send(Response::from_parts(head, Body::new(StreamBody::new(frames))));
    while let Some(Ok(frame)) = body.frame().await {
        let _ = sender.send(frame).await;
    }
}

fn sdk_service<S: ServerHandler + Clone, M: SessionManager>(
    handler: S,
    sessions: M,
    config: StreamableHttpServerConfig,
) -> SdkService {
    let service = StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(sessions), config);
    Arc::new(move |request| {
        let service = service.clone();
        Box::pin(async move { service.handle(request).await })
    })
}

/// The caller, as the door has identified it.
fn identity_of(parts: &Parts) -> Identity {
    parts.extensions.get::<Identity>().cloned().unwrap_or(Identity::Anonymous)
}

fn has_json_content(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(JSON)
}

fn refuse(status: StatusCode, code: ErrorCode, message: &str) -> Response {
    reply::rpc_error(status, &RpcError::new(None, code, message))
}

fn internal_error() -> Response {
    refuse(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::INTERNAL_ERROR, "internal error")
}

/// Turns an SDK error with a plain-text body into a JSON-RPC error with the same status; other responses stay as they are.
async fn to_json_error(response: SdkResponse) -> Response {
    if response.status().is_success() || is_json(response.headers()) {
        return response.map(Body::new);
    }
    let (head, body) = response.into_parts();
    let text = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
    refuse(head.status, ErrorCode::INVALID_REQUEST, String::from_utf8_lossy(&text).trim())
}
