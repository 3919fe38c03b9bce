//! MCP over standard input and output: a transport for the SDK that answers everything, survives
//! everything, and ends when its work is done.

mod load;
mod transport;

use std::io;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ErrorCode;
use rmcp::service::{Service, serve_directly};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Server;
use crate::failure::RpcError;
use crate::outgoing::Outgoing;
use crate::process::{self, GRACE};
use crate::service::{self, McpService};
use load::Pending;
use transport::Stdio;

/// How long the last words may take.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The limits and habits of one connection.
#[derive(Clone)]
pub struct Options {
    /// The longest message that is read.
    pub max_message_bytes: usize,
    /// How many calls run at once.
    pub max_in_flight: usize,
    /// Answer with lines, whatever the client sends.
    pub lines_only: bool,
}

impl Options {
    /// As the `server` section says.
    #[must_use]
    pub fn new(server: &Server) -> Self {
        Self {
            max_message_bytes: usize::try_from(server.max_message_bytes).unwrap_or(usize::MAX),
            max_in_flight: usize::try_from(server.max_in_flight).unwrap_or(usize::MAX),
            lines_only: server.line_mode,
        }
    }
}

/// Serves on the process's own input and output, and ends on `SIGTERM` and `SIGINT`.
///
/// # Errors
///
/// When the output cannot be written for another reason than a client that has gone.
pub async fn serve_process<S: Service<RoleServer>>(
    service: McpService<S>,
    options: Options,
) -> io::Result<()> {
    let stop = process::stop_on_signal()?;
    let (input, output) = rmcp::transport::stdio_pipes();
    serve(service, input, output, options, stop).await
}

/// Serves until the input ends and every call is answered, or until `stop` and ten seconds more.
///
/// # Errors
///
/// When the output cannot be written for another reason than a client that has gone.
pub async fn serve<S: Service<RoleServer>>(
    service: McpService<S>,
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
    options: Options,
    stop: CancellationToken,
) -> io::Result<()> {
    let outgoing = Outgoing::start(output, options.lines_only);
    let pending = Pending::default();
    let McpService { handler, registry, tools } = service;
    let transport = Stdio::new(input, outgoing.clone(), pending.clone(), stop.clone(), options, tools);
    // Without the SDK's handshake, which gives up on what it does not expect: `admit` does its part.
    let running = serve_directly(handler, transport, None).waiting();
    let grace_over = async {
        stop.cancelled().await;
        let end = Instant::now() + GRACE;
        tokio::time::sleep_until(end).await;
        end
    };
    let end = tokio::select! {
        _ = running => Instant::now() + GRACE,
        end = grace_over => {
            abandon(&outgoing, &pending).await;
            end
        }
    };
    service::close(&registry, end).await;
    match outgoing.broken() {
        None | Some(io::ErrorKind::BrokenPipe) => Ok(()),
        Some(other) => Err(other.into()),
    }
}

/// Tells the callers of what is still running that it will not be answered.
async fn abandon(outgoing: &Outgoing, pending: &Pending) {
    let ids: Vec<_> = pending.lock().drain().collect();
    tracing::warn!(calls = ids.len(), "ended with calls under way");
    for id in ids {
        let why = "the server was told to end before this call was done; call again";
        outgoing.post(RpcError::new(Some(id), ErrorCode::INTERNAL_ERROR, why).to_json());
    }
    let all_written = async {
        while !outgoing.is_done() {
            outgoing.written().await;
        }
    };
    let _ = tokio::time::timeout(LAST_WORDS, all_written).await;
}
