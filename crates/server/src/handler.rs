//! The MCP service: the registry as the SDK's handler. The same one serves every transport.

use std::sync::Arc;

use annai_core::{
    Call, Denied, ErrorKind, Identity, JsonObject, Progress, ProgressSink, Registry, Reply, ToolError,
    WireError,
};
use futures_util::future::BoxFuture;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CompletionInfo, ContentBlock, ErrorCode, ErrorData, Implementation, InitializeRequestParams,
    InitializeResult, ListToolsResult, MetaObject, PaginatedRequestParams, ProgressNotificationParam,
    ProgressToken, ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::{Value, json};

/// The key of a failure in a result's `_meta`.
const ERROR_META: &str = "annai/error";
/// The key of an idempotency key in a request's `_meta`.
const IDEMPOTENCY_META: &str = "annai/idempotencyKey";

/// What the server calls itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerName {
    /// `serverInfo.name`.
    pub name: &'static str,
    /// `serverInfo.version`.
    pub version: &'static str,
}

/// Serves a registry over MCP.
#[derive(Clone)]
pub struct Handler {
    registry: Arc<Registry>,
    name: ServerName,
}

impl Handler {
    /// A server of these tools under this name.
    #[must_use]
    pub const fn new(registry: Arc<Registry>, name: ServerName) -> Self {
        Self { registry, name }
    }

    /// The tools that it serves.
    #[must_use]
    pub const fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let mut info =
            ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_completions().build());
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        info.server_info = Implementation::new(self.name.name, self.name.version);
        info
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let info = self.negotiate_initialize(&request)?;
        // What was agreed on, not what was asked for, decides how later calls are answered.
        let mut peer = request;
        peer.protocol_version = info.protocol_version.clone();
        context.peer.set_peer_info(peer);
        Ok(info)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|request| request.cursor.is_some()) {
            return Err(ErrorData::invalid_params("params.cursor: unknown; the list has one page", None));
        }
        let tools = serde_json::from_slice(&self.registry.list(&identity_of(&context)))
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let given = request.context.and_then(|context| context.arguments).unwrap_or_default();
        let (argument, identity) = (request.argument, identity_of(&context));
        let mut values = self.registry.complete(&argument.name, &argument.value, &given, &identity).await;
        let total = u32::try_from(values.len()).ok();
        let more = values.len() > MOST_VALUES;
        values.truncate(MOST_VALUES);
        let completion = CompletionInfo::with_pagination(values, total, more);
        let completion = completion.map_err(|problem| ErrorData::internal_error(problem, None))?;
        Ok(CompleteResult::new(completion))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let modern = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        let call = call_of(&context);
        let arguments = request.arguments.unwrap_or_default();
        let result = match self.registry.admit(&request.name, &identity_of(&context)) {
            Ok(admitted) => match admitted.call(arguments, call).await {
                Ok(reply) => success(reply),
                Err(failed) => failure(failed.wire, failed.error.kind(), modern)?,
            },
            Err(denied) => {
                denied.log(&self.registry, &request.name, &call.request_id);
                if denied == Denied::Unknown {
                    return Err(unknown_tool(&request.name));
                }
                let error = ToolError::from(denied);
                failure(WireError::result(&error), error.kind(), modern)?
            }
        };
        Ok(CallToolResponse::Complete(result))
    }
}

/// At most so many values are offered; the protocol allows no more.
const MOST_VALUES: usize = CompletionInfo::MAX_VALUES;

fn unknown_tool(name: &str) -> ErrorData {
    let shown: String = name.chars().take(80).collect();
    ErrorData::invalid_params(format!("unknown tool: {shown}; tools/list has their names"), None)
}

/// Who calls: the door of HTTP has said so; over stdio it is whoever started the process.
fn identity_of(context: &RequestContext<RoleServer>) -> Identity {
    let parts = context.extensions.get::<http::request::Parts>();
    parts.and_then(|parts| parts.extensions.get::<Identity>().cloned()).unwrap_or(Identity::Owner)
}

fn call_of(context: &RequestContext<RoleServer>) -> Call {
    let mut call = Call::new(context.id.to_string());
    call.cancel = context.ct.clone();
    call.idempotency_key = context.meta.0.get(IDEMPOTENCY_META).and_then(Value::as_str).map(str::to_owned);
    if let Some(token) = context.meta.get_progress_token() {
        call.progress = Progress::to(Arc::new(Notifier { peer: context.peer.clone(), token }));
    }
    call
}

/// Sends progress to the client that asked for it.
struct Notifier {
    peer: Peer<RoleServer>,
    token: ProgressToken,
}

impl ProgressSink for Notifier {
    fn report<'a>(&'a self, done: f64, total: Option<f64>, message: Option<&'a str>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let mut report = ProgressNotificationParam::new(self.token.clone(), done);
            report.total = total;
            report.message = message.map(str::to_owned);
            // A client that is gone needs no progress.
            let _ = self.peer.notify_progress(report).await;
        })
    }
}

fn success(reply: Reply<Value>) -> CallToolResult {
    let mut result = CallToolResult::default();
    result.content = reply.text.into_iter().map(ContentBlock::text).collect();
    result.structured_content = Some(reply.output);
    result.meta = (!reply.meta.is_empty()).then_some(MetaObject(reply.meta));
    result
}

/// The two forms of a failure; peers of 2026-07-28 get the second, whatever the toolset chose.
fn failure(wire: WireError, kind: ErrorKind, modern: bool) -> Result<CallToolResult, ErrorData> {
    let wire = if modern { wire.into_result(kind) } else { wire };
    match wire {
        WireError::Rpc { code, message, data } => Err(ErrorData::new(ErrorCode(code), message, data)),
        http @ WireError::Http { .. } => failure(http.into_result(kind), kind, modern),
        WireError::Result { code, message, details } => {
            let mut error = json!({ "code": code, "message": message });
            if let (Some(details), Value::Object(error)) = (details, &mut error) {
                error.insert("details".to_owned(), details);
            }
            let mut result = CallToolResult::error(vec![ContentBlock::text(error.to_string())]);
            result.meta = Some(MetaObject(JsonObject::from_iter([(ERROR_META.to_owned(), error)])));
            Ok(result)
        }
    }
}
