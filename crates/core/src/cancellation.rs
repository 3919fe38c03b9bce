//! Cancellation of blocking work. A blocking thread cannot be aborted from outside, so the work checks a flag regularly.
//!
//! Work that reports failures checks it with [`Cancellation::check`]. Pure computations deep inside, such as a parser that
//! cannot fail, call [`checkpoint`], which unwinds the thread up to [`Cancellation::run`]. They hold no locks and write no
//! files, so nothing is left half-done.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::ToolError;

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

    /// Cancels the work.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// A guard that cancels the work when it is dropped. The future that waits for the result holds it.
    pub fn cancel_on_drop(&self) -> CancelOnDrop {
        CancelOnDrop(self.clone())
    }
}

thread_local! {
    /// The cancellation of the work that runs on this thread.
    static CURRENT: RefCell<Option<Cancellation>> = const { RefCell::new(None) };
}

/// What a checkpoint unwinds with. It is no panic: no hook runs, and nothing is logged.
struct Unwound;

/// Ends the work on this thread when its caller has stopped waiting for the result. Loops over input call it at least every
/// few milliseconds. On a thread without a cancellation it does nothing.
pub fn checkpoint() {
    let is_cancelled =
        CURRENT.with_borrow(|current| current.as_ref().is_some_and(Cancellation::is_cancelled));
    if is_cancelled {
        resume_unwind(Box::new(Unwound));
    }
}

/// Calls [`checkpoint`] now and then, for loops whose steps take nanoseconds.
#[derive(Debug, Default)]
pub struct Ticks(u32);

impl Ticks {
    /// How many steps there are between two checkpoints: a millisecond at most.
    const STEPS: u32 = 1 << 14;

    /// Counts a step.
    pub fn tick(&mut self) {
        self.0 = self.0.wrapping_add(1);
        if self.0.is_multiple_of(Self::STEPS) {
            checkpoint();
        }
    }
}

/// Restores the cancellation that was current before.
struct Restore(Option<Cancellation>);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

impl Cancellation {
    /// Runs work whose checkpoints look at this cancellation.
    pub fn run<T>(&self, work: impl FnOnce() -> Result<T, ToolError>) -> Result<T, ToolError> {
        let _restore = Restore(CURRENT.replace(Some(self.clone())));
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload: Box<dyn Any + Send>| {
            match payload.downcast::<Unwound>() {
                Ok(_) => Err(ToolError::cancelled()),
                Err(panic) => resume_unwind(panic),
            }
        })
    }
}

/// Runs a part of the work that may fail without the rest; `None` if it panicked. A cancellation ends the rest as well.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => Some(done),
        Err(payload) if payload.is::<Unwound>() => resume_unwind(payload),
        Err(_) => None,
    }
}

/// A guard that cancels the work when it is dropped.
#[derive(Debug)]
pub struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[cfg(test)]
mod tests {
    use crate::ErrorKind;

    use super::*;

    #[test]
    fn a_checkpoint_ends_cancelled_work_and_no_other() {
        let cancellation = Cancellation::default();
        let count = || {
            cancellation.run(|| {
                checkpoint();
                Ok(1)
            })
        };
        assert_eq!(count().unwrap(), 1);
        drop(cancellation.cancel_on_drop());
        checkpoint();
        assert_eq!(count().unwrap_err().kind(), ErrorKind::Cancelled);
        checkpoint();
        let forever = || {
            let mut ticks = Ticks::default();
            loop {
                ticks.tick();
            }
        };
        assert_eq!(cancellation.run::<()>(forever).unwrap_err().kind(), ErrorKind::Cancelled);
    }

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
