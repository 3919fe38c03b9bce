//! The store and the runs together, on real database files: what happens on good days and on bad ones.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails loudly")]

/// Some of these tests run on a PostgreSQL database too, and say so in their first line. The embedded store needs no server.
macro_rules! needs_database {
    () => {};
}

mod suite {
    mod accounts;
    mod cancellation;
    mod damage;
    mod database;
    mod floods;
    mod idempotency;
    mod input;
    mod integrity;
    mod leases;
    mod money;
    mod sponsors;
    mod tasks;
    mod tools;
    mod unverified;
}
#[path = "suite/support.rs"]
mod support;
