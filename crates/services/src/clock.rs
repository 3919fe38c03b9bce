//! The clocks, injected so that tests need not wait and can make them jump.

use std::time::Instant;

use jiff::Timestamp;

/// The two clocks: one that people read, which may jump, and one that only runs forwards.
pub trait Clock: Send + Sync + 'static {
    /// The time of day. Only what is shown or expires after hours depends on it.
    fn now(&self) -> Timestamp;

    /// The time of this process, for leases.
    fn instant(&self) -> Instant;
}

/// The clocks of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    /// The time in microseconds, which is what databases keep: a reply shows the same time as a later one that reads it.
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
    }

    fn instant(&self) -> Instant {
        Instant::now()
    }
}
