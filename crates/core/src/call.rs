//! What a tool knows of the call that it answers.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

use futures_util::future::BoxFuture;
use serde::Serialize;
use tokio_util::sync::CancellationToken;
use tracing::Span;

use crate::{Identity, Registry, telemetry};

/// Where progress goes; a transport implements it.
pub trait ProgressSink: Send + Sync {
    /// Delivers one report; returns when the peer can take the next.
    fn report<'a>(&'a self, done: f64, total: Option<f64>, message: Option<&'a str>) -> BoxFuture<'a, ()>;
}

/// Reports to a waiting caller how far the work is; does nothing when nobody asked for progress.
#[derive(Clone, Default)]
pub struct Progress {
    sink: Option<Arc<dyn ProgressSink>>,
    last: Arc<Mutex<Option<f64>>>,
}

impl Progress {
    /// Reports go to `sink`.
    #[must_use]
    pub fn to(sink: Arc<dyn ProgressSink>) -> Self {
        Self { sink: Some(sink), last: Arc::default() }
    }

    /// Whether anybody listens; spares the work of describing a step.
    #[must_use]
    pub const fn wanted(&self) -> bool {
        self.sink.is_some()
    }

    /// Reports a step. The protocol wants rising numbers: one that does not rise is left out.
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

/// One call of a tool: who calls, until when, and the ways to report while it runs.
pub struct Call {
    /// Fires when the caller no longer wants the answer, or when the process must end.
    pub cancel: CancellationToken,
    /// Where the call reports how far it is.
    pub progress: Progress,
    /// When the call must have ended.
    pub deadline: Option<Instant>,
    /// The caller's key for doing something only once.
    pub idempotency_key: Option<String>,
    /// Names the call in the log.
    pub request_id: String,
    identity: Identity,
    registry: Weak<Registry>,
    span: Span,
}

impl Call {
    /// A call without deadline, progress or key. Who calls is filled in when it is admitted.
    #[must_use]
    pub fn new(request_id: impl Into<String>) -> Self {
        Self {
            cancel: CancellationToken::new(),
            progress: Progress::default(),
            deadline: None,
            idempotency_key: None,
            request_id: request_id.into(),
            identity: Identity::Anonymous,
            registry: Weak::new(),
            span: Span::none(),
        }
    }

    /// Who calls, as it was admitted.
    #[must_use]
    pub const fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The other tools of this server.
    #[must_use]
    pub fn registry(&self) -> Option<Arc<Registry>> {
        self.registry.upgrade()
    }

    /// Adds a field to the call's log line: counts, paths and codes, never text of a body.
    pub fn note(&self, key: &'static str, value: impl Serialize) {
        if let Ok(value) = serde_json::to_value(value) {
            telemetry::record(&self.span, key, value);
        }
    }

    pub(crate) fn attach(&mut self, identity: Identity, registry: Weak<Registry>, span: Span) {
        self.identity = identity;
        self.registry = registry;
        self.span = span;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen(Mutex<Vec<f64>>);

    impl ProgressSink for Seen {
        fn report<'a>(&'a self, done: f64, _: Option<f64>, _: Option<&'a str>) -> BoxFuture<'a, ()> {
            self.0.lock().unwrap().push(done);
            Box::pin(std::future::ready(()))
        }
    }

    #[tokio::test]
    async fn progress_only_rises() {
        let seen = Arc::new(Seen::default());
        let progress = Progress::to(seen.clone());
        for step in [0.0, 1.0, 1.0, 0.5, f64::NAN, 2.0] {
            progress.report(step, None, None).await;
        }
        assert_eq!(*seen.0.lock().unwrap(), [0.0, 1.0, 2.0]);
    }
}
