//! MCP over standard input and output: a transport for the SDK that answers everything, survives
//! everything, and ends when its work is done.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use annai_core::Registry;
use bytes::Bytes;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, GetExtensions, GetMeta,
    JsonRpcMessage, JsonRpcRequest, ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{Service, serve_directly};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::Server;
use crate::framing::{Decoder, Frame, Refused};
use crate::message::{self, Refusal};
use crate::outgoing::{Outgoing, encode};

/// No more is read while so much waits to be written.
const MOST_UNWRITTEN: usize = 8 << 20;
/// No more is read while so many requests wait for a slot. Until then cancellations are still heard.
const MOST_WAITING: usize = 1024;
/// No more is read while the requests in memory are so many times the longest one.
const MOST_REQUESTS_HELD: usize = 4;
/// How long calls may go on after a signal.
const GRACE: Duration = Duration::from_secs(10);
/// How long the last words may take.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The limits and habits of one connection.
#[derive(Clone)]
pub struct Options {
    /// The longest message that is read.
    pub max_message_bytes: usize,
    /// How many calls run at once.
    pub max_in_flight: usize,
    /// Answer with lines, whatever the client sends.
    pub lines_only: bool,
    /// The `tools` array of `tools/list`, for a service that leaves it empty.
    pub tools: Option<ToolList>,
}

/// Gives the serialised `tools` array when it is first asked for.
pub type ToolList = Arc<dyn Fn() -> Bytes + Send + Sync>;

impl Options {
    /// As the `server` section says, with the list of the registry's tools.
    #[must_use]
    pub fn new(server: &Server, registry: Arc<Registry>) -> Self {
        Self {
            max_message_bytes: usize::try_from(server.max_message_bytes).unwrap_or(usize::MAX),
            max_in_flight: usize::try_from(server.max_in_flight).unwrap_or(usize::MAX),
            lines_only: server.line_mode,
            tools: Some(Arc::new(move || registry.list().clone())),
        }
    }
}

/// Serves on the process's own input and output, and ends on `SIGTERM` and `SIGINT`.
pub async fn serve_process<S: Service<RoleServer>>(service: S, options: Options) {
    let stop = CancellationToken::new();
    tokio::spawn(signals(stop.clone()));
    let (input, output) = rmcp::transport::stdio_pipes();
    serve(service, input, output, options, stop).await;
}

/// The first signal asks to end; the second does not ask.
async fn signals(stop: CancellationToken) {
    if let Some(name) = signal().await {
        tracing::info!("{name}: ending when the calls under way are answered");
        stop.cancel();
        if signal().await.is_some() {
            std::process::exit(130);
        }
    }
}

#[cfg(unix)]
async fn signal() -> Option<&'static str> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) =
        (signal(SignalKind::terminate()).ok()?, signal(SignalKind::interrupt()).ok()?);
    tokio::select! {
        _ = terminate.recv() => Some("SIGTERM"),
        _ = interrupt.recv() => Some("SIGINT"),
    }
}

#[cfg(not(unix))]
async fn signal() -> Option<&'static str> {
    tokio::signal::ctrl_c().await.ok().map(|()| "Ctrl-C")
}

/// Serves until the input ends and every call is answered, or until `stop` and ten seconds more.
pub async fn serve<S: Service<RoleServer>>(
    service: S,
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
    options: Options,
    stop: CancellationToken,
) {
    let outgoing = Outgoing::start(output, options.lines_only);
    let pending = Pending::default();
    let transport = Stdio {
        input,
        decoder: Decoder::new(options.max_message_bytes),
        outgoing: outgoing.clone(),
        pending: pending.clone(),
        waiting: VecDeque::new(),
        load: Arc::default(),
        stop: stop.clone(),
        input_ended: false,
        ended: false,
        initialized: false,
        options,
    };
    // Without the SDK's handshake, which gives up on what it does not expect: `admit` does its part.
    let running = serve_directly(service, transport, None).waiting();
    tokio::select! {
        _ = running => {}
        () = async { stop.cancelled().await; tokio::time::sleep(GRACE).await } => {
            abandon(&outgoing, &pending).await;
        }
    }
}

