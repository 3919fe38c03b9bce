//! HTTP/1.1 by hand, since it must be able to end anywhere.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::check::{BODY_LIMIT, Refusal};

const HEAD_LIMIT: usize = 64 * 1024;

/// Sizes of the pieces in which events are sent, so that lines and characters are split anywhere.
const ODD_SIZES: [usize; 8] = [7, 13, 1, 64, 3, 211, 2, 29];

/// A request as it came.
pub(super) struct Incoming {
    pub(super) method: String,
    pub(super) path: String,
    /// Names in lower case.
    pub(super) headers: Vec<(String, String)>,
    /// The body, or why it was not read.
    pub(super) body: Result<Bytes, Refusal>,
}

/// A reply to be sent.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) pieces: Pieces,
}

/// How a body is cut up.
#[derive(Clone, Copy)]
pub(super) enum Pieces {
    /// Not at all: its length is in the head, and all is sent at once.
    Whole,
    /// In pieces of many sizes.
    Odd,
    /// In pieces of this size.
    Of(usize),
}

/// A connection from a client.
pub(super) struct Connection {
    stream: TcpStream,
    buffer: BytesMut,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> Self {
        // A small reply is to leave at once, and each piece on its own.
        let _ = stream.set_nodelay(true);
        Self { stream, buffer: BytesMut::with_capacity(8 * 1024) }
    }

    /// The next request, or `None` when the client is gone or does not speak HTTP.
    pub(super) async fn read_request(&mut self) -> Option<Incoming> {
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
        Some(Incoming { method, path, headers, body })
    }

    async fn read_head(&mut self) -> Option<String> {
        let mut seen = 0;
        loop {
            if let Some(end) = self.buffer[seen..].windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                let head = self.buffer.split_to(seen + end);
                self.buffer.advance(4);
                return String::from_utf8(head.to_vec()).ok();
            }
            // The mark may have begun in what is there.
            seen = self.buffer.len().saturating_sub(3);
            if self.buffer.len() > HEAD_LIMIT || !self.fill().await {
                return None;
            }
        }
    }

    async fn read_body(&mut self, length: usize) -> Option<Result<Bytes, Refusal>> {
        let mut left = length;
        while length > BODY_LIMIT && left > 0 {
            // Passed over rather than left unread: closing on unread bytes would take the reply away.
            let size = left.min(self.buffer.len());
            self.buffer.advance(size);
            left -= size;
            if left > 0 && !self.fill().await {
                return None;
            }
        }
        if length > BODY_LIMIT {
            return Some(Err(Refusal::new(413, format!("A request may have {BODY_LIMIT} bytes at most."))));
        }
        while self.buffer.len() < length {
            if !self.fill().await {
                return None;
            }
        }
        Some(Ok(self.buffer.split_to(length).freeze()))
    }

    /// Reads what there is; `false` at the end.
    async fn fill(&mut self) -> bool {
        self.buffer.reserve(4 * 1024);
        self.stream.read_buf(&mut self.buffer).await.is_ok_and(|size| size > 0)
    }

    /// Waits until the client has gone. What it sends meanwhile is kept.
    pub(super) async fn hung_up(&mut self) {
        while self.fill().await {}
    }

    /// Sends a reply; with a limit, only so many bytes of its body, and no end.
    pub(super) async fn send(&mut self, reply: &Reply, limit: Option<usize>) -> io::Result<()> {
        let mut bytes = head(reply).into_bytes();
        let size = limit.unwrap_or(usize::MAX).min(reply.body.len());
        let mut body = &reply.body[..size];
        if matches!(reply.pieces, Pieces::Whole) {
            bytes.extend_from_slice(body);
            return self.stream.write_all(&bytes).await;
        }
        self.stream.write_all(&bytes).await?;
        let mut odd_sizes = ODD_SIZES.iter().cycle();
        while !body.is_empty() {
            let size = match reply.pieces {
                Pieces::Of(size) => size.max(1),
                Pieces::Odd | Pieces::Whole => *odd_sizes.next().unwrap_or(&1),
            };
            let (piece, rest) = body.split_at(size.min(body.len()));
            bytes.clear();
            bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
            bytes.extend_from_slice(piece);
            bytes.extend_from_slice(b"\r\n");
            self.stream.write_all(&bytes).await?;
            body = rest;
        }
        if limit.is_none() {
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
    let is_framed = |name: &str| name == "content-length" || name == "transfer-encoding";
    if !reply.headers.iter().any(|(name, _)| is_framed(&name.to_ascii_lowercase())) {
        match reply.pieces {
            Pieces::Whole => head.push_str(&format!("content-length: {}\r\n", reply.body.len())),
            Pieces::Odd | Pieces::Of(_) => head.push_str("transfer-encoding: chunked\r\n"),
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
