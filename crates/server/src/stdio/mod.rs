//! MCP over standard input and output: a transport for the SDK that answers every request, survives invalid input, and
//! returns when every request is answered.

mod load;
mod transport;

use std::io;
use std::sync::OnceLock;
use std::time::Duration;

use annai_core::Identity;
use rmcp::RoleServer;
use rmcp::model::ErrorCode;
use rmcp::service::{Service, serve_directly};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::ServerSection;
use crate::failure::RpcError;
use crate::outgoing::Outgoing;
use crate::process::{self, GRACE};
use crate::service::{self, McpService};
use load::PendingIds;
use transport::{OwnToolList, Stdio};

/// How long to wait for the final error replies to be written. A client that reads gets them within milliseconds; one that
/// does not read must not keep the process alive.
const FINAL_WRITE_TIMEOUT: Duration = Duration::from_millis(500);

/// The settings of the stdio transport.
#[derive(Clone)]
pub struct StdioOptions {
    /// The maximum size of a message in bytes; a longer one is refused.
    pub max_message_bytes: usize,
    /// The maximum number of calls that run at the same time; further calls wait. Each toolset keeps a few places of its own.
    pub max_in_flight: usize,
    /// The maximum size of all requests that run or wait, in bytes.
    pub max_pending_bytes: usize,
    /// Whether replies are always one JSON message per line, whatever framing the client uses.
    pub lines_only: bool,
}

impl StdioOptions {
    /// Takes the options from the `server` section of the configuration.
    #[must_use]
    pub fn new(server: &ServerSection) -> Self {
        Self {
            max_message_bytes: usize::try_from(server.max_message_bytes).unwrap_or(usize::MAX),
            max_in_flight: usize::try_from(server.max_in_flight).unwrap_or(usize::MAX),
            max_pending_bytes: usize::try_from(server.max_pending_bytes).unwrap_or(usize::MAX),
            lines_only: server.line_mode,
        }
    }
}

/// Serves on the standard input and output of the process, until the input ends or a signal arrives.
///
/// # Errors
///
/// When the output cannot be written, unless the reason is that the client has closed it.
pub async fn serve_process<S: Service<RoleServer>>(
    service: McpService<S>,
    options: StdioOptions,
) -> io::Result<()> {
    let stop = process::stop_on_signal(|| ())?;
    let (input, output) = rmcp::transport::stdio_pipes();
    serve(service, input, output, options, stop).await
}

/// Serves until the input ends and every call is answered, or until [`GRACE`] has passed since `stop`.
///
/// # Errors
///
/// When the output cannot be written, unless the reason is that the client has closed it.
pub async fn serve<S: Service<RoleServer>>(
    service: McpService<S>,
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
    options: StdioOptions,
    stop: CancellationToken,
) -> io::Result<()> {
    let outgoing = Outgoing::start(output, options.lines_only);
    let pending = PendingIds::default();
    let McpService { handler, registry, tools } = service;
    let tools: OwnToolList = {
        let registry = registry.clone();
        Box::new(move || tools(&registry, &Identity::Owner))
    };
    let own = registry.clone();
    let transport = Stdio::new(input, outgoing.clone(), pending.clone(), stop.clone(), options, own, tools);
    // Not the SDK's own handshake, which ends the connection on any unexpected message: `Stdio::accept` does its part.
    let running = serve_directly(handler, transport, None).waiting();
    let stopped_at = OnceLock::new();
    let grace_period_over = async {
        stop.cancelled().await;
        tokio::time::sleep_until(*stopped_at.get_or_init(Instant::now) + GRACE).await;
    };
    tokio::select! {
        _ = running => {}
        () = grace_period_over => fail_pending_calls(&outgoing, &pending).await,
    }
    service::close(&registry, *stopped_at.get_or_init(Instant::now) + GRACE).await;
    match outgoing.write_error() {
        None | Some(io::ErrorKind::BrokenPipe) => Ok(()),
        Some(other) => Err(other.into()),
    }
}

/// Answers every call that is still running with an error.
async fn fail_pending_calls(outgoing: &Outgoing, pending: &PendingIds) {
    let ids: Vec<_> = pending.lock().drain().collect();
    tracing::warn!(calls = ids.len(), "stopped with calls still in progress");
    for (id, framing) in ids {
        let message = "the server was stopped before this call was finished; call again";
        outgoing.enqueue(RpcError::new(Some(id), ErrorCode::INTERNAL_ERROR, message).to_json(), framing);
    }
    let all_written = async {
        while !outgoing.is_flushed() {
            outgoing.progress().await;
        }
    };
    let _ = tokio::time::timeout(FINAL_WRITE_TIMEOUT, all_written).await;
}
