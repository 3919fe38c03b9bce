//! Whether a failed request is made again, and when. The only layer that retries.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

use super::failure::{Cause, Failed};

const MOST_DELAY: Duration = Duration::from_secs(8);
/// A server that wants us to wait longer gets no second request.
const MOST_ASKED: Duration = Duration::from_secs(120);

/// How long to wait for a reply, and how often to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patience {
    /// The longest that one attempt may take.
    pub timeout: Duration,
    /// How often a failed request is made again, in total.
    pub max_retries: u32,
    /// The wait before the first retry; it doubles.
    pub first_delay: Duration,
    /// Whether a time-out is tried again.
    pub retry_timeouts: bool,
}

impl Patience {
    /// How long to wait before the next attempt; `None` when there is to be none.
    pub fn delay(&self, failed: &Failed, retries: u32) -> Option<Duration> {
        if retries >= self.max_retries || failed.begun || !self.is_worth_it(failed) {
            return None;
        }
        match failed.retry_after {
            Some(asked) if asked > MOST_ASKED => None,
            Some(asked) => Some(asked),
            None => {
                let doubled = self.first_delay.saturating_mul(1 << retries.min(16)).min(MOST_DELAY);
                Some(doubled.mul_f64(0.75 + 0.25 * chance()))
            }
        }
    }

    fn is_worth_it(&self, failed: &Failed) -> bool {
        if failed.quota {
            return false;
        }
        match (failed.cause, failed.should_retry) {
            (Cause::Refused, Some(told)) => told,
            (Cause::Refused, None) => {
                failed.status.is_some_and(|status| matches!(status, 408 | 409 | 429 | 500..))
            }
            (Cause::TimedOut, _) => self.retry_timeouts,
            (Cause::Unreachable, _) => true,
            (Cause::Unreadable | Cause::Unfinished, _) => false,
        }
    }
}

/// The wait that the server asks for.
pub fn asked_wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    if let Some(millis) = text("retry-after-ms").and_then(number) {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let after = text("retry-after")?;
    match number(after) {
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        None => {
            let date = httpdate::parse_http_date(after).ok()?;
            Some(date.duration_since(now).unwrap_or_default())
        }
    }
}

/// A number from 0 to 1, so that clients that failed together do not return together.
fn chance() -> f64 {
    let random = RandomState::new().build_hasher().finish();
    f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    fn patience() -> Patience {
        Patience {
            timeout: Duration::from_secs(1),
            max_retries: 3,
            first_delay: Duration::from_millis(500),
            retry_timeouts: true,
        }
    }

    fn refused(status: u16) -> Failed {
        Failed { status: Some(status), ..Failed::new(Cause::Refused, "") }
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let tried = |failed: &Failed| patience().delay(failed, 0).is_some();
        for status in [408, 409, 429, 500, 502, 503, 504, 529] {
            assert!(tried(&refused(status)), "{status}");
        }
        for status in [301, 400, 401, 403, 404, 413, 422] {
            assert!(!tried(&refused(status)), "{status}");
        }
        assert!(tried(&Failed::new(Cause::Unreachable, "")) && tried(&Failed::new(Cause::TimedOut, "")));
        assert!(!tried(&Failed::new(Cause::Unreadable, "")) && !tried(&Failed::new(Cause::Unfinished, "")));
        assert!(!tried(&Failed { quota: true, ..refused(429) }));
        assert!(!tried(&Failed { begun: true, ..Failed::new(Cause::Unreachable, "") }));
        assert!(tried(&Failed { should_retry: Some(true), ..refused(400) }));
        assert!(!tried(&Failed { should_retry: Some(false), ..refused(503) }));
        let once = Patience { retry_timeouts: false, ..patience() };
        assert_eq!(once.delay(&Failed::new(Cause::TimedOut, ""), 0), None);
    }

    #[test]
    fn waits_double_up_to_eight_seconds_and_end() {
        let patience = Patience { max_retries: 10, ..patience() };
        for (retries, most) in [(0, 500), (1, 1000), (2, 2000), (3, 4000), (4, 8000), (5, 8000), (9, 8000)] {
            let delay = patience.delay(&refused(500), retries).unwrap();
            let most = Duration::from_millis(most);
            assert!(delay <= most && delay >= most.mul_f64(0.74), "{retries}: {delay:?}");
        }
        assert_eq!(patience.delay(&refused(500), 10), None);
    }

    #[test]
    fn the_server_may_say_when() {
        let asked = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            asked_wait(&headers, UNIX_EPOCH + Duration::from_secs(784_111_767)).map(|wait| wait.as_millis())
        };
        assert_eq!(asked("retry-after-ms", "1500"), Some(1500));
        assert_eq!(asked("retry-after", "2"), Some(2000));
        assert_eq!(asked("retry-after", "0.5"), Some(500));
        assert_eq!(asked("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), Some(10_000));
        assert_eq!(asked("retry-after", "Sun, 06 Nov 1994 08:49:17 GMT"), Some(0));
        for odd in ["-1", "soon", "NaN", "1e400"] {
            assert_eq!(asked("retry-after", odd), None, "{odd}");
        }
        let late = Failed { retry_after: Some(Duration::from_secs(121)), ..refused(429) };
        assert_eq!(patience().delay(&late, 0), None);
        let soon = Failed { retry_after: Some(Duration::from_secs(120)), ..refused(429) };
        assert_eq!(patience().delay(&soon, 0), Some(Duration::from_secs(120)));
    }
}
