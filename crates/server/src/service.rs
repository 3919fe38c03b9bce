//! What both transports serve: an MCP handler, the registry behind it, and the list of its tools.

use std::sync::Arc;
use std::time::Duration;

use annai_core::Registry;
use tokio::time::Instant;

use crate::handler::{Handler, ServerName};
use crate::tool_list::ToolList;

/// How long toolsets have to close when calls have used up the grace period.
const LAST_CHANCE: Duration = Duration::from_millis(500);

/// An MCP handler with what the transports need besides it.
#[derive(Clone)]
pub struct McpService<S> {
    /// Answers everything but `tools/list`.
    pub handler: S,
    /// Decides who may call what, and is closed at the end.
    pub registry: Arc<Registry>,
    /// The `tools` array of `tools/list`.
    pub tools: ToolList,
}

impl McpService<Handler> {
    /// Serves the tools of a registry under a name.
    #[must_use]
    pub fn new(registry: Arc<Registry>, name: ServerName) -> Self {
        let listed = registry.clone();
        let tools: ToolList = Arc::new(move |identity| listed.list(identity));
        Self { handler: Handler::new(registry.clone(), tools.clone(), name), registry, tools }
    }
}

/// Closes the toolsets that were opened. What is not done when the grace period ends gets half a second more, so that a
/// call that never ended cannot keep them from closing.
pub(crate) async fn close(registry: &Registry, end: Instant) {
    let end = end.max(Instant::now() + LAST_CHANCE);
    if tokio::time::timeout_at(end, registry.close()).await.is_err() {
        tracing::warn!("a toolset did not close in time");
    }
}
