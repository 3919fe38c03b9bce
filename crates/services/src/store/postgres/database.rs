//! The database: its connections, and whether its tables are in order.

use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use tokio::sync::Mutex;

use super::connection::{Access, UseCase};
use super::failure::Failure;
use super::migrate;
use super::options::PostgresOptions;
use super::pool::{Connection, Connections};
use crate::store::Migration;

/// A database whose tables are created or migrated by the first use case.
pub struct Database {
    connections: Connections,
    is_migrated: AtomicBool,
    migration: Mutex<()>,
}

impl Database {
    pub fn new(options: PostgresOptions) -> Self {
        Self {
            connections: Connections::new(options),
            is_migrated: AtomicBool::new(false),
            migration: Mutex::new(()),
        }
    }

    /// A connection for a transaction of its own kind.
    pub async fn connection(&self) -> Result<Connection, Failure> {
        self.ensure_migrated().await?;
        self.connections.connection().await
    }

    /// Runs a use case once: all of it or nothing.
    pub async fn transact<I: Sync, T>(
        &self,
        access: Access,
        input: &I,
        use_case: UseCase<I, T>,
        now: Timestamp,
    ) -> Result<T, Failure> {
        let timeout = self.connections.options().use_case_timeout;
        self.connection().await?.transact(access, timeout, input, use_case, now).await
    }

    /// Creates or migrates the tables, if no call has done so yet.
    async fn ensure_migrated(&self) -> Result<(), Failure> {
        if self.is_migrated.load(Ordering::Acquire) {
            return Ok(());
        }
        // Whoever begins a migration ends it. The others wait for it as long as for any use case.
        let patience = self.connections.options().use_case_timeout;
        let turn = tokio::time::timeout(patience, self.migration.lock()).await;
        let _turn = turn.map_err(|_| Failure::TimedOut(patience))?;
        if !self.is_migrated.load(Ordering::Acquire) {
            match self.connections.options().migration {
                Migration::Apply => migrate::migrate(&self.connections).await?,
                Migration::Refuse => migrate::require_migrated(&self.connections).await?,
            }
            self.is_migrated.store(true, Ordering::Release);
        }
        Ok(())
    }
}
