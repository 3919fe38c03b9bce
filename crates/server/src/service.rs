//! The MCP service that both transports serve: the handler, the registry behind it, and the serialized tool list.

use std::sync::Arc;
use std::time::Duration;

use annai_core::Registry;
use tokio::time::Instant;

use crate::handler::{Handler, ServerName};
use crate::tool_list::ToolList;

/// The minimum time that toolsets get to close, even when calls have used up the whole grace period. Half a second is
/// enough to flush files and short enough for a supervisor that kills the process soon after its signal.
const MIN_CLOSE_TIME: Duration = Duration::from_millis(500);

/// An MCP handler with what the transports need in addition.
#[derive(Clone)]
pub struct McpService<S> {
    /// Handles every method except `tools/list`, which the transports answer from `tools`.
    pub handler: S,
    /// Decides who may call which tool. The transport closes it before it returns.
    pub registry: Arc<Registry>,
    /// Returns the serialized `tools` array of `tools/list`.
    pub tools: ToolList,
}

impl McpService<Handler> {
    /// A service with the tools of a registry, under this server name.
    #[must_use]
    pub fn new(registry: Arc<Registry>, name: ServerName) -> Self {
        let tools: ToolList = Arc::new(|registry, identity| registry.list(identity));
        Self { handler: Handler::new(registry.clone(), tools.clone(), name), registry, tools }
    }
}

/// Closes the toolsets that were opened, until `deadline` or for [`MIN_CLOSE_TIME`], whichever is later. A call that used
/// up the grace period therefore cannot keep the toolsets from closing.
pub(crate) async fn close(registry: &Registry, deadline: Instant) {
    let deadline = deadline.max(Instant::now() + MIN_CLOSE_TIME);
    if tokio::time::timeout_at(deadline, registry.close()).await.is_err() {
        tracing::warn!("a toolset did not close in time");
    }
}
