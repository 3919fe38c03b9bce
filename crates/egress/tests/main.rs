//! Drives the client against real servers on this machine. No test leaves it.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "the helpers of the tests too fail loudly")]

mod suite {
    mod cancellation;
    mod guard;
    mod proxy;
    mod replies;
    mod requests;
    mod server;
    mod time_limit;
    mod tls;
}
