//! The store for several servers: a PostgreSQL database. A use case is one transaction in a task of its own, so that no
//! caller who stops waiting can tear one. Transactions meet in rows and locks that are always taken in the same order: an
//! attempt, its key, its budget.

mod accounts;
mod adopt;
mod books;
mod campaigns;
mod completion_state;
mod connection;
mod copy;
mod copy_tables;
mod database;
mod expiry;
mod failure;
mod integrity;
mod keys;
mod leases;
mod listing;
mod migrate;
mod old_rows;
mod options;
mod pool;
mod postgres_store;
mod preferences;
mod reserve;
mod search;
mod settle;
mod shape;
mod sponsored_apis;
mod tasks;
mod tls;
mod use_cases;
mod values;

pub use self::copy::{CopyReport, copy_from_sqlite};
pub use self::options::{DEFAULT_POOL_SIZE, PostgresOptions, TlsTrust, TrustedRoots};
pub use self::postgres_store::PostgresStore;
