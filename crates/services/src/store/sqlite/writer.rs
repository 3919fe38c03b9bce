//! The one thread that writes. Use cases reach it through a bounded channel, so that no caller who stops waiting can tear
//! one, and none waits for the database on a thread of the runtime. Those that wait at the same time share a transaction.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use super::connection::Database;
use super::failure::Failure;
use super::queued::{Durability, Job, Queued};
use crate::error::ServicesError;

/// How many use cases may wait for the writer. Beyond it callers wait for room; each use case takes less than a millisecond,
/// so this is a quarter of a second of work.
const QUEUE: usize = 256;
/// How many use cases may share a transaction. Beyond it the flush is no longer what they spend their time on, and other
/// processes, which cannot write meanwhile, should have their turn after a few milliseconds.
const MAX_BATCH: usize = 64;

type Jobs = mpsc::Sender<Box<dyn Job>>;

/// The handle to the thread, which is started by the first use case and ends with the store, or when it is closed.
pub struct Writer {
    database: Arc<Database>,
    running: Mutex<Option<Running>>,
}

struct Running {
    jobs: Jobs,
    /// None if the thread could not be started. Its receiver is gone then, so every use case reports it.
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub const fn new(database: Arc<Database>) -> Self {
        Self { database, running: Mutex::new(None) }
    }

    /// Runs a use case: all of it or nothing. `committed` is called when it has happened, also when nobody waits for it any
    /// more.
    pub async fn run<T: Send + 'static>(
        &self,
        durability: Durability,
        use_case: impl FnOnce(&Transaction<'_>) -> Result<T, Failure> + Send + 'static,
        committed: impl FnOnce(&T) + Send + 'static,
    ) -> Result<T, ServicesError> {
        let (caller, answer) = oneshot::channel();
        let job = Box::new(Queued::new(durability, use_case, committed, caller));
        let gone = || ServicesError::internal("the writer of the database has ended");
        self.jobs().send(job).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    /// Ends the thread after the use cases that wait for it, and with it the connection. A later use case starts another.
    pub async fn close(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Running { jobs, thread: Some(thread) }) = running else { return };
        drop(jobs);
        // It fails only if the thread panicked, and then there is nothing to wait for.
        let _ = tokio::task::spawn_blocking(move || thread.join()).await;
    }

    fn jobs(&self) -> Jobs {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.get_or_insert_with(|| self.start()).jobs.clone()
    }

    fn start(&self) -> Running {
        let (sender, mut jobs) = mpsc::channel::<Box<dyn Job>>(QUEUE);
        let mut connection = WriterConnection { database: self.database.clone(), open: None };
        let thread = std::thread::Builder::new().name("annai-services-db".to_owned()).spawn(move || {
            let mut batch = Vec::with_capacity(MAX_BATCH);
            // It waits for the first use case only: whatever comes during a transaction shares the next one.
            while jobs.blocking_recv_many(&mut batch, MAX_BATCH) > 0 {
                connection.work_off(batch.drain(..).collect());
            }
        });
        let thread = thread.inspect_err(|error| {
            tracing::error!(%error, "the thread of the database could not be started");
        });
        Running { jobs: sender, thread: thread.ok() }
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
    /// Runs use cases in their order, in one transaction unless one of them fails because of the file. They are answered
    /// after its end: what a caller hears has happened, and nobody hears of what others did before that is certain.
    fn work_off(&mut self, mut waiting: VecDeque<Box<dyn Job>>) {
        while !waiting.is_empty() {
            let mut done = Vec::with_capacity(waiting.len());
            let (result, needs_new_connection) = match self.transact(&mut waiting, &mut done) {
                Ok(Ended { lost, needs_new_connection }) => (lost.map_or(Ok(()), Err), needs_new_connection),
                Err(failure) => {
                    // Those that did not even begin would meet the same failure, one after the other.
                    done.extend(waiting.drain(..));
                    let needs_new_connection = failure.needs_new_connection();
                    (Err(failure.into_error()), needs_new_connection)
                }
            };
            if needs_new_connection {
                self.database.invalidate();
                self.open = None;
            }
            for job in done {
                job.answer(result.clone());
            }
        }
    }

    /// Runs use cases in one transaction, each as a whole or not at all, and moves them from `waiting` to `done`.
    fn transact(
        &mut self,
        waiting: &mut VecDeque<Box<dyn Job>>,
        done: &mut Vec<Box<dyn Job>>,
    ) -> Result<Ended, Failure> {
        let durability = waiting.iter().map(|job| job.durability()).max().unwrap_or(Durability::Full);
        let connection = self.connection(durability)?;
        // Dropping the transaction rolls it back.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let is_shared = waiting.len() > 1;
        let mut needs_new_connection = false;
        while !needs_new_connection && let Some(job) = waiting.front_mut() {
            if is_shared {
                transaction.prepare_cached("SAVEPOINT use_case")?.execute([])?;
            }
            let failed = job.run(&transaction);
            done.extend(waiting.pop_front());
            match failed {
                None if is_shared => {
                    transaction.prepare_cached("RELEASE use_case")?.execute([])?;
                }
                None => {}
                Some(failed) if is_shared => {
                    needs_new_connection = failed.needs_new_connection;
                    if transaction.is_autocommit() {
                        // SQLite has rolled everything back, as when the disk is full; the others are lost as well.
                        return Ok(Ended { lost: Some(failed.error), needs_new_connection });
                    }
                    transaction.execute_batch("ROLLBACK TO use_case; RELEASE use_case")?;
                }
                Some(failed) => {
                    return Ok(Ended { lost: None, needs_new_connection: failed.needs_new_connection });
                }
            }
        }
        transaction.commit()?;
        Ok(Ended { lost: None, needs_new_connection })
    }

    /// The connection, opened where necessary, that commits in this way.
    fn connection(&mut self, durability: Durability) -> Result<&mut Connection, Failure> {
        self.database.check_file()?;
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
        Ok(&mut open.connection)
    }
}

/// How a transaction ended: all of its use cases have their own results, unless they were lost together.
struct Ended {
    lost: Option<ServicesError>,
    needs_new_connection: bool,
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
