//! The connections that read, beside the writer: each use case sees one snapshot.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::Semaphore;

use super::connection::Database;
use super::failure::Failure;
use crate::error::ServicesError;

/// How many use cases read at once. They are short and read from memory, so more would only compete for the processor.
const READERS: usize = 4;

struct IdleConnection {
    connection: Connection,
    epoch: u64,
}

/// The pool of connections.
pub struct Readers {
    database: Arc<Database>,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<IdleConnection>>,
}

impl Readers {
    pub fn new(database: Arc<Database>) -> Self {
        Self { database, permits: Arc::new(Semaphore::new(READERS)), idle: Mutex::default() }
    }

    /// Runs a use case on a blocking thread.
    pub async fn run<T: Send + 'static>(
        self: Arc<Self>,
        use_case: impl FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, ServicesError> {
        let permits = self.permits.clone();
        let permit =
            permits.acquire_owned().await.map_err(|error| ServicesError::internal(error.to_string()))?;
        let span = tracing::Span::current();
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            span.in_scope(|| self.read(use_case))
        });
        match done.await {
            Ok(result) => result.map_err(Failure::into_error),
            Err(error) => Err(ServicesError::internal(error.to_string())),
        }
    }

    /// Closes the connections that are not in use.
    pub fn close_idle(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn read<T>(&self, use_case: impl FnOnce(&Connection) -> Result<T, Failure>) -> Result<T, Failure> {
        self.database.check_file()?;
        let epoch = self.database.epoch();
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut reader = match idle {
            Some(idle) if idle.epoch == epoch => idle,
            _ => IdleConnection { connection: self.open()?, epoch },
        };
        let result = read_snapshot(&mut reader.connection, use_case);
        if result.as_ref().is_err_and(Failure::needs_new_connection) {
            self.database.invalidate();
        } else {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
        }
        result
    }

    fn open(&self) -> Result<Connection, Failure> {
        self.database.open_reader().inspect_err(|failure| {
            if failure.needs_new_connection() {
                self.database.invalidate();
            }
        })
    }
}

fn read_snapshot<T>(
    connection: &mut Connection,
    use_case: impl FnOnce(&Connection) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
    use_case(&transaction)
}
