//! The outgoing side of a stdio connection: a queue of messages, each reply in the framing of its request. A message is written at once if the
//! pipe has room; otherwise a background task writes it when the pipe has room again.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::io::AsyncWrite;
use tokio::sync::{Notify, oneshot};

use crate::framing::Framing;

/// The queue of outgoing messages and its writer.
#[derive(Clone)]
pub struct Outgoing(Arc<SharedQueue>);

struct SharedQueue {
    sink: Mutex<Sink>,
    /// Notified whenever bytes were written, or writing has failed.
    progress: Notify,
    /// The number of bytes in the queue. It is kept outside the sink so that reading it needs no lock.
    unwritten: AtomicUsize,
    /// Whether writing has failed; like `unwritten`, readable without the lock.
    failed: AtomicBool,
    /// Whether messages that answer no request get `Content-Length` headers.
    use_headers: AtomicBool,
    lines_only: bool,
}

/// The writer and the queue in front of it.
struct Sink {
    writer: Box<dyn AsyncWrite + Unpin + Send>,
    queue: VecDeque<Item>,
    /// How many bytes of the first item are written.
    offset: usize,
    /// Whether the writer may still buffer bytes that were written to it.
    needs_flush: bool,
    /// Why writing has failed; nothing is written after that.
    write_error: Option<io::ErrorKind>,
    /// Wakes the background task when the pipe has room again.
    waker: Option<Waker>,
}

struct Item {
    bytes: Vec<u8>,
    /// Notified when the item is written.
    receipt: Option<oneshot::Sender<io::Result<()>>>,
}

impl Outgoing {
    /// Starts the background task that writes to `writer`.
    pub fn start(writer: impl AsyncWrite + Unpin + Send + 'static, lines_only: bool) -> Self {
        let sink = Sink {
            writer: Box::new(writer),
            queue: VecDeque::new(),
            offset: 0,
            needs_flush: false,
            write_error: None,
            waker: None,
        };
        let shared = SharedQueue {
            sink: Mutex::new(sink),
            progress: Notify::new(),
            unwritten: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            use_headers: AtomicBool::new(false),
            lines_only,
        };
        let outgoing = Self(Arc::new(shared));
        let pump = outgoing.clone();
        tokio::spawn(poll_fn(move |context| pump.poll(context)));
        outgoing
    }

    /// Sends serialized JSON in this framing, or in the one that the client used last. The receiver reports when it is
    /// written.
    pub fn enqueue_with_receipt(
        &self,
        json: Vec<u8>,
        framing: Option<Framing>,
    ) -> oneshot::Receiver<io::Result<()>> {
        let (receipt, written) = oneshot::channel();
        self.put(json, framing, Some(receipt));
        written
    }

    /// Sends serialized JSON in this framing.
    pub fn enqueue(&self, json: Vec<u8>, framing: Framing) {
        self.put(json, Some(framing), None);
    }

    fn put(&self, json: Vec<u8>, framing: Option<Framing>, receipt: Option<oneshot::Sender<io::Result<()>>>) {
        let use_headers = match framing {
            Some(framing) => framing == Framing::Headers,
            None => self.0.use_headers.load(Ordering::Relaxed),
        };
        let framed = use_headers && !self.0.lines_only;
        tracing::debug!("send {} bytes={}", if framed { "framed" } else { "line" }, json.len());
        let bytes = if framed {
            let head = format!("Content-Length: {}\r\n\r\n", json.len());
            [head.as_bytes(), &json].concat()
        } else {
            let mut line = json;
            line.push(b'\n');
            line
        };
        let mut sink = self.lock();
        self.0.unwritten.fetch_add(bytes.len(), Ordering::Relaxed);
        sink.queue.push_back(Item { bytes, receipt });
        // In the common case the pipe has room, and the message is written without switching to the background task.
        if let Some(waker) = sink.waker.clone() {
            self.drive(&mut sink, &mut Context::from_waker(&waker));
        }
    }

    /// Sets the framing of the messages that answer no request, such as progress.
    pub fn set_framing(&self, framing: Framing) {
        self.0.use_headers.store(framing == Framing::Headers, Ordering::Relaxed);
    }

    /// The number of bytes that are not written yet.
    pub fn unwritten(&self) -> usize {
        self.0.unwritten.load(Ordering::Relaxed)
    }

    /// Whether writing has failed, so that nothing more can be written.
    pub fn has_failed(&self) -> bool {
        self.0.failed.load(Ordering::Relaxed)
    }

    /// Whether everything is written and flushed, or writing has failed.
    pub fn is_flushed(&self) -> bool {
        let sink = self.lock();
        sink.write_error.is_some() || (sink.queue.is_empty() && !sink.needs_flush)
    }

    /// Why writing has failed; `BrokenPipe` when the client has closed its end.
    pub fn write_error(&self) -> Option<io::ErrorKind> {
        self.lock().write_error
    }

    /// Waits until more bytes have been written, or writing has failed.
    pub async fn progress(&self) {
        self.0.progress.notified().await;
    }

    /// The background task, which writes when the pipe has room again. It never completes; it ends with the runtime.
    fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut sink = self.lock();
        sink.waker = Some(context.waker().clone());
        self.drive(&mut sink, context);
        Poll::Pending
    }

    /// Writes until the queue is empty or the pipe is full.
    fn drive(&self, sink: &mut Sink, context: &mut Context<'_>) {
        while let Some(item) = sink.queue.front() {
            let rest = item.bytes.get(sink.offset..).unwrap_or_default();
            match Pin::new(&mut sink.writer).poll_write(context, rest) {
                Poll::Pending => return,
                Poll::Ready(Ok(size)) if size > 0 && size < rest.len() => sink.offset += size,
                Poll::Ready(Ok(size)) if size > 0 => self.finish(sink, Ok(())),
                Poll::Ready(Ok(_)) => self.fail(sink, io::ErrorKind::WriteZero),
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => self.fail(sink, error.kind()),
            }
            self.0.progress.notify_one();
        }
        match Pin::new(&mut sink.writer).poll_flush(context) {
            Poll::Ready(Ok(())) => sink.needs_flush = false,
            Poll::Ready(Err(error)) => self.fail(sink, error.kind()),
            // The writer still buffers bytes; it wakes the background task when they are written.
            Poll::Pending => return,
        }
        self.0.progress.notify_one();
    }

    /// Removes the first item and reports its result.
    fn finish(&self, sink: &mut Sink, result: io::Result<()>) {
        if let Some(item) = sink.queue.pop_front() {
            sink.needs_flush = true;
            sink.offset = 0;
            self.0.unwritten.fetch_sub(item.bytes.len(), Ordering::Relaxed);
            if let Some(receipt) = item.receipt {
                let _ = receipt.send(result);
            }
        }
    }

    /// Records that writing has failed, and reports the error for every item in the queue.
    fn fail(&self, sink: &mut Sink, error: io::ErrorKind) {
        sink.write_error = Some(error);
        self.0.failed.store(true, Ordering::Relaxed);
        while !sink.queue.is_empty() {
            self.finish(sink, Err(error.into()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Sink> {
        self.0.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
