//! The HTTP transport: the listener and its limits, the routes, and MCP over the SDK's Streamable HTTP service.

mod accept;
mod authentication;
mod body;
mod challenge;
mod client_stream;
mod connections;
mod cors;
mod door;
mod health;
mod held_body;
mod limits;
mod mcp;
mod metrics;
mod oauth;
mod pace;
mod peers;
mod pending_bytes;
mod reachability;
mod reply;
mod router;
mod selection;
mod trust;
mod web_origin;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use annai_core::{PeerAddress, Registry, TokenScope};
use axum::Router;
use http::HeaderValue;
use http::header::CONNECTION;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rmcp::handler::server::ServerHandler;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use tower::ServiceExt as _;

use crate::ServerSection;
use crate::bulkheads::Bulkheads;
use crate::process::GRACE;
use crate::service::{self, McpService};
use crate::tokens::{StaticTokens, TokenFile};
use authentication::Authenticator;
use challenge::Challenger;
use client_stream::{ClientStream, UnreadInput};
use connections::{Connection, Connections, MAX_HEAD_BYTES};
use door::Door;
pub use health::running_version;
use held_body::HeldBody;
use limits::Limits;
use mcp::McpEndpoint;
pub use mcp::Sessions;
use oauth::{OAuth, Resource};
pub use peers::IsTrustedProxy;
use peers::PeerRule;
use pending_bytes::PendingBytes;
pub use reachability::{Deployment, check_oauth, reachability};
pub use router::METRICS_READ;
use router::Site;
use trust::LoopbackTrust;
pub use web_origin::BadUrl;

/// How long a client may take to send the header block of a request, and how long an idle connection is kept alive.
/// Headers fit into a few packets, so 15 seconds allow for a slow link; after that the connection is closed.
const HEADER_READ_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a client may stop reading a response. 60 seconds allow for a congested link; after that the connection
/// is closed, so that a client that never reads cannot hold it.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);
/// The maximum number of headers in a request (hyper's own default, stated so that it cannot change silently). A request
/// with more is answered with 431.
const MAX_HEADERS: usize = 100;
/// How many connections may wait to be accepted; the system may allow fewer. Each is accepted within moments, and those beyond
/// the limits of their peer are closed then. When the queue is full, the system makes everybody try again a second later, so
/// it has room for a burst of somebody who connects again and again.
const ACCEPT_QUEUE: u32 = 4096;
/// How long to wait after a failed `accept`. The usual cause is a lack of file descriptors, which clears up when other
/// connections close; without the pause the loop would use a whole core until then.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// What an HTTP server serves.
pub struct HttpOptions<S> {
    /// What `/mcp` serves.
    pub service: McpService<S>,
    /// Whether clients of the handshake era get sessions.
    pub sessions: Sessions,
    /// The version that `/health` shows.
    pub version: &'static str,
    /// The routes of toolsets that have a REST API. The door checks their requests, and they share the limits on body
    /// size and time; handlers find the caller's `Identity` in the request's extensions. Each of these routers has places for
    /// calls in flight of its own. A route must check its caller before it reads the body: what it reads counts as that of
    /// somebody known.
    pub routes: Vec<Router>,
    /// Which peers are trusted proxies. The limits of a single peer apply to the clients behind them, not to them.
    pub is_trusted_proxy: IsTrustedProxy,
}

