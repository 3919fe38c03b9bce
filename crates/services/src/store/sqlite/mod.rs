//! The embedded store: an SQLite file, which needs no set-up. One thread writes, a few connections read beside it, and
//! several processes may share the file.

mod accounts;
mod books;
mod campaigns;
mod completion_state;
mod connection;
mod expiry;
mod failure;
mod integrity;
mod keys;
mod leases;
mod listing;
mod queued;
mod readers;
mod reserve;
mod rows;
mod search;
mod settle;
mod sponsored_apis;
mod tasks;
mod use_cases;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, Transaction};

use self::connection::Database;
use self::failure::Failure;
use self::queued::Durability;
use self::readers::Readers;
use self::search::SearchIndexes;
use self::writer::Writer;
use super::movements::Moved;
use super::{Migration, StoreFuture};
use crate::clock::Clock;
use crate::error::ServicesError;

/// Where the database is, and how patiently it is waited for.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// The file. It and its folder are created with the first use, for the owner alone.
    pub path: PathBuf,
    /// How long a use case waits for other processes that write. Beyond it the use case fails as unavailable.
    pub busy_timeout: Duration,
    /// What happens to tables that are missing or old.
    pub migration: Migration,
}

impl SqliteOptions {
    /// The database in this file. Ten seconds are longer than any use case takes, and shorter than callers wait.
    #[must_use]
    pub const fn new(path: PathBuf) -> Self {
        Self { path, busy_timeout: Duration::from_secs(10), migration: Migration::Apply }
    }
}

/// A store in an SQLite file. Creating it touches nothing; the first use case opens the file.
pub struct SqliteStore {
    database: Arc<Database>,
    writer: Writer,
    readers: Arc<Readers>,
    indexes: Arc<SearchIndexes>,
    clock: Arc<dyn Clock>,
}

impl SqliteStore {
    /// A store in a file.
    #[must_use]
    pub fn new(options: SqliteOptions, clock: Arc<dyn Clock>) -> Self {
        let database = Arc::new(Database::new(options));
        let writer = Writer::new(database.clone());
        let readers = Arc::new(Readers::new(database.clone()));
        Self { database, writer, readers, indexes: Arc::default(), clock }
    }

    /// Runs a use case that writes, in one transaction on the writer's thread.
    fn write<T: Send + 'static>(
        &self,
        use_case: impl FnOnce(&Transaction<'_>, Timestamp) -> Result<T, Failure> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        let now = self.clock.now();
        Box::pin(self.writer.run(Durability::Full, move |transaction| use_case(transaction, now), |_| {}))
    }

    /// Runs a use case that writes and may move budgets.
    fn write_moved<T: Send + 'static>(
        &self,
        use_case: impl FnOnce(&Transaction<'_>, Timestamp) -> Result<Moved<T>, Failure> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        let now = self.clock.now();
        let use_case = move |transaction: &Transaction<'_>| use_case(transaction, now);
        let moved = self.writer.run(Durability::Full, use_case, Moved::count);
        Box::pin(async move { Ok(moved.await?.value) })
    }

    /// Runs a use case whose loss in a power failure would do no harm: it is not flushed to the disk.
    fn write_relaxed<T: Send + 'static>(
        &self,
        use_case: impl FnOnce(&Transaction<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        Box::pin(self.writer.run(Durability::Relaxed, use_case, |_| {}))
    }

    /// Runs a use case that only reads, on one snapshot.
    fn read<T: Send + 'static>(
        &self,
        use_case: impl FnOnce(&Connection, Timestamp) -> Result<T, Failure> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        let now = self.clock.now();
        Box::pin(async move {
            self.ensure_open().await?;
            self.readers.clone().run(move |connection| use_case(connection, now)).await
        })
    }

    async fn ensure_open(&self) -> Result<(), ServicesError> {
        if self.database.is_open() {
            return Ok(());
        }
        match self.database.migration() {
            Migration::Apply => self.writer.run(Durability::Full, |_| Ok(()), |()| {}).await,
            Migration::Refuse => self.readers.clone().run(|_| Ok(())).await,
        }
    }
}
