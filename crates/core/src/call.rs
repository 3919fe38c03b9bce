//! The context of a tool call: caller, deadline, cancellation, progress and log fields.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

use futures_util::future::BoxFuture;
use serde::Serialize;
use tokio_util::sync::CancellationToken;
use tracing::Span;

use crate::{Identity, telemetry};

/// Delivers progress reports to the caller; implemented by the transports.
pub trait ProgressSink: Send + Sync {
    /// Delivers one report, and returns when the peer is ready for the next.
    fn report<'a>(&'a self, done: f64, total: Option<f64>, message: Option<&'a str>) -> BoxFuture<'a, ()>;
}

/// Reports progress to the caller; does nothing when the caller did not request it.
#[derive(Clone, Default)]
pub struct Progress {
    sink: Option<Arc<dyn ProgressSink>>,
    last: Arc<Mutex<Option<f64>>>,
}

impl Progress {
    /// Progress that is reported to `sink`.
    #[must_use]
    pub fn to(sink: Arc<dyn ProgressSink>) -> Self {
        Self { sink: Some(sink), last: Arc::default() }
    }

    /// Whether the caller requested progress. A tool can skip the work of describing its steps when it did not.
    #[must_use]
    pub const fn is_requested(&self) -> bool {
        self.sink.is_some()
    }

    /// Reports a step. MCP requires that `done` increases with every report, so a report that does not is dropped.
    pub async fn report(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        let Some(sink) = &self.sink else { return };
        {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            if last.is_some_and(|last| done <= last) || !done.is_finite() {
                return;
            }
            *last = Some(done);
        }
        sink.report(done, total, message).await;
    }
}

/// The context of one tool call.
pub struct Call {
    /// Cancelled when the caller cancels the call, or, over stdio, when the process shuts down.
    pub cancel: CancellationToken,
    /// Reports progress to the caller.
    pub progress: Progress,
    /// When the call is aborted. Set for every call that runs.
    pub deadline: Option<Instant>,
    /// The caller's key for executing an operation at most once, however often the call is repeated.
    pub idempotency_key: Option<String>,
    /// Identifies the call in the log.
    pub request_id: String,
    identity: Identity,
    /// The registry that admitted the call. Its type is erased because a registry runs calls, and a call does not know what
    /// runs it; `Call::registry` beside the admission names it.
    pub(crate) admitted_by: Weak<dyn Any + Send + Sync>,
    span: Span,
}

impl Call {
    /// A call without deadline, progress or idempotency key. The caller is set when the call is admitted.
    #[must_use]
    pub fn new(request_id: impl Into<String>) -> Self {
        Self {
            cancel: CancellationToken::new(),
            progress: Progress::default(),
            deadline: None,
            idempotency_key: None,
            request_id: request_id.into(),
            identity: Identity::Anonymous,
            admitted_by: Weak::<()>::new(),
            span: Span::none(),
        }
    }

    /// The caller that was admitted.
    #[must_use]
    pub const fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Adds a field to the call's log line: counts, paths and codes, never the text of arguments or results.
    pub fn note(&self, key: &'static str, value: impl Serialize) {
        if let Ok(value) = serde_json::to_value(value) {
            telemetry::record(&self.span, key, value);
        }
    }

    /// Completes the context when the call is admitted.
    pub(crate) fn set_admitted(
        &mut self,
        identity: Identity,
        admitted_by: &Arc<impl Any + Send + Sync>,
        span: Span,
    ) {
        let admitted_by = Arc::downgrade(admitted_by);
        self.identity = identity;
        self.admitted_by = admitted_by;
        self.span = span;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct RecordingSink(Mutex<Vec<f64>>);

    impl ProgressSink for RecordingSink {
        fn report<'a>(&'a self, done: f64, _: Option<f64>, _: Option<&'a str>) -> BoxFuture<'a, ()> {
            self.0.lock().unwrap().push(done);
            Box::pin(std::future::ready(()))
        }
    }

    #[tokio::test]
    async fn reports_that_do_not_increase_are_dropped() {
        let sink = Arc::new(RecordingSink::default());
        let progress = Progress::to(sink.clone());
        for step in [0.0, 1.0, 1.0, 0.5, f64::NAN, 2.0] {
            progress.report(step, None, None).await;
        }
        assert_eq!(*sink.0.lock().unwrap(), [0.0, 1.0, 2.0]);
    }
}
