//! The store as a handle: how its use cases are run and tried again.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tracing::Instrument as _;

use super::connection::{Access, UseCase};
use super::database::Database;
use super::failure::Failure;
use super::options::PostgresOptions;
use super::search::SearchIndexes;
use super::values::stored_time;
use crate::clock::Clock;
use crate::error::ServicesError;
use crate::store::StoreFuture;
use crate::store::movements::Moved;

/// How often a use case is tried when it meets another one or a connection that is gone. Each try takes milliseconds, and
/// conflicts resolve with the first or second; beyond this the caller hears that the database is busy.
const MAX_TRIES: u32 = 6;

/// A store in a PostgreSQL database. Creating it touches nothing; the first use case connects and migrates.
pub struct PostgresStore {
    pub(super) database: Arc<Database>,
    pub(super) indexes: Arc<SearchIndexes>,
    clock: Arc<dyn Clock>,
}

impl PostgresStore {
    /// A store in a database. It needs a tokio runtime with the first use.
    #[must_use]
    pub fn new(options: PostgresOptions, clock: Arc<dyn Clock>) -> Self {
        Self { database: Arc::new(Database::new(options)), indexes: Arc::default(), clock }
    }

    /// Runs a use case that writes, in one transaction.
    pub(super) fn write<I, T>(&self, input: I, use_case: UseCase<I, T>) -> StoreFuture<'_, T>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.run(Access::Write, input, use_case, |_| {})
    }

    /// Runs a use case that writes and may move budgets.
    pub(super) fn write_moved<I, T>(&self, input: I, use_case: UseCase<I, Moved<T>>) -> StoreFuture<'_, T>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let moved = self.run(Access::Write, input, use_case, Moved::count);
        Box::pin(async move { Ok(moved.await?.value) })
    }

    /// Runs a use case that only reads, on one snapshot.
    pub(super) fn read<I, T>(&self, input: I, use_case: UseCase<I, T>) -> StoreFuture<'_, T>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.run(Access::Read, input, use_case, |_| {})
    }

    /// Runs a use case of one statement, which is a transaction by itself.
    pub(super) fn single<I, T>(&self, input: I, use_case: UseCase<I, T>) -> StoreFuture<'_, T>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.run(Access::Single, input, use_case, |_| {})
    }

    /// Runs a use case. `committed` is called when it has happened, also when nobody waits for it any more.
    fn run<I, T>(
        &self,
        access: Access,
        input: I,
        use_case: UseCase<I, T>,
        committed: fn(&T),
    ) -> StoreFuture<'_, T>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let now = stored_time(self.clock.now());
        let database = self.database.clone();
        let run = async move { try_often(&database, access, &input, use_case, now).await.inspect(committed) };
        Box::pin(async move {
            let task = tokio::spawn(run.in_current_span());
            let result = task.await.map_err(|error| ServicesError::internal(error.to_string()))?;
            result.map_err(Failure::into_error)
        })
    }
}

/// Runs a use case until it succeeds, fails for good, or has been tried often enough.
async fn try_often<I: Sync, T>(
    database: &Database,
    access: Access,
    input: &I,
    use_case: UseCase<I, T>,
    now: Timestamp,
) -> Result<T, Failure> {
    let mut tries = 1;
    loop {
        match database.transact(access, input, use_case, now).await {
            Err(failure) if failure.is_transient() && tries < MAX_TRIES => {
                tokio::time::sleep(pause(tries)).await;
                tries += 1;
            }
            result => return result,
        }
    }
}

/// The pause before the next try: longer every time, and different for those who met. The first is about a millisecond, the
/// last about thirty.
fn pause(tries: u32) -> Duration {
    let spread = RandomState::new().hash_one(tries) % 1000;
    Duration::from_micros((500 + spread) << tries.min(6))
}
