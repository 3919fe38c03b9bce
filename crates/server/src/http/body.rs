//! Reads a request body into memory, within limits on its size, on the time it may take, and on the bytes of all bodies
//! together. What is not wanted of a body is dropped.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, EXPECT};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::client_stream::UnreadInput;
use super::pace::Pace;
use super::pending_bytes::{Granted, NoRoom, ReservedBytes};

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
/// How much is read of a body that is too large, only to be dropped; the connection of a larger one ends early.
const MAX_DISCARDED_BYTES: usize = 64 << 20;
/// How much is read of the body of a request that is refused whatever its body is: the id of a request is in it, and ordinary
/// requests fit, so that their connections stay open. The rest is never read.
pub const REFUSED_BODY_BYTES: usize = 8 << 10;

/// How many bodies are discarded at the same time. Each has a buffer of up to 64 KiB.
static DISCARDS: Semaphore = Semaphore::const_new(128);

/// Why a body could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// It is larger than the limit, given here in bytes.
    #[error("the body is longer than {0} bytes (server.max_body_bytes)")]
    TooLarge(usize),
    /// It did not arrive in time.
    #[error(
        "the body took longer than {} s, arrived with less than 1 KiB a second, or paused while others waited",
        BODY_TIMEOUT.as_secs()
    )]
    TimedOut,
    /// The connection ended before the body did.
    #[error("the body ended early")]
    Incomplete,
    /// There was no room for it in time.
    #[error("too many requests are being received (server.max_pending_bytes); try again in a few seconds")]
    Busy,
    /// The sender has too many bodies in memory.
    #[error("too much is being received from this sender (server.max_pending_bytes_per_peer); try again")]
    SenderBusy,
}

impl BodyError {
    /// The HTTP status of the response.
    pub const fn status(self) -> StatusCode {
        match self {
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TimedOut => StatusCode::REQUEST_TIMEOUT,
            Self::Incomplete => StatusCode::BAD_REQUEST,
            Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Self::SenderBusy => StatusCode::TOO_MANY_REQUESTS,
        }
    }

