//! What goes out: messages in the client's framing, written in order, at once where the pipe takes them.

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

/// Where messages are put to be written.
#[derive(Clone)]
pub struct Outgoing(Arc<Shared>);

struct Shared {
    sink: Mutex<Sink>,
    /// Something more was written, or never will be.
    written: Notify,
    /// Bytes that wait to be written, kept beside the sink so that a look at them needs no lock.
    unwritten: AtomicUsize,
    broken: AtomicBool,
    framed: AtomicBool,
    lines_only: bool,
}

/// The writer and what waits for it.
struct Sink {
    writer: Box<dyn AsyncWrite + Unpin + Send>,
    queue: VecDeque<Item>,
    /// How much of the first item is written.
    offset: usize,
    /// The writer may still keep something that it was given.
    dirty: bool,
    broken: Option<io::ErrorKind>,
    /// Wakes the task that goes on when the pipe takes more.
    waker: Option<Waker>,
}

struct Item {
    bytes: Vec<u8>,
    /// Who waits for it to be out.
    done: Option<oneshot::Sender<io::Result<()>>>,
}

impl Outgoing {
    /// Writes to `writer` from now on.
    pub fn start(writer: impl AsyncWrite + Unpin + Send + 'static, lines_only: bool) -> Self {
        let sink = Sink {
            writer: Box::new(writer),
            queue: VecDeque::new(),
            offset: 0,
            dirty: false,
            broken: None,
            waker: None,
        };
        let shared = Shared {
            sink: Mutex::new(sink),
            written: Notify::new(),
            unwritten: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            framed: AtomicBool::new(false),
            lines_only,
        };
        let outgoing = Self(Arc::new(shared));
        let pump = outgoing.clone();
        tokio::spawn(poll_fn(move |context| pump.poll(context)));
        outgoing
    }

    /// Sends a JSON text in the framing that the client last used. The receiver tells when it is written.
    pub fn push(&self, json: Vec<u8>) -> oneshot::Receiver<io::Result<()>> {
        let (done, wait) = oneshot::channel();
        self.put(json, Some(done));
        wait
    }

    /// Sends a JSON text that nobody waits for.
    pub fn post(&self, json: Vec<u8>) {
        self.put(json, None);
    }

    fn put(&self, json: Vec<u8>, done: Option<oneshot::Sender<io::Result<()>>>) {
        let framed = self.0.framed.load(Ordering::Relaxed) && !self.0.lines_only;
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
        sink.queue.push_back(Item { bytes, done });
        // The common case: the pipe has room, and no other task needs to run for this.
        if let Some(waker) = sink.waker.clone() {
            self.drive(&mut sink, &mut Context::from_waker(&waker));
        }
    }

    /// Answers from now on in this framing.
    pub fn speak(&self, framing: Framing) {
        self.0.framed.store(framing == Framing::Headers, Ordering::Relaxed);
    }

    /// Bytes that wait to be written.
    pub fn unwritten(&self) -> usize {
        self.0.unwritten.load(Ordering::Relaxed)
    }

    /// Whether nothing more can be written.
    pub fn is_broken(&self) -> bool {
        self.0.broken.load(Ordering::Relaxed)
    }

    /// Whether everything is out, or never will be.
    pub fn is_done(&self) -> bool {
        let sink = self.lock();
        sink.broken.is_some() || (sink.queue.is_empty() && !sink.dirty)
    }

    /// Why nothing more can be written: the reader is gone, or worse.
    pub fn broken(&self) -> Option<io::ErrorKind> {
        self.lock().broken
    }

    /// Waits until something more has been written, or failed to be.
    pub async fn written(&self) {
        self.0.written.notified().await;
    }

    /// The task that goes on writing when the pipe takes more. It ends with the process.
    fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut sink = self.lock();
        sink.waker = Some(context.waker().clone());
        self.drive(&mut sink, context);
        Poll::Pending
    }

    /// Writes until nothing waits or the pipe takes no more.
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
            self.0.written.notify_one();
        }
        match Pin::new(&mut sink.writer).poll_flush(context) {
            Poll::Ready(Ok(())) => sink.dirty = false,
            Poll::Ready(Err(error)) => self.fail(sink, error.kind()),
            // A writer that keeps what it was given; it wakes the task when that is out.
            Poll::Pending => return,
        }
        self.0.written.notify_one();
    }

    /// The first item is out, or never will be.
    fn finish(&self, sink: &mut Sink, result: io::Result<()>) {
        if let Some(item) = sink.queue.pop_front() {
            sink.dirty = true;
            sink.offset = 0;
            self.0.unwritten.fetch_sub(item.bytes.len(), Ordering::Relaxed);
            if let Some(done) = item.done {
                let _ = done.send(result);
            }
        }
    }

    /// Nobody reads any more: nothing waits any longer.
    fn fail(&self, sink: &mut Sink, why: io::ErrorKind) {
        sink.broken = Some(why);
        self.0.broken.store(true, Ordering::Relaxed);
        while !sink.queue.is_empty() {
            self.finish(sink, Err(why.into()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Sink> {
        self.0.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
