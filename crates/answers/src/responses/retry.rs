//! Whether and when a failed request is retried. No other layer retries.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

use super::failure::{FailureKind, RequestFailure};

/// The maximum delay between retries when the server demands none; as in `openai-responses-mcp`. The delay stops doubling here.
const MAX_BACKOFF: Duration = Duration::from_secs(8);
/// The maximum delay that a server may demand; as in `openai-responses-mcp`. If a server demands more, the request fails at
/// once, because a retry before that time would fail too.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(120);

/// The timeout of an attempt, and the retries after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The timeout of one attempt.
    pub timeout: Duration,
    /// The maximum number of retries.
    pub max_retries: u32,
    /// The delay before the first retry; it doubles with each further one.
    pub first_delay: Duration,
    /// Whether an attempt that timed out is retried.
    pub retry_timeouts: bool,
}

impl RetryPolicy {
    /// The delay before the next attempt; `None` if the request is not retried.
    pub fn next_delay(&self, failure: &RequestFailure, retries: u32) -> Option<Duration> {
        if retries >= self.max_retries || failure.stream_started || !self.is_retryable(failure) {
            return None;
        }
        match failure.retry_after {
            Some(delay) if delay > MAX_RETRY_AFTER => None,
            Some(delay) => Some(delay),
            None => {
                let doubled = self.first_delay.saturating_mul(1 << retries.min(16)).min(MAX_BACKOFF);
                Some(doubled.mul_f64(0.75 + 0.25 * random_fraction()))
            }
        }
    }

    fn is_retryable(&self, failure: &RequestFailure) -> bool {
        if failure.is_quota_exhausted {
            return false;
        }
        match (failure.kind, failure.should_retry) {
            (FailureKind::HttpStatus, Some(should_retry)) => should_retry,
            (FailureKind::HttpStatus, None) => {
                failure.status.is_some_and(|status| matches!(status, 408 | 409 | 429 | 500..))
            }
            (FailureKind::Timeout, _) => self.retry_timeouts,
            (FailureKind::Connection, _) => true,
            (FailureKind::InvalidResponse | FailureKind::Incomplete, _) => false,
        }
    }
}

/// The delay that the headers `retry-after-ms` or `retry-after` demand.
pub fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
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

/// A random number from 0 to 1. The jitter keeps clients that failed together from retrying together.
fn random_fraction() -> f64 {
    let random = RandomState::new().build_hasher().finish();
    f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    fn policy() -> RetryPolicy {
        RetryPolicy {
            timeout: Duration::from_secs(1),
            max_retries: 3,
            first_delay: Duration::from_millis(500),
            retry_timeouts: true,
        }
    }

    fn http_error(status: u16) -> RequestFailure {
        RequestFailure { status: Some(status), ..RequestFailure::new(FailureKind::HttpStatus, "") }
    }

    #[test]
    fn only_temporary_failures_are_retried() {
        let is_retried = |failed: &RequestFailure| policy().next_delay(failed, 0).is_some();
        for status in [408, 409, 429, 500, 502, 503, 504, 529] {
            assert!(is_retried(&http_error(status)), "{status}");
        }
        for status in [301, 400, 401, 403, 404, 413, 422] {
            assert!(!is_retried(&http_error(status)), "{status}");
        }
        assert!(
            is_retried(&RequestFailure::new(FailureKind::Connection, ""))
                && is_retried(&RequestFailure::new(FailureKind::Timeout, ""))
        );
        assert!(
            !is_retried(&RequestFailure::new(FailureKind::InvalidResponse, ""))
                && !is_retried(&RequestFailure::new(FailureKind::Incomplete, ""))
        );
        assert!(!is_retried(&RequestFailure { is_quota_exhausted: true, ..http_error(429) }));
        assert!(!is_retried(&RequestFailure {
            stream_started: true,
            ..RequestFailure::new(FailureKind::Connection, "")
        }));
        assert!(is_retried(&RequestFailure { should_retry: Some(true), ..http_error(400) }));
        assert!(!is_retried(&RequestFailure { should_retry: Some(false), ..http_error(503) }));
        let once = RetryPolicy { retry_timeouts: false, ..policy() };
        assert_eq!(once.next_delay(&RequestFailure::new(FailureKind::Timeout, ""), 0), None);
    }

    #[test]
    fn delays_double_up_to_eight_seconds_and_end() {
        let policy = RetryPolicy { max_retries: 10, ..policy() };
        for (retries, most) in [(0, 500), (1, 1000), (2, 2000), (3, 4000), (4, 8000), (5, 8000), (9, 8000)] {
            let delay = policy.next_delay(&http_error(500), retries).unwrap();
            let most = Duration::from_millis(most);
            assert!(delay <= most && delay >= most.mul_f64(0.74), "{retries}: {delay:?}");
        }
        assert_eq!(policy.next_delay(&http_error(500), 10), None);
    }

    #[test]
    fn the_server_may_demand_a_delay() {
        let asked = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            retry_after(&headers, UNIX_EPOCH + Duration::from_secs(784_111_767)).map(|wait| wait.as_millis())
        };
        assert_eq!(asked("retry-after-ms", "1500"), Some(1500));
        assert_eq!(asked("retry-after", "2"), Some(2000));
        assert_eq!(asked("retry-after", "0.5"), Some(500));
        assert_eq!(asked("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), Some(10_000));
        assert_eq!(asked("retry-after", "Sun, 06 Nov 1994 08:49:17 GMT"), Some(0));
        for odd in ["-1", "soon", "NaN", "1e400"] {
            assert_eq!(asked("retry-after", odd), None, "{odd}");
        }
        let late = RequestFailure { retry_after: Some(Duration::from_secs(121)), ..http_error(429) };
        assert_eq!(policy().next_delay(&late, 0), None);
        let soon = RequestFailure { retry_after: Some(Duration::from_secs(120)), ..http_error(429) };
        assert_eq!(policy().next_delay(&soon, 0), Some(Duration::from_secs(120)));
    }
}
