//! What is being worked on, and who waits for an answer.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{ClientRequest, JsonRpcRequest, RequestId};

/// The ids that wait for an answer.
#[derive(Clone, Default)]
pub(super) struct Pending(Arc<Mutex<HashSet<RequestId>>>);

impl Pending {
    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is being worked on: calls, and the bytes of their requests.
#[derive(Default)]
pub(super) struct Load {
    calls: AtomicUsize,
    bytes: AtomicUsize,
}

impl Load {
    /// Calls that run.
    pub(super) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// Bytes of their requests.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// One call's share of the load. Travels with the request through the SDK and ends with its handler.
pub(super) struct Slot {
    load: Arc<Load>,
    bytes: usize,
}

impl Slot {
    pub(super) fn take(load: &Arc<Load>, bytes: usize) -> Arc<Self> {
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
pub(super) struct Waiting {
    pub(super) request: JsonRpcRequest<ClientRequest>,
    pub(super) bytes: usize,
}
