//! HTTP: our own listener and limits, the routes, and MCP over the SDK's Streamable HTTP service.

mod accept;
mod body;
mod challenge;
mod cors;
mod door;
mod health;
mod mcp;
mod metrics;
mod patience;
mod reply;
mod router;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rmcp::handler::server::ServerHandler;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::Server;
use crate::process::GRACE;
use crate::service::{self, McpService};
pub use door::{BadUrl, Door, PeerAddress};
use mcp::McpEndpoint;
pub use mcp::Sessions;
use patience::Patient;
use router::{Limits, Site};

/// How long a client may take to send the head of a request, or to send the next request at all.
const HEAD_TIME: Duration = Duration::from_secs(15);
/// How long a client may take nothing of what is sent to it.
const WRITE_TIME: Duration = Duration::from_secs(60);
const MOST_HEADERS: usize = 100;
const MOST_HEAD_BYTES: usize = 64 * 1024;

/// What is served.
pub struct HttpOptions<S> {
    /// What `/mcp` serves.
    pub service: McpService<S>,
    /// Whether clients of the handshake era get sessions.
    pub sessions: Sessions,
    /// The version that `/health` shows.
    pub version: &'static str,
    /// The routes of toolsets that have a REST side. They stand behind the door, and the limits on body size, time and
    /// calls in flight hold for them; the caller's `Identity` is an extension of each request.
    pub routes: Vec<Router>,
}

/// A server that is bound to its address and has not accepted anybody yet.
pub struct HttpServer {
    listener: TcpListener,
    router: Router,
    registry: Arc<annai_core::Registry>,
    in_flight: Arc<Semaphore>,
    max_in_flight: u32,
    max_connections: usize,
}

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address is not to be had.
    #[error("cannot listen on {0}: {1}; choose another with --http ADDR or PORT")]
    Bind(SocketAddr, io::Error),
    /// A setting is not a URL.
    #[error(transparent)]
    Url(#[from] BadUrl),
}

impl HttpServer {
    /// Binds to `address`.
    ///
    /// # Errors
    ///
    /// When the address cannot be bound, or a URL in the settings is none.
    pub async fn bind<S: ServerHandler + Clone>(
        address: SocketAddr,
        server: &Server,
        options: HttpOptions<S>,
    ) -> Result<Self, StartError> {
        let listener = TcpListener::bind(address).await.map_err(|error| StartError::Bind(address, error))?;
        let address = listener.local_addr().map_err(|error| StartError::Bind(address, error))?;
        let max_in_flight = u32::try_from(server.max_in_flight).unwrap_or(u32::MAX);
        let in_flight = Arc::new(Semaphore::new(max_in_flight as usize));
        let limits = Limits {
            max_body_bytes: usize::try_from(server.max_body_bytes).unwrap_or(usize::MAX),
            call_timeout: Duration::from_millis(server.call_timeout_ms),
            in_flight: in_flight.clone(),
        };
        let registry = options.service.registry.clone();
        let site = Arc::new(Site {
            door: Door::new(server, address)?,
            mcp: McpEndpoint::new(options.service, options.sessions, limits.clone()),
            version: options.version,
            started: Instant::now(),
            limits,
        });
        let router = router::router(&site, options.routes);
        let max_connections = usize::try_from(server.max_connections).unwrap_or(usize::MAX);
        let max_connections = max_connections.min(Semaphore::MAX_PERMITS);
        Ok(Self { listener, router, registry, in_flight, max_in_flight, max_connections })
    }

    /// Where it listens.
    ///
    /// # Errors
    ///
    /// When the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers until `stop`, then lets calls under way finish, and closes the toolsets, for ten seconds.
    pub async fn serve(self, stop: CancellationToken) {
        let connections = Arc::new(Semaphore::new(self.max_connections));
        let tasks = TaskTracker::new();
        loop {
            let next = async {
                let permit = connections.clone().acquire_owned().await;
                (permit, self.listener.accept().await)
            };
            let (permit, accepted) = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                next = next => next,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let work = serve_connection(self.router.clone(), stream, peer, stop.clone());
                    tasks.spawn(async move {
                        work.await;
                        drop(permit);
                    });
                }
                Err(error) => {
                    // Out of descriptors, most likely: others will close theirs.
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
        drop(self.listener);
        tasks.close();
        let end = tokio::time::Instant::now() + GRACE;
        let ended = tokio::time::timeout_at(end, async {
            tasks.wait().await;
            // All permits are free when no call runs, not even one whose client has left.
            let _ = self.in_flight.acquire_many(self.max_in_flight).await;
        });
        if ended.await.is_err() {
            tracing::warn!("ended with calls under way");
        }
        service::close(&self.registry, end).await;
    }
}

/// One connection from its first request to its last.
async fn serve_connection(router: Router, stream: TcpStream, peer: SocketAddr, stop: CancellationToken) {
    let _ = stream.set_nodelay(true);
    let service = router.map_request(move |mut request: http::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(PeerAddress(peer));
        request
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_headers(MOST_HEADERS)
        .max_buf_size(MOST_HEAD_BYTES)
        .serve_connection(TokioIo::new(Patient::new(stream, WRITE_TIME)), TowerToHyperService::new(service));
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended");
    }
}
