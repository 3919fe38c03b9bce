//! The SDK's transport over a pair of byte streams.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use annai_core::Identity;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, GetExtensions, GetMeta,
    JsonRpcMessage, JsonRpcRequest, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::Options;
use super::load::{Load, Pending, Slot, Waiting};
use crate::envelope::Json;
use crate::era::{Era, missing_meta};
use crate::failure::RpcError;
use crate::framing::{Decoder, Frame, Refused};
use crate::message;
use crate::outgoing::Outgoing;
use crate::tool_list::{ListRequest, ToolList};

/// No more is read while so much waits to be written.
const MOST_UNWRITTEN: usize = 8 << 20;
/// So long a silence turns the suspicion that a message was cut short into certainty.
const PATIENCE: Duration = Duration::from_millis(500);
/// No more is read while so many requests wait for a slot. Until then cancellations are still heard.
const MOST_WAITING: usize = 1024;
/// No more is read while the requests in memory are so large, or twice the longest one.
const MOST_HELD: usize = 128 << 20;
/// So many ids of cancelled calls are remembered: what such a call still has to say must not answer another.
const MOST_REMEMBERED: usize = 1024;

/// One connection, as the SDK sees it.
pub(super) struct Stdio<R> {
    input: R,
    decoder: Decoder,
    outgoing: Outgoing,
    pending: Pending,
    waiting: VecDeque<Waiting>,
    load: Arc<Load>,
    stop: CancellationToken,
    /// Resolves when `stop` fires; made once, as every read waits for it.
    stopped: Pin<Box<WaitForCancellationFutureOwned>>,
    /// The ids of cancelled calls, the last ones.
    cancelled: VecDeque<RequestId>,
    /// The id of the last `initialize`, which cannot be cancelled.
    introduction: Option<RequestId>,
    /// Since when nothing came that could clear up a suspicion of the decoder's.
    silent_since: Option<Instant>,
    /// Nothing more comes in.
    input_ended: bool,
    /// Nothing more is taken in.
    ended: bool,
    initialized: bool,
    options: Options,
    tools: ToolList,
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
        let queued = wanted.then(|| serde_json::to_vec(&message));
        let queued = queued.transpose().map(|json| json.map(|json| self.outgoing.push(json)));
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
    pub(super) fn new(
        input: R,
        outgoing: Outgoing,
        pending: Pending,
        stop: CancellationToken,
        options: Options,
        tools: ToolList,
    ) -> Self {
        Self {
            input,
            decoder: Decoder::new(options.max_message_bytes),
            outgoing,
            pending,
            waiting: VecDeque::new(),
            load: Arc::default(),
            stopped: Box::pin(stop.clone().cancelled_owned()),
            stop,
            cancelled: VecDeque::new(),
            introduction: None,
            silent_since: None,
            input_ended: false,
            ended: false,
            initialized: false,
            options,
            tools,
        }
    }

    async fn read(&mut self) {
        // Kept over calls: other events come in between, and must not prolong the silence.
        let silent_since =
            self.decoder.suspects().then(|| *self.silent_since.get_or_insert_with(Instant::now));
        let buffer = self.decoder.buffer();
        buffer.reserve(8 * 1024);
        let read = async {
            tokio::select! {
                biased;
                read = self.input.read_buf(buffer) => Some(read),
                () = self.stopped.as_mut() => None,
            }
        };
        let read = match silent_since {
            Some(since) => tokio::time::timeout_at(since + PATIENCE, read).await,
            None => Ok(read.await),
        };
        self.silent_since = None;
        let read = match read {
            Ok(Some(read)) => read,
            Ok(None) => return,
            Err(_) => {
                self.decoder.give_up();
                return;
            }
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
            Frame::Message(Json::Object(ref message), _)
                if let Some(request) = ListRequest::read(message)
                    && (self.initialized || request.era() == Era::PerRequest) =>
            {
                tracing::debug!("recv method=tools/list id={}", request.id);
                self.outgoing.post(request.reply(&(self.tools)(&Identity::Owner)));
                return None;
            }
            Frame::Message(json, size) => {
                bytes = size;
                message::read(json)
            }
            Frame::Refused(Refused::Unreadable(why)) => {
                Err(RpcError::new(None, ErrorCode::PARSE_ERROR, format!("cannot be read: {why}")))
            }
            Frame::Refused(Refused::TooLong) => {
                let most = self.options.max_message_bytes;
                let why = format!("the message is longer than {most} bytes (server.max_message_bytes)");
                Err(RpcError::new(None, ErrorCode::INVALID_REQUEST, why))
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
                self.outgoing.post(refusal.to_json());
                None
            }
        }
    }

    fn admit_message(
        &mut self,
        message: ClientJsonRpcMessage,
        bytes: usize,
    ) -> Result<Option<ClientJsonRpcMessage>, RpcError> {
        match message {
            JsonRpcMessage::Request(request) => self.admit_request(request, bytes),
            JsonRpcMessage::Notification(ref notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    let reason = cancelled.params.reason.as_deref().unwrap_or_default();
                    tracing::debug!("cancelled requestId={id} reason={reason}");
                    if self.introduction.as_ref() == Some(id) || !self.pending.lock().remove(id) {
                        return Ok(None);
                    }
                    self.waiting.retain(|waiting| waiting.request.id != *id);
                    self.cancelled.truncate(MOST_REMEMBERED - 1);
                    self.cancelled.push_front(id.clone());
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
    ) -> Result<Option<ClientJsonRpcMessage>, RpcError> {
        let id = &request.id;
        tracing::debug!("recv method={} id={id}", request.request.method());
        if self.introduction.as_ref() == Some(id) {
            self.introduction = None;
        }
        match &request.request {
            ClientRequest::InitializeRequest(_) => {
                self.initialized = true;
                self.introduction = Some(id.clone());
            }
            ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => {}
            other => {
                let missing = missing_meta(other.get_meta());
                if !self.initialized && !missing.is_empty() {
                    let why = format!("send initialize first, or params._meta with {}", missing.join(", "));
                    return Err(RpcError::new(Some(id.clone()), ErrorCode::INVALID_PARAMS, why));
                }
            }
        }
        if self.cancelled.contains(id) || !self.pending.lock().insert(id.clone()) {
            let why = "id: a request with this id is still being answered, or was cancelled; use a new one";
            return Err(RpcError::new(Some(id.clone()), ErrorCode::INVALID_REQUEST, why));
        }
        self.waiting.push_back(Waiting { request, bytes });
        Ok(self.next_waiting())
    }

    /// The request that waits longest, if there is a slot for it.
    fn next_waiting(&mut self) -> Option<ClientJsonRpcMessage> {
        if self.load.calls() >= self.options.max_in_flight || self.outgoing.unwritten() > MOST_UNWRITTEN {
            return None;
        }
        let Waiting { mut request, bytes } = self.waiting.pop_front()?;
        request.request.extensions_mut().insert(Slot::take(&self.load, bytes));
        Some(JsonRpcMessage::Request(request))
    }

    fn is_full(&self) -> bool {
        let waiting: usize = self.waiting.iter().map(|waiting| waiting.bytes).sum();
        let held = self.load.bytes() + waiting;
        self.outgoing.unwritten() > MOST_UNWRITTEN
            || self.waiting.len() >= MOST_WAITING
            || held > MOST_HELD.max(self.options.max_message_bytes.saturating_mul(2))
    }

    fn is_idle(&self) -> bool {
        let answered = self.pending.lock().is_empty() && self.load.calls() == 0 && self.waiting.is_empty();
        answered && self.outgoing.is_done()
    }
}
