//! The SDK's `Transport` over a pair of byte streams.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use annai_core::{Identity, Registry};
use bytes::{Bytes, BytesMut};
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, GetExtensions, GetMeta,
    JsonRpcMessage, JsonRpcRequest, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::StdioOptions;
use super::load::{Load, PendingIds, QueuedRequest, Slot};
use crate::bulkheads::{Bulkheads, Share};
use crate::envelope::Json;
use crate::era::{Era, missing_meta};
use crate::failure::RpcError;
use crate::framing::{Decoder, Frame, FrameError};
use crate::message;
use crate::outgoing::Outgoing;
use crate::tool_list::ListRequest;

/// The maximum number of reply bytes that wait to be written. 8 MiB hold several large replies; above that, reading stops
/// until the client has read some of them, because the SDK's own queue of replies is unbounded.
const MAX_UNWRITTEN_BYTES: usize = 8 << 20;
/// How long to wait for more input when a message looks truncated. Half a second is long for a pipe on one machine, and
/// short for the client whose next message waits; after it, the message is refused and reading resumes behind it.
const TRUNCATION_TIMEOUT: Duration = Duration::from_millis(500);
/// The maximum number of requests that wait for a slot. Beyond it reading stops, and with it cancellations are no longer
/// seen, so the queue is several times as long as the default number of concurrent calls.
const MAX_QUEUED_REQUESTS: usize = 1024;
/// The decoder's buffer is given back when it is empty and larger than this; ordinary messages fit into it.
const MAX_IDLE_BUFFER_BYTES: usize = 1 << 20;
/// How many ids of cancelled calls are remembered. A late reply to a cancelled call must not answer a new request that
/// reuses its id, so such ids are refused; beyond this number the oldest are forgotten.
const MAX_CANCELLED_IDS: usize = 1024;

/// Returns the serialized `tools` array for the owner, who is the only caller over stdio.
pub(super) type OwnToolList = Box<dyn Fn() -> Bytes + Send + Sync>;

