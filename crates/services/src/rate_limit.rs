//! The limit of requests a minute, per client and in bounded memory.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::api_keys::KeyClass;
use crate::domain::ids::UserId;

/// How long requests are counted together.
const WINDOW: Duration = Duration::from_secs(60);
/// The maximum number of clients that are counted at the same time, which takes about a megabyte. Beyond it the client
/// whose minute ends first is forgotten, so its limit begins anew.
const MAX_CLIENTS: usize = 10_000;

/// Who is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RateClient {
    /// A person, wherever they call from.
    User(UserId),
    /// A key at an address.
    Peer(KeyClass, IpAddr),
}

impl RateClient {
    /// A key at an address. One customer of a provider usually has 2^64 addresses of IPv6, which count as one.
    #[must_use]
    pub fn peer(key: KeyClass, address: IpAddr) -> Self {
        let address = match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
            v4 => v4,
        };
        Self::Peer(key, address)
    }
}

/// A client has sent too many requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many requests: the limit is {per_min} a minute; try again in {} s", self.seconds())]
pub struct RateLimited {
    per_min: u32,
    wait: Duration,
}

impl RateLimited {
    /// How long the client should wait, in whole seconds, at least one.
    #[must_use]
    pub const fn seconds(&self) -> u64 {
        self.wait.as_millis().div_ceil(1000) as u64
    }
}

struct Window {
    started: Instant,
    requests: u32,
}

/// Counts the requests of each client, from its first request until a minute later.
pub struct RateLimiter {
    per_min: u32,
    windows: Mutex<HashMap<RateClient, Window>>,
}

impl RateLimiter {
    /// A limiter that permits this many requests a minute.
    #[must_use]
    pub fn new(per_min: u32) -> Self {
        Self { per_min, windows: Mutex::default() }
    }

    /// Counts a request.
    ///
    /// # Errors
    ///
    /// The client has reached the limit; then the request is not counted.
    pub fn count(&self, client: RateClient, now: Instant) -> Result<(), RateLimited> {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let age = |window: &Window| now.saturating_duration_since(window.started);
        if let Some(window) = windows.get_mut(&client).filter(|window| age(window) < WINDOW) {
            if window.requests >= self.per_min {
                return Err(RateLimited { per_min: self.per_min, wait: WINDOW.saturating_sub(age(window)) });
            }
            window.requests += 1;
            return Ok(());
        }
        if windows.len() >= MAX_CLIENTS {
            windows.retain(|_, window| age(window) < WINDOW);
        }
        if windows.len() >= MAX_CLIENTS {
            let oldest = windows.iter().min_by_key(|(_, window)| window.started).map(|(client, _)| *client);
            oldest.and_then(|oldest| windows.remove(&oldest));
        }
        windows.insert(client, Window { started: now, requests: 1 });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_its_own_minute() {
        let limiter = RateLimiter::new(2);
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let (one, other) = (RateClient::User(UserId::random()), RateClient::User(UserId::random()));
        assert_eq!(limiter.count(one, at(0)), Ok(()));
        assert_eq!(limiter.count(one, at(10_500)), Ok(()));
        let limited = limiter.count(one, at(10_500)).unwrap_err();
        assert_eq!(limited.seconds(), 50);
        assert_eq!(limited.to_string(), "too many requests: the limit is 2 a minute; try again in 50 s");
        assert_eq!(limiter.count(one, at(59_999)).unwrap_err().seconds(), 1);
        assert_eq!(limiter.count(other, at(10_500)), Ok(()));
        assert_eq!(limiter.count(one, at(60_000)), Ok(()));
    }

    #[test]
    fn the_memory_is_bounded_and_the_oldest_client_is_forgotten_first() {
        let limiter = RateLimiter::new(1);
        let start = Instant::now();
        let client = |number: usize| {
            let address = Ipv6Addr::from_bits((number as u128) << 64);
            RateClient::peer(KeyClass::None, address.into())
        };
        for number in 0..=MAX_CLIENTS {
            let now = start + Duration::from_millis(number as u64);
            assert_eq!(limiter.count(client(number), now), Ok(()));
        }
        assert_eq!(limiter.windows.lock().unwrap().len(), MAX_CLIENTS);
        let now = start + Duration::from_secs(20);
        assert_eq!(limiter.count(client(0), now), Ok(()));
        assert!(limiter.count(client(MAX_CLIENTS), now).is_err());
    }

    #[test]
    fn addresses_of_one_ipv6_customer_count_as_one() {
        let client = |address: &str| RateClient::peer(KeyClass::Gpt, address.parse().unwrap());
        assert_eq!(client("2001:db8:1:2::1"), client("2001:db8:1:2:ffff::"));
        assert_ne!(client("2001:db8:1:2::1"), client("2001:db8:1:3::1"));
        assert_eq!(client("::ffff:192.0.2.1"), client("192.0.2.1"));
        assert_ne!(client("192.0.2.1"), client("192.0.2.2"));
    }
}
