//! The SDK's `ServerHandler` over a registry. Both transports use the same handler.

use std::sync::Arc;

use annai_core::{Call, Denied, Identity, Progress, ProgressSink, Registry, Reply, ToolError};
use futures_util::future::BoxFuture;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CompletionInfo, ContentBlock, DiscoverResult, ErrorData, ExtensionCapabilities, GetPromptRequestParams,
    GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject, PaginatedRequestParams,
    ProgressNotificationParam, ProgressToken, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig,
};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::Value;

use crate::era::Era;
use crate::tool_list::ToolList;
use crate::{failure, icon, prompts, resources};

/// The key in a request's `_meta` that holds the idempotency key of a call.
const IDEMPOTENCY_META: &str = "annai/idempotencyKey";

/// The name of the MCP extension for widgets, and the media type of their pages.
const WIDGET_EXTENSION: &str = "io.modelcontextprotocol/ui";
const WIDGET_MIME_TYPE: &str = "text/html;profile=mcp-app";

/// The name and version that the server reports in `initialize`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerName {
    /// `serverInfo.name`.
    pub name: &'static str,
    /// `serverInfo.version`.
    pub version: &'static str,
}

/// Serves the tools and resources of a registry over MCP.
#[derive(Clone)]
pub struct Handler {
    registry: Arc<Registry>,
    tools: ToolList,
    name: ServerName,
}

impl Handler {
    /// A handler for the tools of a registry, under this server name.
    #[must_use]
    pub const fn new(registry: Arc<Registry>, tools: ToolList, name: ServerName) -> Self {
        Self { registry, tools, name }
    }

    /// The tools that a request may see: all, unless the request asks for fewer (see `http::selection`).
    fn registry_of<'a>(&'a self, context: &'a RequestContext<RoleServer>) -> &'a Arc<Registry> {
        let parts = context.extensions.get::<http::request::Parts>();
        parts.and_then(|parts| parts.extensions.get::<Arc<Registry>>()).unwrap_or(&self.registry)
    }