/// One connection, as the SDK sees it.
pub(super) struct Stdio<R> {
    input: R,
    decoder: Decoder,
    outgoing: Outgoing,
    pending: PendingIds,
    queue: VecDeque<QueuedRequest>,
    /// The size of the queued requests.
    queued_bytes: usize,
    registry: Arc<Registry>,
    places: Bulkheads,
    load: Arc<Load>,
    stop: CancellationToken,
    /// Resolves when `stop` is cancelled. It is created once, because every read waits for it.
    stopped: Pin<Box<WaitForCancellationFutureOwned>>,
    /// The ids of the most recently cancelled calls, newest first.
    cancelled_ids: VecDeque<RequestId>,
    /// The id of the last `initialize` request, which cannot be cancelled.
    initialize_id: Option<RequestId>,
    /// Since when the decoder has been waiting for the rest of a message that looks truncated.
    truncation_suspected_since: Option<Instant>,
    /// Whether the end of the input was reached; the decoder may still hold messages.
    input_ended: bool,
    /// Whether no more messages are accepted: all input is processed, the server stops, or the output is closed.
    ended: bool,
    /// Whether `initialize` was received.
    initialized: bool,
    options: StdioOptions,
    tools: OwnToolList,
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
        // One reply per id, in the framing of its request: a call that was cancelled, or answered at shutdown, gets no
        // second one.
        let framing = id.map(|id| self.pending.lock().remove(id));
        let is_expected = framing != Some(None);
        let queued = is_expected.then(|| serde_json::to_vec(&message));
        let queued = queued
            .transpose()
            .map(|json| json.map(|json| self.outgoing.enqueue_with_receipt(json, framing.flatten())));
        async move {
            match queued? {
                Some(written) => written.await.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?,
                None => Ok(()),
            }
        }
    }

    /// The SDK drops this future and calls `receive` again whenever another event occurs. Every wait below is therefore
    /// cancel-safe, and the loop checks every condition again.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.stop.is_cancelled() || self.outgoing.has_failed() {
                self.ended = true;
            }
            if let Some(request) = self.dequeue() {
                return Some(request);
            }
            if self.ended && self.is_idle() {
                return None;
            }
            if self.ended || self.is_full() {
                let stop = self.stop.clone();
                tokio::select! {
                    () = self.outgoing.progress() => {}
                    () = stop.cancelled(), if !self.ended => {}
                }
                continue;
            }
            if let Some(frame) = self.decoder.next_frame() {
                self.outgoing.set_framing(self.decoder.framing());
                if let Some(message) = self.accept(frame) {
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
    pub(super) fn new(
        input: R,
        outgoing: Outgoing,
        pending: PendingIds,
        stop: CancellationToken,
        options: StdioOptions,
        registry: Arc<Registry>,
        tools: OwnToolList,
    ) -> Self {
        Self {
            input,
            decoder: Decoder::new(options.max_message_bytes),
            outgoing,
            pending,
            queue: VecDeque::new(),
            queued_bytes: 0,
            places: Bulkheads::new(options.max_in_flight, &registry, 0),
            registry,
            load: Arc::default(),
            stopped: Box::pin(stop.clone().cancelled_owned()),
            stop,
            cancelled_ids: VecDeque::new(),
            initialize_id: None,
            truncation_suspected_since: None,
            input_ended: false,
            ended: false,
            initialized: false,
            options,
            tools,
        }
    }

    /// Reads the next bytes into the decoder's buffer.
    async fn read(&mut self) {
        // Kept between calls, because `receive` may be dropped and called again, which must not restart the timeout.
        let suspected_since = self
            .decoder
            .looks_truncated()
            .then(|| *self.truncation_suspected_since.get_or_insert_with(Instant::now));
        let buffer = self.decoder.buffer();
        if buffer.is_empty() && buffer.capacity() > MAX_IDLE_BUFFER_BYTES {
            *buffer = BytesMut::new();
        }
        buffer.reserve(8 * 1024);
        let read = async {
            tokio::select! {
                biased;
                read = self.input.read_buf(buffer) => Some(read),
                () = self.stopped.as_mut() => None,
            }
        };
        let read = match suspected_since {
            Some(since) => tokio::time::timeout_at(since + TRUNCATION_TIMEOUT, read).await,
            None => Ok(read.await),
        };
        self.truncation_suspected_since = None;
        let read = match read {
            Ok(Some(read)) => read,
            Ok(None) => return,
            Err(_) => {
                self.decoder.assume_truncated();
                return;
            }
        };
        match read {
            Ok(0) => self.end_input(),
            Ok(size) => tracing::debug!("stdin chunk={size}"),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                tracing::warn!(%error, "reading stdin failed");
                self.end_input();
            }
        }
    }

    const fn end_input(&mut self) {
        self.decoder.end();
        self.input_ended = true;
    }

    /// Returns the message for the service, if there is one to handle now. Invalid frames and `tools/list` are answered here.
    fn accept(&mut self, frame: Frame) -> Option<ClientJsonRpcMessage> {
        let mut bytes = 0;
        let message = match frame {
            Frame::Message(Json::Object(ref message), _)
                if let Some(request) = ListRequest::read(message)
                    && (self.initialized || request.era() == Era::PerRequest) =>
            {
                tracing::debug!("recv method=tools/list id={}", request.id);
                self.outgoing.enqueue(request.reply(&(self.tools)()), self.decoder.framing());
                return None;
            }
            Frame::Message(json, size) => {
                bytes = size;
                message::read(json)
            }
            Frame::Invalid(FrameError::Unreadable(reason)) => {
                Err(RpcError::new(None, ErrorCode::PARSE_ERROR, format!("parse error: {reason}")))
            }
            Frame::Invalid(FrameError::TooLong) => {
                let limit = self.options.max_message_bytes;
                let message = format!("the message is longer than {limit} bytes (server.max_message_bytes)");
                Err(RpcError::new(None, ErrorCode::INVALID_REQUEST, message))
            }
        };
        let accepted = match message {
            Ok(Some(message)) => self.accept_message(message, bytes),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        match accepted {
            Ok(message) => message,
            Err(error) => {
                tracing::debug!("refused code={} id={:?}", error.code.0, error.id);
                self.outgoing.enqueue(error.to_json(), self.decoder.framing());
                None
            }
        }
    }

    fn accept_message(
        &mut self,
        message: ClientJsonRpcMessage,
        bytes: usize,
    ) -> Result<Option<ClientJsonRpcMessage>, RpcError> {
        match message {
            JsonRpcMessage::Request(request) => self.accept_request(request, bytes),
            JsonRpcMessage::Notification(ref notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    let reason = cancelled.params.reason.as_deref().unwrap_or_default();
                    tracing::debug!("cancelled requestId={id} reason={reason}");
                    if self.initialize_id.as_ref() == Some(id) || self.pending.lock().remove(id).is_none() {
                        return Ok(None);
                    }
                    if let Some(index) = self.queue.iter().position(|queued| queued.request.id == *id) {
                        self.queued_bytes -= self.queue.remove(index).map_or(0, |queued| queued.bytes);
                    }
                    self.cancelled_ids.truncate(MAX_CANCELLED_IDS - 1);
                    self.cancelled_ids.push_front(id.clone());
                }
                Ok(Some(message))
            }
            reply => Ok(Some(reply)),
        }
    }

    fn accept_request(
        &mut self,
        request: JsonRpcRequest<ClientRequest>,
        bytes: usize,
    ) -> Result<Option<ClientJsonRpcMessage>, RpcError> {
        let id = &request.id;
        tracing::debug!("recv method={} id={id}", request.request.method());
        if self.initialize_id.as_ref() == Some(id) {
            self.initialize_id = None;
        }
        match &request.request {
            ClientRequest::InitializeRequest(_) => {
                self.initialized = true;
                self.initialize_id = Some(id.clone());
            }
            ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => {}
            other => {
                let missing = missing_meta(other.get_meta());
                if !self.initialized && !missing.is_empty() {
                    let missing = missing.join(", ");
                    let message = format!("send initialize first, or params._meta with {missing}");
                    return Err(RpcError::new(Some(id.clone()), ErrorCode::INVALID_PARAMS, message));
                }
            }
        }
        let mut pending = self.pending.lock();
        if self.cancelled_ids.contains(id) || pending.contains_key(id) {
            let message = "id: a request with this id is in progress or was cancelled; use another id";
            return Err(RpcError::new(Some(id.clone()), ErrorCode::INVALID_REQUEST, message));
        }
        pending.insert(id.clone(), self.decoder.framing());
        drop(pending);
        let share = self.places.share_of(&self.registry, &request.request);
        self.queued_bytes += bytes;
        self.queue.push_back(QueuedRequest { share, request, bytes });
        Ok(self.dequeue())
    }

    /// The oldest queued request for which there is a place, if the client reads its replies.
    fn dequeue(&mut self) -> Option<ClientJsonRpcMessage> {
        if self.outgoing.unwritten() > MAX_UNWRITTEN_BYTES {
            return None;
        }
        let (index, place) = self.first_with_place()?;
        let QueuedRequest { mut request, bytes, .. } = self.queue.remove(index)?;
        self.queued_bytes -= bytes;
        let extensions = request.request.extensions_mut();
        extensions.insert(Slot::take(&self.load, bytes, place));
        // Whoever started this process is its owner.
        extensions.insert(Identity::Owner);
        Some(JsonRpcMessage::Request(request))
    }

    /// The index of the oldest queued request for which there is a place, and the place.
    fn first_with_place(&self) -> Option<(usize, OwnedSemaphorePermit)> {
        // There are few shares, so requests of one that has no place are skipped quickly.
        let mut full: Vec<Share> = Vec::new();
        for (index, queued) in self.queue.iter().enumerate() {
            if full.contains(&queued.share) {
                continue;
            }
            match self.places.try_acquire(queued.share) {
                Some(place) => return Some((index, place)),
                None => full.push(queued.share),
            }
        }
        None
    }

    /// Whether a limit is reached, so that reading must pause.
    fn is_full(&self) -> bool {
        let request_bytes = self.load.bytes() + self.queued_bytes;
        self.outgoing.unwritten() > MAX_UNWRITTEN_BYTES
            || self.queue.len() >= MAX_QUEUED_REQUESTS
            || request_bytes > self.max_request_bytes()
    }

    /// The maximum size of all requests that run or wait: the budget without the message that is being read, but enough for
    /// one of the maximum size. Beyond it reading stops until calls have finished.
    fn max_request_bytes(&self) -> usize {
        let max_message_bytes = self.options.max_message_bytes;
        self.options.max_pending_bytes.saturating_sub(max_message_bytes).max(max_message_bytes)
    }

    /// Whether every request is answered and every reply is written.
    fn is_idle(&self) -> bool {
        let all_answered = self.pending.lock().is_empty() && self.load.calls() == 0 && self.queue.is_empty();
        all_answered && self.outgoing.is_flushed()
    }
}
