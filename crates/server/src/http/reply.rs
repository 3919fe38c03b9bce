//! Builders for the responses of this crate. Every body is JSON, also that of an error.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use http_body::{Frame, SizeHint};
use serde_json::{Value, json};

use crate::failure::RpcError;

/// A response with a JSON value as its body.
pub fn json(status: StatusCode, body: &Value) -> Response {
    bytes(status, body.to_string())
}

/// A response whose body is JSON that is already serialized.
pub fn bytes(status: StatusCode, json: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Body::from(json.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The same for JSON in pieces, which are sent without being copied into one.
pub fn pieces(status: StatusCode, json: impl IntoIterator<Item = Bytes>) -> Response {
    let pieces: VecDeque<_> = json.into_iter().collect();
    let left = pieces.iter().map(|piece| piece.len() as u64).sum();
    bytes(status, Bytes::new()).map(|_| Body::new(Pieces { pieces, left }))
}

/// A body in pieces whose length is known.
struct Pieces {
    pieces: VecDeque<Bytes>,
    left: u64,
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        let piece = this.pieces.pop_front();
        this.left -= piece.as_ref().map_or(0, |piece| piece.len() as u64);
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// A response without a body.
pub fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// `{"error":{code,message}}`, the error body of every route except `/mcp`.
pub fn error(status: StatusCode, code: &str, message: &str) -> Response {
    json(status, &json!({ "error": { "code": code, "message": message } }))
}

/// A JSON-RPC error, the error body of `/mcp`.
pub fn rpc_error(status: StatusCode, error: &RpcError) -> Response {
    bytes(status, error.to_json())
}
