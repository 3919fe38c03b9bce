//! How fast a body arrives: a client that sends too slowly would hold its connection and its memory for long at no cost.

use std::time::Duration;

use tokio::time::Instant;

/// A body must arrive with at least this many bytes in any five seconds, until it is complete. Even a bad link carries a
/// kilobyte a second, and most bodies are a single packet.
const MIN_BYTES: usize = 5 * 1024;
/// The number of seconds that are looked at together.
const WINDOW_SECONDS: usize = 5;

/// The bytes that have arrived in each of the last seconds.
pub struct Pace {
    /// The end of the current second.
    ends: Instant,
    /// The bytes of each of the last seconds; the current one is the first.
    seconds: [usize; WINDOW_SECONDS],
    /// How many whole seconds have passed, up to the window.
    passed: usize,
}

impl Pace {
    /// A body that begins to arrive now.
    pub fn new() -> Self {
        Self { ends: Instant::now() + Duration::from_secs(1), seconds: [0; WINDOW_SECONDS], passed: 0 }
    }

    /// Counts bytes that have just arrived.
    pub const fn add(&mut self, bytes: usize) {
        self.seconds[0] = self.seconds[0].saturating_add(bytes);
    }

    /// When the current second ends, and the pace has to be looked at again.
    pub const fn next_look(&self) -> Instant {
        self.ends
    }

    /// Whether the body has been too slow for five seconds.
    pub fn is_too_slow(&mut self) -> bool {
        while Instant::now() >= self.ends {
            self.passed += 1;
            if self.passed >= WINDOW_SECONDS && self.seconds.iter().sum::<usize>() < MIN_BYTES {
                return true;
            }
            self.seconds.rotate_right(1);
            self.seconds[0] = 0;
            self.ends += Duration::from_secs(1);
        }
        false
    }

    /// Does not count the time in which the server did not read.
    pub fn resume(&mut self) {
        *self = Self::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many seconds a client is too slow that sends so many bytes every `interval` milliseconds.
    async fn ends_after(first: usize, bytes: usize, interval: u64) -> Option<u64> {
        let (mut pace, started) = (Pace::new(), Instant::now());
        pace.add(first);
        while started.elapsed() < Duration::from_secs(60) {
            tokio::time::advance(Duration::from_millis(interval)).await;
            if pace.is_too_slow() {
                return Some(started.elapsed().as_secs());
            }
            pace.add(bytes);
        }
        None
    }

    #[tokio::test(start_paused = true)]
    async fn any_five_seconds_need_their_bytes() {
        assert_eq!(ends_after(0, 0, 100).await, Some(5));
        assert_eq!(ends_after(0, 8, 1000).await, Some(5));
        assert_eq!(ends_after(1 << 20, 8, 1000).await, Some(6), "what came early does not count for long");
        assert_eq!(ends_after(0, 1024, 1000).await, Some(5), "a little less than needed");
        assert_eq!(ends_after(1024, 1025, 1000).await, None);
        assert_eq!(ends_after(6 << 10, 6 << 10, 4500).await, None, "a link that stalls now and then");
        assert_eq!(ends_after(6 << 10, 6 << 10, 7000).await, Some(7));
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_the_server_does_not_read_is_not_counted() {
        let mut pace = Pace::new();
        tokio::time::advance(Duration::from_secs(20)).await;
        pace.resume();
        tokio::time::advance(Duration::from_secs(4)).await;
        assert!(!pace.is_too_slow());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(pace.is_too_slow());
    }
}
