//! MCP over Streamable HTTP: our own door and limits around the SDK's service.

mod cors;
mod door;
mod health;
mod mcp;
mod metrics;
mod patience;
mod reply;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::handler::server::ServerHandler;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Server;
use crate::process::GRACE;
pub use door::{BadUrl, Door, PeerAddress};
use mcp::Mcp;
pub use mcp::{Options as McpOptions, Sessions};
use patience::Patient;

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// How long a client may take to send the head of a request, or to send the next request at all.
const HEAD_TIME: Duration = Duration::from_secs(15);
/// How long a client may take nothing of what is sent to it.
const WRITE_TIME: Duration = Duration::from_secs(60);
const MOST_HEADERS: usize = 100;
const MOST_HEAD_BYTES: usize = 64 * 1024;

/// A server that is bound to its address and has not accepted anybody yet.
pub struct HttpServer {
    listener: TcpListener,
    site: Arc<Site>,
    max_connections: usize,
}

/// What requests are answered with.
struct Site {
    door: Door,
    mcp: Mcp,
    version: &'static str,
    started: Instant,
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
    pub async fn bind<S: ServerHandler + Clone>(
        address: SocketAddr,
        server: &Server,
        mcp: McpOptions<S>,
        version: &'static str,
    ) -> Result<Self, StartError> {
        let listener = TcpListener::bind(address).await.map_err(|error| StartError::Bind(address, error))?;
        let address = listener.local_addr().map_err(|error| StartError::Bind(address, error))?;
        let door = Door::new(server, address)?;
        let site = Site { door, mcp: Mcp::new(server, mcp), version, started: Instant::now() };
        let max_connections = usize::try_from(server.max_connections).unwrap_or(usize::MAX);
        Ok(Self {
            listener,
            site: Arc::new(site),
            max_connections: max_connections.min(Semaphore::MAX_PERMITS),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers until `stop`, then lets calls under way finish for ten seconds.
    pub async fn serve(self, stop: CancellationToken) {
        let connections = Arc::new(Semaphore::new(self.max_connections));
        let tasks = TaskTracker::new();
        loop {
            let next = async {
                let place = connections.clone().acquire_owned().await;
                (place, self.listener.accept().await)
            };
            let (place, accepted) = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                next = next => next,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let work = converse(self.site.clone(), stream, peer, stop.clone());
                    tasks.spawn(async move {
                        work.await;
                        drop(place);
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
        let ended = tokio::time::timeout(GRACE, async {
            tasks.wait().await;
            self.site.mcp.wait_for_calls().await;
        });
        if ended.await.is_err() {
            tracing::warn!("ended with calls under way");
        }
    }
}

/// One connection from its first request to its last.
async fn converse(site: Arc<Site>, stream: TcpStream, peer: SocketAddr, stop: CancellationToken) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(PeerAddress(peer));
        let site = site.clone();
        async move { Ok::<_, Infallible>(site.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_headers(MOST_HEADERS)
        .max_buf_size(MOST_HEAD_BYTES)
        .serve_connection(TokioIo::new(Patient::new(stream, WRITE_TIME)), service);
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

impl Site {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let (route, response) = self.route(request).await;
        metrics::count_request(route, response.status().as_u16());
        response
    }

    async fn route(&self, request: Request<Incoming>) -> (&'static str, Response<Body>) {
        let (mut parts, body) = request.into_parts();
        if parts.uri.path() == "/health" {
            return ("/health", get(&parts.method, || health::health(self.version, self.started)));
        }
        let origin = match self.door.check(&parts.uri, &parts.headers) {
            Ok(origin) => origin.map(str::to_owned),
            Err(refused) => {
                return ("refused", reply::error(StatusCode::FORBIDDEN, "forbidden", refused.message()));
            }
        };
        if let (Some(origin), &Method::OPTIONS) = (&origin, &parts.method) {
            return ("preflight", cors::preflight(origin, &parts.headers));
        }
        let (route, mut response) = match parts.uri.path() {
            "/metrics" => ("/metrics", get(&parts.method, health::metrics)),
            "/mcp" => {
                let identity = self.door.identity(&parts);
                parts.extensions.insert(identity);
                ("/mcp", self.mcp.answer(parts, body).await)
            }
            _ => {
                let message = "no such route; MCP is at /mcp, the state of the server at /health";
                ("none", reply::error(StatusCode::NOT_FOUND, "not_found", message))
            }
        };
        cors::allow(origin.as_deref(), response.headers_mut());
        (route, response)
    }
}

fn get(method: &Method, answer: impl FnOnce() -> Response<Body>) -> Response<Body> {
    if matches!(*method, Method::GET | Method::HEAD) {
        return answer();
    }
    let mut response = reply::error(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "use GET");
    response.headers_mut().insert(http::header::ALLOW, http::HeaderValue::from_static("GET, HEAD"));
    response
}
