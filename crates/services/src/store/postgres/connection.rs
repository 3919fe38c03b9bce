//! A connection as use cases see it: statements that are prepared once for each connection.

use deadpool_postgres::ClientWrapper;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::failure::Failure;
use crate::domain::idempotency::RequestHash;

/// A use case: what it does with the connection, its input and the time.
pub type UseCase<I, T> =
    for<'a> fn(&'a PostgresConnection<'a>, &'a I, Timestamp) -> BoxFuture<'a, Result<T, Failure>>;

/// The transaction that a use case needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It reads and writes. Statements see what others have committed before them, and the use case locks what it decides by.
    Write,
    /// It only reads; all statements see one snapshot.
    Read,
    /// It is one statement.
    Single,
}

impl Access {
    /// The statement that begins the transaction.
    pub const fn begin(self) -> Option<&'static str> {
        match self {
            Self::Write => Some("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"),
            Self::Read => Some("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            Self::Single => None,
        }
    }
}

/// A parameter of a statement.
pub type Parameter<'a> = &'a (dyn ToSql + Sync);

/// A connection during a use case. Statements that are awaited together are sent together. Their order is not certain, since
/// one that the connection sees for the first time is prepared before; only a [`lock`](PostgresConnection::lock) that is awaited first
/// comes first.
pub struct PostgresConnection<'a> {
    client: &'a ClientWrapper,
}

impl<'a> PostgresConnection<'a> {
    pub const fn new(client: &'a ClientWrapper) -> Self {
        Self { client }
    }

    /// All rows of a query.
    pub async fn rows(&self, query: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>, Failure> {
        let statement = self.client.prepare_cached(query).await?;
        Ok(self.client.query(&statement, parameters).await?)
    }

    /// The row of a query that finds one or none.
    pub async fn find(&self, query: &str, parameters: &[Parameter<'_>]) -> Result<Option<Row>, Failure> {
        let statement = self.client.prepare_cached(query).await?;
        Ok(self.client.query_opt(&statement, parameters).await?)
    }

    /// The row of a query that always has one.
    pub async fn row(&self, query: &str, parameters: &[Parameter<'_>]) -> Result<Row, Failure> {
        let statement = self.client.prepare_cached(query).await?;
        Ok(self.client.query_one(&statement, parameters).await?)
    }

    /// Runs a statement and returns how many rows it changed.
    pub async fn execute(&self, statement: &str, parameters: &[Parameter<'_>]) -> Result<u64, Failure> {
        let statement = self.client.prepare_cached(statement).await?;
        Ok(self.client.execute(&statement, parameters).await?)
    }

    /// Runs statements that are used once and have no parameters.
    pub async fn batch(&self, statements: &str) -> Result<(), Failure> {
        Ok(self.client.batch_execute(statements).await?)
    }

    /// The connection itself.
    pub const fn client(&self) -> &ClientWrapper {
        self.client
    }

    /// Waits for the other transactions that have locked the same name, and keeps the lock until the end of this one. It
    /// locks what has no row yet. It is sent without being prepared, so that nothing overtakes it.
    pub async fn lock(&self, name: &[&str]) -> Result<(), Failure> {
        // Names that share these 64 bits only wait for each other without need.
        let hash = RequestHash::of(name).to_string();
        let bits = hash.get(..16).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default();
        self.batch(&format!("SELECT pg_advisory_xact_lock({})", bits.cast_signed())).await
    }
}
