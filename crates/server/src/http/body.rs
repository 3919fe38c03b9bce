//! Reads a request body into memory, with limits on its size and on the time it may take.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, EXPECT};
use http::{HeaderMap, StatusCode};
use http_body::Body as _;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

/// How long a client may take to send a body. A body of 4 MiB arrives within 30 seconds on any usual link; a slower one
/// is answered with 408, so that slow clients cannot collect connections.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Why a body could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// It is larger than the limit, given here in bytes.
    #[error("the body is longer than {0} bytes (server.max_body_bytes)")]
    TooLarge(usize),
    /// It did not arrive in time.
    #[error("the body took longer than {} s", BODY_TIMEOUT.as_secs())]
    TimedOut,
    /// The connection ended before the body did.
    #[error("the body ended early")]
    Incomplete,
}

impl BodyError {
    /// The HTTP status of the response.
    pub const fn status(self) -> StatusCode {
        match self {
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TimedOut => StatusCode::REQUEST_TIMEOUT,
            Self::Incomplete => StatusCode::BAD_REQUEST,
        }
    }

    /// The `code` of the JSON error body of a REST route.
    pub const fn code(self) -> &'static str {
        match self {
            Self::TooLarge(_) => "too_large",
            Self::TimedOut => "timed_out",
            Self::Incomplete => "validation_error",
        }
    }
}

/// How long a body that is not wanted is read, so that the client gets to read the response.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(2);

/// Reads up to `limit` bytes of a body that is not wanted and drops them, beside the response: a client that is still sending
/// may not read the response, and a proxy would turn it into an error of its own. The connection ends if there is more.
pub fn discard(headers: &HeaderMap, mut body: Body, limit: usize) {
    // Reading would tell such a client to send its body.
    if headers.contains_key(EXPECT) || body.is_end_stream() {
        return;
    }
    tokio::spawn(tokio::time::timeout(DISCARD_TIMEOUT, async move {
        let mut size = 0_usize;
        while let Some(Ok(frame)) = body.frame().await {
            size += frame.data_ref().map_or(0, Bytes::len);
            if size > limit {
                break;
            }
        }
    }));
}

/// Reads a body of at most `keep` bytes; `None` if it is longer or cannot be read. Then its rest is discarded, up to `limit`
/// bytes.
pub async fn read_or_discard(
    headers: &HeaderMap,
    mut body: Body,
    keep: usize,
    limit: usize,
) -> Option<Bytes> {
    let read = async {
        let mut kept = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return None };
            kept.extend_from_slice(frame.data_ref().map_or(&[], Bytes::as_ref));
            if kept.len() > keep {
                return None;
            }
        }
        Some(Bytes::from(kept))
    };
    let read = tokio::time::timeout(BODY_TIMEOUT, read).await.ok().flatten();
    if read.is_none() {
        discard(headers, body, limit);
    }
    read
}

/// Reads a body of at most `limit` bytes. A larger `Content-Length` is refused before anything is read.
pub async fn read(headers: &HeaderMap, body: Body, limit: usize) -> Result<Bytes, BodyError> {
    let declared = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if declared.is_some_and(|length: u64| length > limit as u64) {
        return Err(BodyError::TooLarge(limit));
    }
    match tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, limit).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(BodyError::TooLarge(limit)),
        Ok(Err(_)) => Err(BodyError::Incomplete),
        Err(_) => Err(BodyError::TimedOut),
    }
}