/// Tells the callers of what is still running that it will not be answered.
async fn abandon(outgoing: &Outgoing, pending: &Pending) {
    let ids: Vec<_> = pending.lock().drain().collect();
    tracing::warn!(calls = ids.len(), "ended with calls under way");
    for id in ids {
        let why = "the server was told to end before this call was done; call again";
        drop(outgoing.push(&Refusal::new(Some(id), ErrorCode::INTERNAL_ERROR, why).to_json()));
    }
    let all_written = async {
        while outgoing.unwritten() > 0 && !outgoing.is_broken() {
            outgoing.written().await;
        }
    };
    let _ = tokio::time::timeout(LAST_WORDS, all_written).await;
}

/// The ids that wait for an answer.
#[derive(Clone, Default)]
struct Pending(Arc<Mutex<HashSet<RequestId>>>);

impl Pending {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is being worked on: calls, and the bytes of their requests.
#[derive(Default)]
struct Load {
    calls: AtomicUsize,
    bytes: AtomicUsize,
}

/// One call's share of the load. Travels with the request through the SDK and ends with its handler.
struct Slot {
    load: Arc<Load>,
    bytes: usize,
}

impl Slot {
    fn take(load: &Arc<Load>, bytes: usize) -> Arc<Self> {
        load.calls.fetch_add(1, Ordering::Relaxed);
        load.bytes.fetch_add(bytes, Ordering::Relaxed);
        Arc::new(Self { load: load.clone(), bytes })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.load.calls.fetch_sub(1, Ordering::Relaxed);
        self.load.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A request that has no slot yet.
struct Waiting {
    request: JsonRpcRequest<ClientRequest>,
    bytes: usize,
}

struct Stdio<R> {
    input: R,
    decoder: Decoder,
    outgoing: Outgoing,
    pending: Pending,
    waiting: VecDeque<Waiting>,
    load: Arc<Load>,
    stop: CancellationToken,
    /// Nothing more comes in.
    input_ended: bool,
    /// Nothing more is taken in.
    ended: bool,
    initialized: bool,
    options: Options,
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleServer> for Stdio<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let id = match &message {
            JsonRpcMessage::Response(reply) => Some(&reply.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        // One answer an id: whoever was cancelled or given up on gets no second one.
        let wanted = id.is_none_or(|id| self.pending.lock().remove(id));
        let queued = wanted.then(|| encode(&message, self.options.tools.as_deref()));
        let queued = queued.transpose().map(|json| json.map(|json| self.outgoing.push(&json)));
        async move {
            match queued? {
                Some(written) => written.await.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?,
                None => Ok(()),
            }
        }
    }

    /// The SDK drops this future and calls again whenever something else happens, so every wait below
    /// can be left at any time and every condition is looked at anew.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.stop.is_cancelled() || self.outgoing.is_broken() {
                self.ended = true;
            }
            if let Some(request) = self.next_waiting() {
                return Some(request);
            }
            if self.ended && self.is_idle() {
                return None;
            }
            if self.ended || self.is_full() {
                let stop = self.stop.clone();
                tokio::select! {
                    () = self.outgoing.written() => {}
                    () = stop.cancelled(), if !self.ended => {}
                }
                continue;
            }
            if let Some(frame) = self.decoder.next_frame() {
                self.outgoing.speak(self.decoder.framing());
                if let Some(message) = self.admit(frame) {
                    return Some(message);
                }
                continue;
            }
            if self.input_ended {
                self.ended = true;
            } else {
                self.read().await;
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        Ok(())
    }
}

impl<R: AsyncRead + Unpin + Send> Stdio<R> {
    async fn read(&mut self) {
        let buffer = self.decoder.buffer();
        buffer.reserve(8 * 1024);
        let read = tokio::select! {
            read = self.input.read_buf(buffer) => read,
            () = self.stop.cancelled() => return,
        };
        match read {
            Ok(0) => self.end_input(),
            Ok(size) => tracing::debug!("stdin chunk={size}"),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                tracing::warn!(%error, "stdin cannot be read");
                self.end_input();
            }
        }
    }

    const fn end_input(&mut self) {
        self.decoder.end();
        self.input_ended = true;
    }

    /// What of a frame goes on to the service; the rest is answered here.
    fn admit(&mut self, frame: Frame) -> Option<ClientJsonRpcMessage> {
        let mut bytes = 0;
        let message = match frame {
            Frame::Message(value, size) => {
                bytes = size;
                message::read(value)
            }
            Frame::Refused(Refused::Unreadable(why)) => {
                Err(Refusal::new(None, ErrorCode::PARSE_ERROR, format!("cannot be read: {why}")))
            }
            Frame::Refused(Refused::TooLong) => {
                let most = self.options.max_message_bytes;
                let why = format!("the message is longer than {most} bytes (server.max_message_bytes)");
                Err(Refusal::new(None, ErrorCode::INVALID_REQUEST, why))
            }
        };
        let admitted = match message {
            Ok(Some(message)) => self.admit_message(message, bytes),
            Ok(None) => Ok(None),
            Err(refusal) => Err(refusal),
        };
        match admitted {
            Ok(message) => message,
            Err(refusal) => {
                tracing::debug!("refused code={} id={:?}", refusal.code.0, refusal.id);
                drop(self.outgoing.push(&refusal.to_json()));
                None
            }
        }
    }

    fn admit_message(
        &mut self,
        message: ClientJsonRpcMessage,
        bytes: usize,
    ) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
        match message {
            JsonRpcMessage::Request(request) => self.admit_request(request, bytes),
            JsonRpcMessage::Notification(ref notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    let reason = cancelled.params.reason.as_deref().unwrap_or_default();
                    tracing::debug!("cancelled requestId={id} reason={reason}");
                    self.pending.lock().remove(id);
                    self.waiting.retain(|waiting| waiting.request.id != *id);
                }
                Ok(Some(message))
            }
            reply => Ok(Some(reply)),
        }
    }

