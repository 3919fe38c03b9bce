//! Upstreams that do what a test tells them.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What no reply may contain: upstreams send it in their bodies, and have it in their URL and headers.
pub const SECRET: &str = "s3cret";

/// A server that handles each connection in the same way and records the requests.
pub struct UpstreamServer {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl UpstreamServer {
    /// Reads each request and lets `answer` handle the rest of the connection.
    pub async fn start<F, W>(answer: F) -> Self
    where
        F: Fn(TcpStream) -> W + Send + Sync + 'static,
        W: Future<Output = io::Result<()>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let (recorded, answer) = (requests.clone(), Arc::new(answer));
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (recorded, answer) = (recorded.clone(), answer.clone());
                tokio::spawn(async move {
                    let request = read_request(&mut stream).await?;
                    recorded.lock().unwrap().push(request);
                    answer(stream).await
                });
            }
        });
        Self { address, requests, task }
    }

    /// Answers each request with these bytes and closes the connection.
    pub async fn replying(reply: impl Into<Vec<u8>>) -> Self {
        let reply: Arc<[u8]> = reply.into().into();
        Self::start(move |mut stream| {
            let reply = reply.clone();
            async move {
                stream.write_all(&reply).await?;
                stream.shutdown().await
            }
        })
        .await
    }

    /// Answers each request with this text.
    pub async fn text(text: &str) -> Self {
        Self::replying(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len())).await
    }

    /// Answers each request with this text, but not before `release` lets it.
    pub async fn waiting(text: &'static str, release: Arc<tokio::sync::Semaphore>) -> Self {
        Self::start(move |mut stream| {
            let release = release.clone();
            async move {
                release.acquire().await.map_err(io::Error::other)?.forget();
                let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len());
                stream.write_all(reply.as_bytes()).await?;
                stream.shutdown().await
            }
        })
        .await
    }

    /// The URL of this server, with a secret in its query.
    pub fn url(&self) -> String {
        format!("http://{}/run?key={SECRET}", self.address)
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits until this many requests have arrived.
    pub async fn called(&self, times: usize) {
        while self.requests().len() < times {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

impl Drop for UpstreamServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The value of a header of a recorded request.
pub fn header(request: &str, name: &str) -> Option<String> {
    let mut lines = request.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
}

async fn read_request(stream: &mut TcpStream) -> io::Result<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = header(head, "content-length").and_then(|length| length.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return Ok(text.into_owned());
            }
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}