    /// The `code` of the JSON error body of a REST route.
    pub const fn code(self) -> &'static str {
        match self {
            Self::TooLarge(_) => "too_large",
            Self::TimedOut => "timed_out",
            Self::Incomplete => "validation_error",
            Self::Busy => "unavailable",
            Self::SenderBusy => "rate_limited",
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

/// A body that nobody has read yet. If nobody does, its beginning is read and dropped, beside the response: a client that is
/// still sending may not read the response, and a proxy would turn it into an error of its own.
pub struct UnreadBody {
    body: Option<Body>,
    leftover: Leftover,
}

impl UnreadBody {
    /// The body of a request with this head.
    pub fn new(parts: &Parts, body: Body) -> Self {
        Self { body: Some(body), leftover: Leftover::of(parts) }
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    /// Reads a body of at most `limit` bytes. A larger `Content-Length` is refused before anything is read. The rest of a
    /// body that is too large is discarded.
    ///
    /// # Errors
    ///
    /// The body is too large or too slow, or there is no room for it.
    pub async fn read(mut self, limit: usize, mut reserved: ReservedBytes) -> Result<ReadBody, BodyError> {
        let Some(mut body) = self.body.take() else { return Err(BodyError::Incomplete) };
        match read_within(self.leftover.declared, &mut body, limit, &mut reserved).await {
            Ok(bytes) => Ok(ReadBody { bytes, reserved }),
            Err(error) => {
                let rest = if matches!(error, BodyError::TooLarge(_)) { MAX_DISCARDED_BYTES } else { 0 };
                self.leftover.discard(body, rest);
                Err(error)
            }
        }
    }

    /// Reads the body of a request that is refused whatever its body is; `None` unless it is short and arrives.
    pub async fn read_refused(mut self, reserved: ReservedBytes) -> Option<Bytes> {
        if self.leftover.declared.is_some_and(|length| length > REFUSED_BODY_BYTES as u64) {
            return None;
        }
        let (mut body, mut reserved) = (self.body.take()?, reserved);
        let read = read_within(None, &mut body, REFUSED_BODY_BYTES, &mut reserved).await;
        if read.is_err() {
            self.leftover.discard(body, 0);
        }
        read.ok()
    }
}

impl Drop for UnreadBody {
    fn drop(&mut self) {
        if let Some(body) = self.body.take() {
            self.leftover.discard(body, REFUSED_BODY_BYTES);
        }
    }
}

/// What has to be known about a request to drop the rest of its body.
#[derive(Clone)]
struct Leftover {
    declared: Option<u64>,
    /// Whether the client waits for permission to send its body. Reading would give it.
    expects_permission: bool,
    unread: Option<UnreadInput>,
}

impl Leftover {
    fn of(parts: &Parts) -> Self {
        Self {
            declared: declared(&parts.headers),
            expects_permission: parts.headers.contains_key(EXPECT),
            unread: parts.extensions.get().cloned(),
        }
    }

    /// Reads and drops up to `limit` bytes of a body. The connection ends if there is more, or if too many bodies are being
    /// discarded.
    fn discard(&self, mut body: Body, limit: usize) {
        if self.expects_permission || body.is_end_stream() {
            return;
        }
        let leftover = self.clone();
        let fits = self.declared.is_none_or(|length| length <= limit as u64);
        let permit = if fits { DISCARDS.try_acquire().ok() } else { None };
        // A body may be dropped by the end of the runtime itself.
        let (Some(permit), Ok(runtime)) = (permit, Handle::try_current()) else { return leftover.leave() };
        runtime.spawn(async move {
            let _permit = permit;
            let reading = async {
                let mut size = 0_usize;
                while size <= limit
                    && let Ok(Some(Ok(frame))) = tokio::time::timeout(DISCARD_MAX_PAUSE, body.frame()).await
                {
                    size = size.saturating_add(frame.data_ref().map_or(0, Bytes::len));
                }
            };
            let _ = tokio::time::timeout(DISCARD_TIMEOUT, reading).await;
            if !body.is_end_stream() {
                leftover.leave();
            }
        });
    }

    /// Notes, before the body is dropped and the connection ends, that the client may still be sending.
    fn leave(&self) {
        if let Some(unread) = &self.unread {
            unread.leave();
        }
    }
}

/// The size of a body, as the client states it.
pub fn declared(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok())
}

async fn read_within(
    declared: Option<u64>,
    body: &mut Body,
    limit: usize,
    reserved: &mut ReservedBytes,
) -> Result<Bytes, BodyError> {
    if declared.is_some_and(|length| length > limit as u64) {
        return Err(BodyError::TooLarge(limit));
    }
    let (mut pace, mut arrived) = (Pace::new(), Instant::now());
    let deadline = arrived + BODY_TIMEOUT;
    // Nearly every body arrives in one piece, which is then used as it is.
    let mut whole: Option<Bytes> = None;
    let mut bytes = Vec::new();
    loop {
        let frame = tokio::time::timeout_at(pace.next_look().min(deadline), body.frame()).await;
        // Slow clients make progress, so the pace is looked at in any case.
        if Instant::now() >= deadline || pace.is_too_slow() {
            return Err(BodyError::TimedOut);
        }
        let frame = match frame {
            Ok(None) => break,
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(_))) => return Err(BodyError::Incomplete),
            Err(_) if arrived.elapsed() >= MAX_PAUSE && reserved.is_tight() => {
                return Err(BodyError::TimedOut);
            }
            Err(_) => continue,
        };
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > limit {
            return Err(BodyError::TooLarge(limit));
        }
        pace.add(data.len());
        match tokio::time::timeout_at(deadline, reserved.grow(data.len())).await {
            Ok(Ok(Granted::AtOnce)) => {}
            Ok(Ok(Granted::Later)) => pace.resume(),
            Ok(Err(NoRoom::Sender)) => return Err(BodyError::SenderBusy),
            Ok(Err(NoRoom::Queue)) | Err(_) => return Err(BodyError::Busy),
        }
        arrived = Instant::now();
        if declared == Some(data.len() as u64) {
            whole = Some(data);
        } else {
            // A piece is a part of the connection's buffer, all of which would stay in memory with it.
            bytes.extend_from_slice(&data);
        }
    }
    Ok(whole.unwrap_or_else(|| Bytes::from(bytes)))
}
