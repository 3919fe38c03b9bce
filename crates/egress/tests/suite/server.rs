//! Servers that do what a test tells them, and clients for them.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use annai_egress::{
    Access, EgressClient, EgressError, EgressSettings, Method, OutboundRequest, Reply, RequestHeaders, Target,
};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What no error may contain: servers send it in bodies, and requests have it in their query, headers and body.
pub const SECRET: &str = "s3cret";

/// A server that handles each connection in the same way.
pub struct Server {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Server {
    pub async fn start<F, W>(handle: F) -> Self
    where
        F: Fn(TcpStream) -> W + Send + 'static,
        W: Future<Output = io::Result<()>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&connections);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(handle(stream));
            }
        });
        Self { address, connections, task }
    }

    /// Reads each request, sends these bytes and closes the connection.
    pub async fn replying(reply: impl Into<Vec<u8>>) -> Self {
        let reply: Arc<[u8]> = reply.into().into();
        Self::start(move |mut stream| {
            let reply = Arc::clone(&reply);
            async move {
                read_request(&mut stream).await?;
                stream.write_all(&reply).await?;
                stream.shutdown().await
            }
        })
        .await
    }

    /// The URL of this server, with a secret in its query.
    pub fn url(&self) -> String {
        format!("http://{}/run?key={SECRET}", self.address)
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Reads a request with a body of known length.
pub async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return Ok(text.into_owned());
            }
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Settings for servers on this machine, with a time limit that a reply on this machine never reaches.
pub fn settings() -> EgressSettings {
    EgressSettings {
        access: Access::AllowPrivate,
        time_limit: Duration::from_secs(10),
        ..EgressSettings::default()
    }
}

/// A client for servers on this machine.
pub fn client() -> EgressClient {
    EgressClient::new(settings())
}

/// Posts a body with a secret to a URL, as services do.
pub async fn post(client: &EgressClient, url: &str) -> Result<Reply, EgressError> {
    let target = Target::parse(url, Access::AllowPrivate).unwrap();
    let headers = RequestHeaders::parse([("Authorization", SECRET)]).unwrap();
    let body = json!({ "input": SECRET });
    let result = client
        .send(OutboundRequest {
            target: &target,
            method: Method::Post,
            headers: &headers,
            idempotency_key: Some("tx-1"),
            body: Some(&body),
        })
        .await;
    if let Err(error) = &result {
        assert_discreet(error, &target);
    }
    result
}

/// The error of a request.
pub async fn post_error(client: &EgressClient, url: &str) -> EgressError {
    post(client, url).await.expect_err("the request must fail")
}

/// No error tells a secret, and its sentence does not even tell the host.
fn assert_discreet(error: &EgressError, target: &Target) {
    let sentence = error.to_string();
    assert!(!sentence.contains(target.host()) && !sentence.contains("127.0.0.1"), "{sentence}");
    let mut everything = format!("{sentence} {error:?}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        everything.push_str(&format!(" {cause} {cause:?}"));
        source = cause.source();
    }
    assert!(!everything.contains(SECRET), "{everything}");
}
