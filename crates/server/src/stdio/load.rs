//! Bookkeeping of a stdio connection: which requests are unanswered, how many calls run, and which are queued.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{ClientRequest, JsonRpcRequest, RequestId};
use tokio::sync::OwnedSemaphorePermit;

use crate::bulkheads::Share;

use crate::framing::Framing;

/// The ids of the requests that are not answered yet, each with the framing of its request.
#[derive(Clone, Default)]
pub(super) struct PendingIds(Arc<Mutex<HashMap<RequestId, Framing>>>);

impl PendingIds {
    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, Framing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many calls are running, and the size of their requests.
#[derive(Default)]
pub(super) struct Load {
    calls: AtomicUsize,
    bytes: AtomicUsize,
}

impl Load {
    /// The number of running calls.
    pub(super) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// The size of the requests of the running calls, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// One running call. It travels with the request through the SDK and is dropped with it, when the handler has ended.
pub(super) struct Slot {
    load: Arc<Load>,
    bytes: usize,
    _place: OwnedSemaphorePermit,
}

impl Slot {
    pub(super) fn take(load: &Arc<Load>, bytes: usize, place: OwnedSemaphorePermit) -> Arc<Self> {
        load.calls.fetch_add(1, Ordering::Relaxed);
        load.bytes.fetch_add(bytes, Ordering::Relaxed);
        Arc::new(Self { load: load.clone(), bytes, _place: place })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.load.calls.fetch_sub(1, Ordering::Relaxed);
        self.load.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A request that waits for a slot.
pub(super) struct QueuedRequest {
    /// Whose places it uses.
    pub(super) share: Share,
    pub(super) request: JsonRpcRequest<ClientRequest>,
    pub(super) bytes: usize,
}
