//! The one thread that writes. Use cases reach it through a bounded channel, so that no caller who stops waiting can tear
//! one, and none waits for the database on a thread of the runtime.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use super::connection::Database;
use super::failure::Failure;
use crate::error::ServicesError;

/// How many use cases may wait for the writer. Beyond it callers wait for room; each use case takes about a millisecond, so
/// this is a quarter of a second of work.
const QUEUE: usize = 256;

/// Whether a use case must survive a power failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It is flushed to the disk before anybody hears of it.
    Full,
    /// It survives the end of the process, and is flushed with the next full one.
    Relaxed,
}

type Job = Box<dyn FnOnce(&mut WriterConnection) + Send>;

/// The handle to the thread, which is started by the first use case and ends with the store.
pub struct Writer {
    database: Arc<Database>,
    jobs: OnceLock<mpsc::Sender<Job>>,
}

impl Writer {
    pub const fn new(database: Arc<Database>) -> Self {
        Self { database, jobs: OnceLock::new() }
    }

    /// Runs a use case in one transaction: all of it or nothing.
    pub async fn run<T: Send + 'static>(
        &self,
        durability: Durability,
        use_case: impl FnOnce(&Transaction<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, ServicesError> {
        let (sender, receiver) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            // Nobody may be waiting any more; the use case has happened all the same.
            let _ = sender.send(connection.transact(durability, use_case).map_err(Failure::into_error));
        });
        let gone = || ServicesError::internal("the writer of the database has ended");
        self.jobs.get_or_init(|| self.start()).send(job).await.map_err(|_| gone())?;
        receiver.await.map_err(|_| gone())?
    }

    fn start(&self) -> mpsc::Sender<Job> {
        let (sender, mut jobs) = mpsc::channel::<Job>(QUEUE);
        let mut connection = WriterConnection { database: self.database.clone(), open: None };
        let thread = std::thread::Builder::new().name("annai-services-db".to_owned()).spawn(move || {
            while let Some(job) = jobs.blocking_recv() {
                job(&mut connection);
            }
        });
        if let Err(error) = thread {
            // The receiver is gone with the thread that was not started, so every use case reports it.
            tracing::error!(%error, "the thread of the database could not be started");
        }
        sender
    }
}

struct OpenConnection {
    connection: Connection,
    epoch: u64,
    durability: Durability,
}

/// The connection of the thread, opened again after failures that concern the file.
struct WriterConnection {
    database: Arc<Database>,
    open: Option<OpenConnection>,
}

impl WriterConnection {
    fn transact<T>(
        &mut self,
        durability: Durability,
        use_case: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let result = self.try_transact(durability, use_case);
        if result.as_ref().is_err_and(Failure::needs_new_connection) {
            self.database.invalidate();
            self.open = None;
        }
        result
    }

    fn try_transact<T>(
        &mut self,
        durability: Durability,
        use_case: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let open = match self.open.take() {
            Some(open) if open.epoch == self.database.epoch() => self.open.insert(open),
            _ => {
                let epoch = self.database.epoch();
                let connection = self.database.open_writer()?;
                self.open.insert(OpenConnection { connection, epoch, durability: Durability::Full })
            }
        };
        if open.durability != durability {
            let level = if durability == Durability::Full { "FULL" } else { "NORMAL" };
            open.connection.pragma_update(None, "synchronous", level)?;
            open.durability = durability;
        }
        let transaction = open.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Dropping the transaction rolls it back, after an error and after a panic.
        let value = std::panic::catch_unwind(AssertUnwindSafe(|| use_case(&transaction)))
            .unwrap_or_else(|_| Err(Failure::Rule(ServicesError::internal("a use case panicked"))))?;
        transaction.commit()?;
        Ok(value)
    }
}
