//! The point of no return of a run: before it the caller may cancel, after it the run goes on by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const OPEN: u8 = 0;
const CANCELLED: u8 = 1;
const DISPATCHED: u8 = 2;

/// Decides once whether a run was cancelled or dispatched, whichever comes first.
#[derive(Debug, Default)]
pub struct DispatchGate(AtomicU8);

impl DispatchGate {
    /// Passes the point of no return. False when the caller cancelled before.
    pub fn dispatch(&self) -> bool {
        self.0.compare_exchange(OPEN, DISPATCHED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Whether the caller has cancelled in time.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire) == CANCELLED
    }

    /// A guard that cancels when the caller stops waiting. After the dispatch it does nothing.
    pub fn cancel_on_drop(self: &Arc<Self>) -> CancelOnDrop {
        CancelOnDrop(self.clone())
    }
}

/// Cancels a run when it is dropped in time.
#[derive(Debug)]
pub struct CancelOnDrop(Arc<DispatchGate>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        // A failure means that the run was dispatched, and then it goes on.
        let _ = self.0.0.compare_exchange(OPEN, CANCELLED, Ordering::AcqRel, Ordering::Acquire);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whichever_comes_first_decides() {
        let gate = Arc::new(DispatchGate::default());
        drop(gate.cancel_on_drop());
        assert!(gate.is_cancelled() && !gate.dispatch());
        let gate = Arc::new(DispatchGate::default());
        let guard = gate.cancel_on_drop();
        assert!(gate.dispatch());
        drop(guard);
        assert!(!gate.is_cancelled());
    }
}
