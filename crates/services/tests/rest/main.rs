//! The REST routes as clients meet them: a real server on loopback, a real database file, and upstreams that are servers too.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of the tests too fail loudly"
)]

mod cancellation;
mod database;
mod floods;
mod gpt;
mod hostile;
mod keys;
mod openapi;
mod people;
mod rate_limit;
mod runs;
mod session_header;
mod site;
mod sponsors;
mod upstream_server;
mod upstreams;
