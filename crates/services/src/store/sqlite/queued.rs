//! A use case in the queue of the writer.

use std::panic::AssertUnwindSafe;

use rusqlite::Transaction;
use tokio::sync::oneshot;

use super::failure::Failure;
use crate::error::ServicesError;

/// Whether a use case must survive a power failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// It survives the end of the process, and is flushed with the next full one.
    Relaxed,
    /// It is flushed to the disk before anybody hears of it.
    Full,
}

/// A use case of whatever type.
pub trait Job: Send {
    fn durability(&self) -> Durability;

    /// Runs the use case, keeps its result, and returns its failure. Then what it has changed must be rolled back.
    fn run(&mut self, transaction: &Transaction<'_>) -> Option<FailedUseCase>;

    /// Tells the caller the result, or the error with which the transaction was lost.
    fn answer(self: Box<Self>, transaction: Result<(), ServicesError>);
}

/// The failure of a use case.
pub struct FailedUseCase {
    pub error: ServicesError,
    pub needs_new_connection: bool,
}

/// A use case, what follows its commit, and who waits for it.
pub struct Queued<T, U, C> {
    durability: Durability,
    use_case: Option<U>,
    committed: C,
    result: Result<T, ServicesError>,
    caller: oneshot::Sender<Result<T, ServicesError>>,
}

impl<T, U, C> Queued<T, U, C> {
    pub fn new(
        durability: Durability,
        use_case: U,
        committed: C,
        caller: oneshot::Sender<Result<T, ServicesError>>,
    ) -> Self {
        let result = Err(ServicesError::internal("a use case was not run"));
        Self { durability, use_case: Some(use_case), committed, result, caller }
    }
}

impl<T, U, C> Job for Queued<T, U, C>
where
    T: Send,
    U: FnOnce(&Transaction<'_>) -> Result<T, Failure> + Send,
    C: FnOnce(&T) + Send,
{
    fn durability(&self) -> Durability {
        self.durability
    }

    fn run(&mut self, transaction: &Transaction<'_>) -> Option<FailedUseCase> {
        let use_case = self.use_case.take()?;
        let result = std::panic::catch_unwind(AssertUnwindSafe(|| use_case(transaction)))
            .unwrap_or_else(|_| Err(Failure::Rule(ServicesError::internal("a use case panicked"))));
        match result {
            Ok(value) => {
                self.result = Ok(value);
                None
            }
            Err(failure) => {
                let needs_new_connection = failure.needs_new_connection();
                let error = failure.into_error();
                self.result = Err(error.clone());
                Some(FailedUseCase { error, needs_new_connection })
            }
        }
    }

    fn answer(self: Box<Self>, transaction: Result<(), ServicesError>) {
        let result = transaction.and(self.result);
        if let Ok(value) = &result {
            (self.committed)(value);
        }
        // Nobody may be waiting any more; the use case has happened all the same.
        let _ = self.caller.send(result);
    }
}
