//! A response body that keeps a value, such as a permit, until it has been sent: a stream counts as in flight while it lasts.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};

/// A body, and the value that is dropped with it.
pub struct HeldBody<T> {
    body: Body,
    _value: T,
}

impl<T> HeldBody<T> {
    pub const fn new(value: T, body: Body) -> Self {
        Self { body, _value: value }
    }
}

impl<T: Unpin> http_body::Body for HeldBody<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
