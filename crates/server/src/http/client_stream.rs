//! The stream of a client: it fails with `TimedOut` when the client stops reading, and counts what is read from it.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::BufMut as _;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, Sleep, sleep_until};

use super::connections::Connection;

/// How long a connection is kept whose client has sent more than was read. Closing it at once would make the client's system
/// throw the response away; after a second the client has read it, or never will.
const LINGER: Duration = Duration::from_secs(1);

/// How much is read from a client at once. Hyper doubles its buffer, up to the limit of a head, whenever a read fills it; a
/// connection that waits for room in the budget of bodies would keep all of that, uncounted. A read that is shorter than the
/// first buffer of 8 KiB never makes it grow, and a body of 4 MiB still takes only milliseconds.
const MAX_READ_BYTES: usize = 8 * 1024 - 1;

/// Whether something that the client has sent, or is about to send, will not be read.
#[derive(Debug, Clone, Default)]
pub struct UnreadInput(Arc<AtomicBool>);

/// How many connections are kept in this way at the same time. Each has its buffers; further ones are closed at once.
static LINGERING: Semaphore = Semaphore::const_new(128);

impl UnreadInput {
    /// The rest of the input will not be read, and the connection ends with this response.
    pub fn leave(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the connection ends with this response.
    pub fn is_left(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A TCP stream whose writes time out and whose reads are counted. Hyper limits how long a client may take to send a request,
/// but not how long it may take to read the response; without this, a client that never reads would hold its connection
/// forever. And it limits each head, but not all of them together.
pub struct ClientStream {
    stream: TcpStream,
    timeout: Duration,
    /// When the blocked write times out; `None` while no write is blocked.
    deadline: Option<Pin<Box<Sleep>>>,
    connection: Connection,
    unread: UnreadInput,
    /// When a connection that ends with unread input is closed, and its place among those.
    closes: Option<(Pin<Box<Sleep>>, SemaphorePermit<'static>)>,
}

impl ClientStream {
    /// Wraps a stream. A write that makes no progress for `timeout` fails.
    pub const fn new(
        stream: TcpStream,
        timeout: Duration,
        connection: Connection,
        unread: UnreadInput,
    ) -> Self {
        Self { stream, timeout, deadline: None, connection, unread, closes: None }
    }

    /// Passes on the result of a write. A blocked write starts the timeout; any progress resets it.
    fn with_timeout<T>(
        &mut self,
        context: &mut Context<'_>,
        result: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.deadline = None;
            return result;
        }
        let timeout = self.timeout;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + timeout)));
        deadline.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let size = loop {
            ready!(this.stream.poll_read_ready(context))?;
            // The buffer of a connection that has nothing to read is not touched, so that it takes no memory yet.
            match this.stream.try_read_buf(&mut (&mut *buffer).limit(MAX_READ_BYTES)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => break read?,
            }
        };
        if this.connection.add_read(size) {
            return Poll::Ready(Ok(()));
        }
        tracing::debug!("a connection was closed: too many long heads are incomplete");
        Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()))
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.with_timeout(context, result)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.stream).poll_write_vectored(context, parts);
        this.with_timeout(context, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.closes.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(context))?;
            let permit = if this.unread.is_left() { LINGERING.try_acquire().ok() } else { None };
            this.closes = permit.map(|permit| (Box::pin(sleep_until(Instant::now() + LINGER)), permit));
        }
        match &mut this.closes {
            Some((closes, _)) => closes.as_mut().poll(context).map(Ok),
            None => Poll::Ready(Ok(())),
        }
    }
}
