//! A minimal HTTP/1.1 server side. It is hand-written because it must be able to stop at any byte, which libraries prevent.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::check::MAX_BODY_BYTES;
use super::refusal::Refusal;

/// The maximum size of a request head; the client under test sends less than 1 KiB. Beyond it the connection is closed.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// The sizes of the chunks in which events are sent. They are irregular so that lines and characters are split anywhere.
const IRREGULAR_SIZES: [usize; 8] = [7, 13, 1, 64, 3, 211, 2, 29];

/// A request as it was received.
pub(super) struct IncomingRequest {
    pub(super) method: String,
    pub(super) path: String,
    /// The names are in lower case.
    pub(super) headers: Vec<(String, String)>,
    /// The body, or why it was not read.
    pub(super) body: Result<Bytes, Refusal>,
}

/// A response to send.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) chunking: Chunking,
}

/// How a body is divided into chunks.
#[derive(Clone, Copy)]
pub(super) enum Chunking {
    /// Not at all: the head has a Content-Length, and everything is sent at once.
    Whole,
    /// In chunks of irregular sizes.
    Irregular,
    /// In chunks of this size.
    Of(usize),
}

/// A connection from a client.
pub(super) struct Connection {
    stream: TcpStream,
    buffer: BytesMut,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> Self {
        // Nagle's algorithm would delay small replies and merge chunks.
        let _ = stream.set_nodelay(true);
        Self { stream, buffer: BytesMut::with_capacity(8 * 1024) }
    }

    /// The next request; `None` when the client closed the connection or sent something else than HTTP.
    pub(super) async fn read_request(&mut self) -> Option<IncomingRequest> {
        let head = self.read_head().await?;
        let mut lines = head.split("\r\n");
        let mut first = lines.next()?.split(' ');
        let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
        let headers = lines.filter_map(|line| line.split_once(':'));
        let headers: Vec<(String, String)> =
            headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
        let header = |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        let body = match (header("transfer-encoding"), header("content-length")) {
            (Some(_), _) => Err(Refusal::new(411, "A request must have a Content-Length.")),
            (None, None) => Ok(Bytes::new()),
            (None, Some(length)) => self.read_body(length.parse().ok()?).await?,
        };
        Some(IncomingRequest { method, path, headers, body })
    }

    async fn read_head(&mut self) -> Option<String> {
        let mut searched = 0;
        loop {
            if let Some(end) = self.buffer[searched..].windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                let head = self.buffer.split_to(searched + end);
                self.buffer.advance(4);
                return String::from_utf8(head.to_vec()).ok();
            }
            // The separator may be split between two reads.
            searched = self.buffer.len().saturating_sub(3);
            if self.buffer.len() > MAX_HEAD_BYTES || !self.fill().await {
                return None;
            }
        }
    }

    async fn read_body(&mut self, length: usize) -> Option<Result<Bytes, Refusal>> {
        let mut remaining = length;
        while length > MAX_BODY_BYTES && remaining > 0 {
            // The body is discarded, not left unread: closing a socket with unread data resets the connection, and the
            // client would lose the reply.
            let size = remaining.min(self.buffer.len());
            self.buffer.advance(size);
            remaining -= size;
            if remaining > 0 && !self.fill().await {
                return None;
            }
        }
        if length > MAX_BODY_BYTES {
            return Some(Err(Refusal::new(
                413,
                format!("A request may have at most {MAX_BODY_BYTES} bytes."),
            )));
        }
        while self.buffer.len() < length {
            if !self.fill().await {
                return None;
            }
        }
        Some(Ok(self.buffer.split_to(length).freeze()))
    }

    /// Reads more bytes into the buffer; `false` at the end of the connection.
    async fn fill(&mut self) -> bool {
        self.buffer.reserve(4 * 1024);
        self.stream.read_buf(&mut self.buffer).await.is_ok_and(|size| size > 0)
    }

    /// Waits until the client closes the connection. What it sends meanwhile stays in the buffer.
    pub(super) async fn wait_for_close(&mut self) {
        while self.fill().await {}
    }

    /// Sends a reply. With `max_body_bytes` it stops after that many bytes of the body, without the last chunk.
    pub(super) async fn send(&mut self, reply: &Reply, max_body_bytes: Option<usize>) -> io::Result<()> {
        let mut bytes = head(reply).into_bytes();
        let size = max_body_bytes.unwrap_or(usize::MAX).min(reply.body.len());
        let mut body = &reply.body[..size];
        if matches!(reply.chunking, Chunking::Whole) {
            bytes.extend_from_slice(body);
            return self.stream.write_all(&bytes).await;
        }
        self.stream.write_all(&bytes).await?;
        let mut irregular_sizes = IRREGULAR_SIZES.iter().cycle();
        while !body.is_empty() {
            let size = match reply.chunking {
                Chunking::Of(size) => size.max(1),
                Chunking::Irregular | Chunking::Whole => *irregular_sizes.next().unwrap_or(&1),
            };
            let (chunk, rest) = body.split_at(size.min(body.len()));
            bytes.clear();
            bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            bytes.extend_from_slice(chunk);
            bytes.extend_from_slice(b"\r\n");
            self.stream.write_all(&bytes).await?;
            body = rest;
        }
        if max_body_bytes.is_none() {
            self.stream.write_all(b"0\r\n\r\n").await?;
        }
        Ok(())
    }
}

fn head(reply: &Reply) -> String {
    let mut head = format!("HTTP/1.1 {} {}\r\n", reply.status, reason(reply.status));
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let is_length_header = |name: &str| name == "content-length" || name == "transfer-encoding";
    if !reply.headers.iter().any(|(name, _)| is_length_header(&name.to_ascii_lowercase())) {
        match reply.chunking {
            Chunking::Whole => head.push_str(&format!("content-length: {}\r\n", reply.body.len())),
            Chunking::Irregular | Chunking::Of(_) => head.push_str("transfer-encoding: chunked\r\n"),
        }
    }
    head.push_str("\r\n");
    head
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 | 302 | 303 | 307 | 308 => "Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Status",
    }
}