    /// Adapts what the server says about itself to the tools that the caller sees.
    fn adapt_info(&self, info: &mut ServerConfig, context: &RequestContext<RoleServer>) {
        let registry = self.registry_of(context);
        info.capabilities.resources = registry.has_resources().then(Default::default);
        info.capabilities.prompts = registry.has_prompts().then(Default::default);
        info.capabilities.extensions = registry.has_widgets().then(widget_extension);
        info.instructions = registry.instructions(&identity_of(context));
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder().enable_tools().enable_completions().build();
        capabilities.resources = self.registry.has_resources().then(Default::default);
        capabilities.prompts = self.registry.has_prompts().then(Default::default);
        let mut info = ServerConfig::new(capabilities);
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        info.server_info = Implementation::new(self.name.name, self.name.version);
        info.server_info.icons = Some(vec![icon::of_program()]);
        info
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut info = self.negotiate_initialize(&request)?;
        self.adapt_info(&mut info, &context);
        // The negotiated version, not the requested one, decides how later calls are answered.
        let mut peer = request;
        peer.protocol_version = info.protocol_version.clone();
        context.peer.set_peer_info(peer);
        Ok(info)
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let mut info = self.get_info();
        self.adapt_info(&mut info, &context);
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, info))
    }

    /// The transports answer most of these requests themselves (see `tool_list`); the rest comes here.
    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        one_page(request)?;
        let list = (self.tools)(self.registry_of(&context), &identity_of(&context));
        let tools = serde_json::from_slice(&list);
        let tools = tools.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let (registry, identity) = (self.registry_of(&context), identity_of(&context));
        resources::list(registry, cursor.as_deref(), &identity, call_of(&context)).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        one_page(request)?;
        let listed = self.registry_of(&context).resource_templates(&identity_of(&context));
        Ok(ListResourceTemplatesResult::with_all_items(listed.into_iter().map(resources::template).collect()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(self.registry_of(&context), &request.uri, &identity_of(&context), call_of(&context))
            .await
            .map(ReadResourceResponse::Complete)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        one_page(request)?;
        let identity = identity_of(&context);
        let listed = self.registry_of(&context).prompts(&identity).map(prompts::listed);
        Ok(ListPromptsResult::with_all_items(listed.collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(self.registry_of(&context), request, &identity_of(&context))
            .map(GetPromptResponse::Complete)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let given = request.context.and_then(|context| context.arguments).unwrap_or_default();
        let (argument, identity) = (request.argument, identity_of(&context));
        let registry = self.registry_of(&context);
        let mut values = registry.complete(&argument.name, &argument.value, &given, &identity).await;
        let total = u32::try_from(values.len()).ok();
        let has_more = values.len() > CompletionInfo::MAX_VALUES;
        values.truncate(CompletionInfo::MAX_VALUES);
        let completion = CompletionInfo::with_pagination(values, total, has_more);
        let completion = completion.map_err(|problem| ErrorData::internal_error(problem, None))?;
        Ok(CompleteResult::new(completion))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (call, registry) = (call_of(&context), self.registry_of(&context));
        let identity = identity_of(&context);
        let admitted = match registry.admit(&request.name, &identity) {
            Ok(admitted) => admitted,
            Err(denied) => {
                denied.log(registry, &request.name, &identity, &call.request_id);
                return match denied {
                    Denied::Unknown => Err(unknown_tool(&request.name)),
                    _ => Ok(failure::of_denied(&ToolError::from(denied), None, None).into()),
                };
            }
        };
        let result = match admitted.call(request.arguments.unwrap_or_default(), call).await {
            Ok(reply) => success(reply),
            Err(failed) => failure::of_call(failed.wire, failed.error.kind(), Era::of_context(&context))?,
        };
        Ok(result.into())
    }
}

/// The capability of a server whose tools have widgets (MCP Apps).
fn widget_extension() -> ExtensionCapabilities {
    let types = serde_json::json!({ "mimeTypes": [WIDGET_MIME_TYPE] });
    let types = types.as_object().cloned().unwrap_or_default();
    ExtensionCapabilities::from([(WIDGET_EXTENSION.to_owned(), types)])
}

/// Refuses a cursor, because every list has a single page.
fn one_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    if request.is_some_and(|request| request.cursor.is_some()) {
        return Err(ErrorData::invalid_params("params.cursor: invalid; the list has only one page", None));
    }
    Ok(())
}

fn unknown_tool(name: &str) -> ErrorData {
    let shown: String = name.chars().take(80).collect();
    ErrorData::invalid_params(format!("unknown tool: {shown}; tools/list lists the tools"), None)
}

/// Who calls. Each transport has established it: stdio as an extension of the request, the door of HTTP as one of the HTTP
/// request. Without either the caller is anonymous.
fn identity_of(context: &RequestContext<RoleServer>) -> Identity {
    let own = context.extensions.get::<Identity>();
    let parts = context.extensions.get::<http::request::Parts>();
    own.or_else(|| parts?.extensions.get::<Identity>()).cloned().unwrap_or(Identity::Anonymous)
}

fn call_of(context: &RequestContext<RoleServer>) -> Call {
    let mut call = Call::new(context.id.to_string());
    call.cancel = context.ct.clone();
    // A key that is no text is kept as an empty one, which tools refuse: ignoring it could run an operation twice.
    let key = context.meta.0.get(IDEMPOTENCY_META);
    call.idempotency_key = key.map(|key| key.as_str().unwrap_or_default().to_owned());
    if let Some(token) = context.meta.get_progress_token() {
        call.progress = Progress::to(Arc::new(ProgressNotifier { peer: context.peer.clone(), token }));
    }
    call
}

/// Sends progress notifications to the client that asked for them with a `progressToken`.
struct ProgressNotifier {
    peer: Peer<RoleServer>,
    token: ProgressToken,
}

impl ProgressSink for ProgressNotifier {
    fn report<'a>(&'a self, done: f64, total: Option<f64>, message: Option<&'a str>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let mut report = ProgressNotificationParam::new(self.token.clone(), done);
            report.total = total;
            report.message = message.map(str::to_owned);
            // Sending fails only when the client has disconnected, and then nobody needs the notification.
            let _ = self.peer.notify_progress(report).await;
        })
    }
}

fn success(reply: Reply<Value>) -> CallToolResult {
    let mut result = CallToolResult::default();
    result.content = reply.text().into_iter().map(ContentBlock::text).collect();
    result.structured_content = Some(reply.output);
    result.meta = (!reply.meta.is_empty()).then_some(MetaObject(reply.meta));
    result
}
