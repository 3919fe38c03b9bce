//! The PostgreSQL store: the use-case tests of the embedded store on a PostgreSQL database, and what only such a database
//! has: other programs' tables, replicas, outages and time-outs.
//!
//! `tests/postgres/server run cargo test -p annai-services --test postgres` starts a server for them. `ANNAI_TEST_POSTGRES`
//! names another one; every test makes a database of its own on it. Without it each test says that it is skipped; where
//! `ANNAI_TEST_POSTGRES_REQUIRED` is set, as in `scripts/test`, it fails.

#![expect(clippy::unwrap_used, clippy::panic, reason = "the helpers of the tests too fail loudly")]

/// Stands in the first line of a test, and skips it where there is no server.
macro_rules! needs_database {
    () => {
        if !crate::database::has_server() {
            return;
        }
    };
}

mod database;
mod support;

#[path = "../suite/accounts.rs"]
mod accounts;
#[path = "../suite/floods.rs"]
mod floods;
#[path = "../suite/idempotency.rs"]
mod idempotency;
#[path = "../suite/input.rs"]
mod input;
#[path = "../suite/integrity.rs"]
mod integrity;
#[path = "../suite/leases.rs"]
mod leases;
#[path = "../suite/money.rs"]
mod money;
#[path = "../suite/sponsors.rs"]
mod sponsors;
#[path = "../suite/tasks.rs"]
mod tasks;
#[path = "../suite/tools.rs"]
mod tools;
#[path = "../suite/unverified.rs"]
mod unverified;

mod copy;
mod failover;
mod hostile_rows;
mod local_server;
mod outage;
mod proxy;
mod replicas;
mod take_over;
mod tls;
