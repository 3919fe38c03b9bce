//! Cancellation of blocking work. A blocking thread cannot be aborted from outside, so the work checks a flag regularly.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use annai_core::ToolError;

/// A flag that the caller shares with the thread that does the work.
#[derive(Debug, Clone, Default)]
pub struct Cancellation {
    cancelled: Arc<AtomicBool>,
}

impl Cancellation {
    /// Whether the caller has stopped waiting for the result.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Fails with the kind `Cancelled` when the caller has stopped waiting for the result.
    pub fn check(&self) -> Result<(), ToolError> {
        if self.is_cancelled() { Err(ToolError::cancelled()) } else { Ok(()) }
    }

    /// A guard that cancels the work when it is dropped. The future that waits for the result holds it.
    pub fn cancel_on_drop(&self) -> CancelOnDrop {
        CancelOnDrop(self.clone())
    }
}

/// A guard that cancels the work when it is dropped.
#[derive(Debug)]
pub struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use annai_core::ErrorKind;

    use super::*;

    #[test]
    fn dropping_the_guard_cancels_every_clone() {
        let cancellation = Cancellation::default();
        let (seen_by_the_work, guard) = (cancellation.clone(), cancellation.cancel_on_drop());
        assert!(!seen_by_the_work.is_cancelled() && seen_by_the_work.check().is_ok());
        drop(guard);
        assert!(seen_by_the_work.is_cancelled());
        assert_eq!(seen_by_the_work.check().unwrap_err().kind(), ErrorKind::Cancelled);
    }
}
