//! The connections to the database, and the transactions on them.

use std::future::Future;
use std::time::Duration;

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime, Timeouts,
};
use jiff::Timestamp;
use tokio::sync::OnceCell;

use super::connection::{Access, PostgresConnection, UseCase};
use super::failure::Failure;
use super::options::PostgresOptions;
use super::tls;
use crate::error::ServicesError;

/// The connections to the database, which are opened as they are needed.
pub struct Connections {
    options: PostgresOptions,
    pool: OnceCell<Pool>,
}

impl Connections {
    pub fn new(options: PostgresOptions) -> Self {
        Self { options, pool: OnceCell::new() }
    }

    pub const fn options(&self) -> &PostgresOptions {
        &self.options
    }

    /// A connection for one transaction.
    pub async fn connection(&self) -> Result<Connection, Failure> {
        let pool = self.pool.get_or_try_init(|| async { build(&self.options) }).await?;
        Ok(Connection(Some(pool.get().await?)))
    }
}

fn build(options: &PostgresOptions) -> Result<Pool, Failure> {
    let connector = tls::connector(&options.trust)?;
    let recycle = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(options.config.clone(), connector, recycle);
    let hosts = u32::try_from(options.config.get_hosts().len()).unwrap_or(1).max(1);
    let timeouts = Timeouts {
        wait: Some(options.connect_timeout),
        create: Some(options.connect_timeout * hosts),
        recycle: Some(options.connect_timeout),
    };
    // Compiling a query takes longer than any of these takes to run.
    let settings = format!(
        "SET jit = off; SET statement_timeout = {}; SET lock_timeout = {};
         SET idle_in_transaction_session_timeout = {}",
        options.statement_timeout.as_millis(),
        options.lock_timeout.as_millis(),
        // A transaction waits for this program between two statements only.
        options.use_case_timeout.as_millis(),
    );
    let set_up = Hook::async_fn(move |client, _| {
        let settings = settings.clone();
        Box::pin(async move { client.batch_execute(&settings).await.map_err(HookError::Backend) })
    });
    let pool = Pool::builder(manager)
        .max_size(options.pool_size)
        .timeouts(timeouts)
        .runtime(Runtime::Tokio1)
        .post_create(set_up)
        .build();
    pool.map_err(|error| Failure::Rule(ServicesError::internal(error.to_string())))
}

/// A connection that returns to the pool only from the end of a transaction. Otherwise, as after a panic, it is closed, and
/// the server rolls back.
pub struct Connection(Option<Object>);

impl Connection {
    /// Runs a use case in a transaction, within a time.
    pub async fn transact<I: Sync, T>(
        mut self,
        access: Access,
        timeout: Duration,
        input: &I,
        use_case: UseCase<I, T>,
        now: Timestamp,
    ) -> Result<T, Failure> {
        let Some(client) = self.0.as_deref() else {
            return Err(ServicesError::internal("a connection was used after its end").into());
        };
        let connection = PostgresConnection::new(client);
        // The server receives the beginning together with the first statement of the use case. It fails only with its
        // connection, and then the statement fails as well.
        let begin = async {
            match access.begin() {
                Some(statement) => connection.batch(statement).await,
                None => Ok(()),
            }
        };
        let work = async { futures_util::try_join!(begin, use_case(&connection, input, now)) };
        let result = within(timeout, work).await;
        let end = match (&result, access) {
            (_, Access::Single) => None,
            (Ok(_), _) => Some("COMMIT"),
            (Err(_), _) => Some("ROLLBACK"),
        };
        let is_lost =
            |failure: &Failure| failure.is_connection_lost() || matches!(failure, Failure::TimedOut(_));
        if result.as_ref().is_err_and(is_lost) {
            return result.map(|((), value)| value);
        }
        if let Some(end) = end
            && let Err(failure) = within(timeout, connection.batch(end)).await
        {
            return match (result, access) {
                (Ok(_), Access::Write) if is_lost(&failure) => {
                    Err(Failure::UnknownOutcome(Box::new(failure)))
                }
                (Ok(_), Access::Write) => Err(failure),
                // What was read is right, and what failed before has its own reason.
                (result, _) => result.map(|((), value)| value),
            };
        }
        self.return_to_pool();
        result.map(|((), value)| value)
    }

    fn return_to_pool(&mut self) {
        drop(self.0.take());
    }
}

async fn within<T>(timeout: Duration, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::time::timeout(timeout, work).await.unwrap_or(Err(Failure::TimedOut(timeout)))
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(object) = self.0.take() {
            drop(Object::take(object));
        }
    }
}