/// A server that is bound to its address but accepts no connections yet.
pub struct HttpServer {
    listener: TcpListener,
    router: Router,
    registry: Arc<Registry>,
    places: Bulkheads,
    connections: Connections,
}

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address is in use or not available.
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
    /// When the address cannot be bound, or a URL in the settings is not valid.
    pub async fn bind<S: ServerHandler + Clone>(
        address: SocketAddr,
        server: &ServerSection,
        options: HttpOptions<S>,
    ) -> Result<Self, StartError> {
        let listener = listen(address).map_err(|error| StartError::Bind(address, error))?;
        let address = listener.local_addr().map_err(|error| StartError::Bind(address, error))?;
        let places =
            Bulkheads::new(to_size(server.max_in_flight), &options.service.registry, options.routes.len());
        let peers = PeerRule::new(options.is_trusted_proxy);
        let max_body_bytes = to_size(server.max_body_bytes);
        let pending_bytes = PendingBytes::new(
            to_size(server.max_pending_bytes),
            max_body_bytes,
            to_size(server.max_pending_bytes_per_peer),
        );
        let connections = Connections::new(
            to_size(server.max_connections),
            to_size(server.max_connections_per_peer),
            peers.clone(),
        );
        let limits = Limits {
            max_body_bytes,
            pending_bytes: Arc::new(pending_bytes),
            peers,
            call_timeout: Duration::from_millis(server.call_timeout_ms),
            places: places.clone(),
        };
        let registry = options.service.registry.clone();
        let resource = Resource::of_server(server, address);
        let authenticator = Arc::new(authenticator(server, address, &registry, &resource)?);
        let metadata_url = authenticator.oauth.is_some().then(|| resource.metadata_url());
        let static_scopes = static_scopes(server, &registry).into_iter().map(TokenScope::as_str).collect();
        let challenger = Challenger { metadata_url, static_scopes };
        let metadata = authenticator.oauth.as_ref();
        let metadata = metadata.map(|oauth| oauth::routes(oauth, &resource, registry.scopes()));
        let mcp = McpEndpoint::new(
            options.service,
            options.sessions,
            limits.clone(),
            authenticator.clone(),
            challenger.clone(),
        );
        let site = Arc::new(Site {
            door: Door::new(server)?,
            authenticator,
            challenger,
            mcp,
            version: options.version,
            started: Instant::now(),
            limits,
        });
        let router = router::router(&site, metadata.unwrap_or_default(), options.routes);
        Ok(Self { listener, router, registry, places, connections })
    }

    /// The address on which it listens; with port 0 the system has chosen the port.
    ///
    /// # Errors
    ///
    /// When the system cannot tell the address.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop`. Then it accepts no more connections, waits up to [`GRACE`] for the calls in progress, and
    /// closes the toolsets.
    pub async fn serve(self, stop: CancellationToken) {
        let tasks = TaskTracker::new();
        let connections = self.connections.clone();
        let releases =
            async move { connections.release_memory(annai_allocator::release_unused_memory).await };
        let releases = AbortOnDropHandle::new(tokio::spawn(releases));
        loop {
            let next = async {
                let (stream, peer) = self.listener.accept().await?;
                Ok::<_, io::Error>((stream, peer, self.connections.admit(peer).await))
            };
            let accepted = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                next = next => next,
            };
            match accepted {
                Ok((stream, peer, Some(connection))) => {
                    tasks.spawn(serve_connection(
                        self.router.clone(),
                        stream,
                        peer,
                        connection,
                        stop.clone(),
                    ));
                }
                Ok((_, peer, None)) => {
                    tracing::debug!(peer = %peer.ip(), "a connection was closed: its peer has too many");
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                }
            }
        }
        drop((self.listener, releases));
        tasks.close();
        let end = tokio::time::Instant::now() + GRACE;
        let ended = tokio::time::timeout_at(end, async {
            tasks.wait().await;
            // A call can outlive its connection.
            self.places.idle().await;
        });
        if ended.await.is_err() {
            tracing::warn!("stopped with calls still in progress");
        }
        service::close(&self.registry, end).await;
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Connections of an earlier process that have ended do not keep the address. On Windows this would let two servers share
    // it, and is not needed.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(ACCEPT_QUEUE)
}

/// A setting as a size in memory.
fn to_size(setting: u64) -> usize {
    usize::try_from(setting).unwrap_or(usize::MAX)
}

/// The scopes that static tokens can have on this server: those that need permission, but no person.
fn static_scopes(server: &ServerSection, registry: &Registry) -> Vec<TokenScope> {
    if server.token_file.is_none() {
        return Vec::new();
    }
    let mut scopes = registry.local_scopes();
    scopes.push(METRICS_READ);
    scopes
}

/// What finds out who sends a request, from the settings.
fn authenticator(
    server: &ServerSection,
    address: SocketAddr,
    registry: &Registry,
    resource: &Resource,
) -> Result<Authenticator, BadUrl> {
    // An audience that names nothing would match tokens for nobody.
    let own = server.oauth_audience.clone().filter(|own| !own.trim_matches([' ', '/']).is_empty());
    let audiences = own.map_or_else(|| resource.names().into(), |own| vec![own]);
    let issuer = server.oauth_issuer.as_deref();
    let oauth = issuer.map(|issuer| OAuth::new(issuer, audiences)).transpose()?.map(Arc::new);
    let scopes = static_scopes(server, registry);
    let static_tokens = server.token_file.as_ref();
    let static_tokens = static_tokens.map(|path| StaticTokens::new(TokenFile::new(path), &scopes));
    Ok(Authenticator { trust: LoopbackTrust::new(server, address)?, oauth, static_tokens })
}

/// Serves one connection until the client closes it, a limit ends it, or the server stops.
async fn serve_connection(
    router: Router,
    stream: TcpStream,
    peer: SocketAddr,
    open: Connection,
    stop: CancellationToken,
) {
    let _ = stream.set_nodelay(true);
    let (requests, unread) = (open.clone(), UnreadInput::default());
    let of_requests = unread.clone();
    let service = tower::service_fn(move |mut request: http::Request<hyper::body::Incoming>| {
        let in_progress = requests.begin_request();
        request.extensions_mut().insert(PeerAddress(peer));
        request.extensions_mut().insert(of_requests.clone());
        let (response, unread) = (router.clone().oneshot(request), of_requests.clone());
        async move {
            let mut response = response.await?;
            if unread.is_left() {
                // A client must not send its next request on this connection.
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response.map(|body| HeldBody::new(in_progress, body)))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_READ_TIMEOUT)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD_BYTES)
        // The buffer alone would let heads in that are nearly twice as long, if their end comes with the last read.
        .max_header_size(MAX_HEAD_BYTES)
        .serve_connection(
            TokioIo::new(ClientStream::new(stream, WRITE_TIMEOUT, open.clone(), unread)),
            TowerToHyperService::new(service),
        );
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        // It was idle, and another client needs its place.
        () = open.closed() => return,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended");
    }
}