    fn admit_request(
        &mut self,
        request: JsonRpcRequest<ClientRequest>,
        bytes: usize,
    ) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
        let id = &request.id;
        tracing::debug!("recv method={} id={id}", request.request.method());
        match &request.request {
            ClientRequest::InitializeRequest(_) => self.initialized = true,
            ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => {}
            other => {
                let missing = other.get_meta().missing_required_keys(&ProtocolVersion::V_2026_07_28);
                if !self.initialized && !missing.is_empty() {
                    let why = format!("send initialize first, or params._meta with {}", missing.join(", "));
                    return Err(Refusal::new(Some(id.clone()), ErrorCode::INVALID_PARAMS, why));
                }
            }
        }
        if !self.pending.lock().insert(id.clone()) {
            let why = "id: a request with this id is still being answered";
            return Err(Refusal::new(Some(id.clone()), ErrorCode::INVALID_REQUEST, why));
        }
        self.waiting.push_back(Waiting { request, bytes });
        Ok(self.next_waiting())
    }

    /// The request that waits longest, if there is a slot for it.
    fn next_waiting(&mut self) -> Option<ClientJsonRpcMessage> {
        if self.load.calls.load(Ordering::Relaxed) >= self.options.max_in_flight {
            return None;
        }
        let Waiting { mut request, bytes } = self.waiting.pop_front()?;
        request.request.extensions_mut().insert(Slot::take(&self.load, bytes));
        Some(JsonRpcMessage::Request(request))
    }

    fn is_full(&self) -> bool {
        let waiting: usize = self.waiting.iter().map(|waiting| waiting.bytes).sum();
        let held = self.load.bytes.load(Ordering::Relaxed) + waiting;
        self.outgoing.unwritten() > MOST_UNWRITTEN
            || self.waiting.len() >= MOST_WAITING
            || held > MOST_REQUESTS_HELD * self.options.max_message_bytes
    }

    fn is_idle(&self) -> bool {
        let answered = self.pending.lock().is_empty()
            && self.load.calls.load(Ordering::Relaxed) == 0
            && self.waiting.is_empty();
        answered && (self.outgoing.unwritten() == 0 || self.outgoing.is_broken())
    }
}
