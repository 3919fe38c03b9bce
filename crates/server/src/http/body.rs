//! Reads a request body into memory, within limits on its size, on the time it may take, and on the bytes of all bodies
//! together.

use std::net::IpAddr;
use std::time::Duration;

use annai_core::PeerAddress;
use axum::body::Body;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, EXPECT};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::pending_bytes::{NoRoom, PendingBytes, ReservedBytes};

/// How long a client may take to send a body. A body of 4 MiB arrives within 30 seconds on any usual link; a slower one
/// is answered with 408, so that slow clients cannot collect connections.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a client may pause within a body while others wait for the memory that it holds; then it is answered with 408.
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// How long a body that is not wanted is read in all, so that a client which sends everything before it reads gets to read
/// the response.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client may pause within such a body; then the connection ends.
const DISCARD_MAX_PAUSE: Duration = Duration::from_secs(2);
/// The maximum size of a body that is read only to be dropped; the connection of a larger one ends early.
const MAX_DISCARDED_BYTES: usize = 64 << 20;

/// How many bodies are discarded at the same time. Each has a buffer of up to 64 KiB.
static DISCARDS: Semaphore = Semaphore::const_new(128);

/// Why a body could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// It is larger than the limit, given here in bytes.
    #[error("the body is longer than {0} bytes (server.max_body_bytes)")]
    TooLarge(usize),
    /// It did not arrive in time.
    #[error("the body took longer than {} s, or paused while others waited", BODY_TIMEOUT.as_secs())]
    TimedOut,
    /// The connection ended before the body did.
    #[error("the body ended early")]
    Incomplete,
    /// There was no room for it in time.
    #[error("too many requests are being received (server.max_pending_bytes); try again in a few seconds")]
    Busy,
    /// The peer has too many bodies in memory.
    #[error("too much is being received from this address (server.max_pending_bytes_per_peer); try again")]
    PeerBusy,
}

impl BodyError {
    /// The HTTP status of the response.
    pub const fn status(self) -> StatusCode {
        match self {
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TimedOut => StatusCode::REQUEST_TIMEOUT,
            Self::Incomplete => StatusCode::BAD_REQUEST,
            Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Self::PeerBusy => StatusCode::TOO_MANY_REQUESTS,
        }
    }

    /// The `code` of the JSON error body of a REST route.
    pub const fn code(self) -> &'static str {
        match self {
            Self::TooLarge(_) => "too_large",
            Self::TimedOut => "timed_out",
            Self::Incomplete => "validation_error",
            Self::Busy => "unavailable",
            Self::PeerBusy => "rate_limited",
        }
    }
}

/// A body, and what it takes from the budget until its message is handled.
pub struct ReadBody {
    /// The bytes.
    pub bytes: Bytes,
    /// Their share of the budget.
    pub reserved: ReservedBytes,
}

/// Reads a body that is not wanted and drops it, beside the response: a client that is still sending may not read the
/// response, and a proxy would turn it into an error of its own. The connection ends if there is too much.
pub fn discard(headers: &HeaderMap, mut body: Body) {
    // Reading would tell such a client to send its body.
    if headers.contains_key(EXPECT) || body.is_end_stream() {
        return;
    }
    // With more of them, the connections end without this courtesy.
    let Ok(permit) = DISCARDS.try_acquire() else { return };
    tokio::spawn(tokio::time::timeout(DISCARD_TIMEOUT, async move {
        let _permit = permit;
        let mut size = 0_usize;
        while size <= MAX_DISCARDED_BYTES
            && let Ok(Some(Ok(frame))) = tokio::time::timeout(DISCARD_MAX_PAUSE, body.frame()).await
        {
            size = size.saturating_add(frame.data_ref().map_or(0, Bytes::len));
        }
    }));
}

/// Reads a body of at most `limit` bytes. A larger `Content-Length` is refused before anything is read. The rest of a body
/// that is too large is discarded.
pub async fn read(
    parts: &Parts,
    mut body: Body,
    limit: usize,
    budget: &PendingBytes,
) -> Result<ReadBody, BodyError> {
    let read = read_within(parts, &mut body, limit, budget).await;
    if matches!(read, Err(BodyError::TooLarge(_))) {
        discard(&parts.headers, body);
    }
    read
}

async fn read_within(
    parts: &Parts,
    body: &mut Body,
    limit: usize,
    budget: &PendingBytes,
) -> Result<ReadBody, BodyError> {
    let declared = parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if declared.is_some_and(|length: u64| length > limit as u64) {
        return Err(BodyError::TooLarge(limit));
    }
    let size = declared.map_or(limit, |length| usize::try_from(length).unwrap_or(limit));
    let peer: Option<IpAddr> = parts.extensions.get::<PeerAddress>().map(|peer| peer.0.ip());
    let deadline = Instant::now() + BODY_TIMEOUT;
    let mut reserved = match tokio::time::timeout_at(deadline, budget.reserve(size, peer)).await {
        Ok(Ok(reserved)) => reserved,
        Ok(Err(NoRoom::Peer)) => return Err(BodyError::PeerBusy),
        Ok(Err(NoRoom::Queue)) | Err(_) => return Err(BodyError::Busy),
    };
    // Nearly every body arrives in one piece, which is then used as it is.
    let mut first: Option<Bytes> = None;
    let mut bytes = Vec::new();
    loop {
        let frame = match tokio::time::timeout(MAX_PAUSE, body.frame()).await {
            Ok(None) => break,
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(_))) => return Err(BodyError::Incomplete),
            Err(_) if Instant::now() >= deadline || budget.is_tight(size) => return Err(BodyError::TimedOut),
            Err(_) => continue,
        };
        // Slow clients make progress, so the deadline is checked here, too.
        if Instant::now() >= deadline {
            return Err(BodyError::TimedOut);
        }
        let Ok(data) = frame.into_data() else { continue };
        let received = first.as_ref().map_or(bytes.len(), Bytes::len);
        if received + data.len() > limit {
            return Err(BodyError::TooLarge(limit));
        }
        match first.take() {
            None if bytes.is_empty() => first = Some(data),
            first => {
                if let Some(first) = first {
                    bytes.reserve_exact(declared.map_or(first.len() + data.len(), |_| size));
                    bytes.extend_from_slice(&first);
                }
                bytes.extend_from_slice(&data);
            }
        }
    }
    let bytes = first.unwrap_or_else(|| Bytes::from(bytes));
    reserved.shrink_to(bytes.len());
    Ok(ReadBody { bytes, reserved })
}
