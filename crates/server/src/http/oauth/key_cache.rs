//! Caches the keys of an issuer: for as long as the issuer says, through its outages, and without letting strangers make the
//! server ask the issuer again and again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::Instant;

use super::keys::KeySet;

/// Keys are fetched again after this time at the latest, so that a key that the issuer has withdrawn ends.
const MAX_FRESH: Duration = Duration::from_secs(60 * 60);
/// Keys are not fetched again before this time, even if the issuer allows no caching.
const MIN_FRESH: Duration = Duration::from_secs(1);
/// How long keys are used while they cannot be fetched again.
const MAX_STALE: Duration = Duration::from_secs(24 * 60 * 60);
/// How long to wait after a failed fetch, so that an outage does not slow every call down.
pub const RETRY_DELAY: Duration = Duration::from_secs(10);
/// How long a call waits for a fetch while the keys that it needs are cached but no longer fresh.
const STALE_WAIT: Duration = Duration::from_secs(1);
/// How many tokens with unknown key ids may cause a fetch at once; a new key is usually announced once.
const UNKNOWN_KEY_BURST: u32 = 3;
/// After the burst, one token with an unknown key id may cause a fetch in this time. One a second is no burden for an issuer,
/// and as every fetch brings all keys, a new one is accepted soon, however many ids others invent.
const UNKNOWN_KEY_INTERVAL: Duration = Duration::from_secs(1);

/// What an issuer publishes about itself.
#[derive(Debug, Default)]
pub struct IssuerKeys {
    /// The issuer's own name, which tokens must carry.
    pub issuer: String,
    /// The keys.
    pub keys: KeySet,
    /// Where the issuer answers questions about a person.
    pub userinfo: Option<reqwest::Url>,
    /// How long the keys may be cached, as the issuer says; `None` when it does not say.
    pub fresh_for: Option<Duration>,
}

/// Fetches the keys; the error is for the log.
pub type FetchKeys = Arc<dyn Fn() -> BoxFuture<'static, Result<IssuerKeys, String>> + Send + Sync>;

/// There are no keys, because they could not be fetched.
#[derive(Debug, PartialEq, Eq)]
pub struct KeysUnavailable;

/// The cache.
pub struct KeyCache {
    fetch: FetchKeys,
    state: Mutex<CachedKeys>,
    /// Held during a fetch, so that there is one at a time.
    fetching: tokio::sync::Mutex<()>,
}

struct CachedKeys {
    cached: Option<Cached>,
    /// The number of fetches that have ended.
    fetches: u64,
    /// When the fetch that is running began.
    fetching_since: Option<Instant>,
    failed_at: Option<Instant>,
    tokens: u32,
    refilled_at: Instant,
}

#[derive(Clone)]
struct Cached {
    keys: Arc<IssuerKeys>,
    loaded_at: Instant,
    fresh_for: Duration,
}

impl KeyCache {
    /// An empty cache; the first look-up fetches the keys.
    pub fn new(fetch: FetchKeys) -> Self {
        let state = CachedKeys {
            cached: None,
            fetches: 0,
            fetching_since: None,
            failed_at: None,
            tokens: UNKNOWN_KEY_BURST,
            refilled_at: Instant::now(),
        };
        Self { fetch, state: Mutex::new(state), fetching: tokio::sync::Mutex::new(()) }
    }

    /// The issuer's keys, which contain the key with this id unless the issuer does not know it.
    ///
    /// # Errors
    ///
    /// The keys cannot be fetched, and none are cached.
    pub async fn with_key(self: &Arc<Self>, kid: &str) -> Result<Arc<IssuerKeys>, KeysUnavailable> {
        let (cached, is_fresh, fetches) = self.look_up();
        let is_known = |cached: &Cached| cached.keys.keys.get(kid).is_some();
        match cached {
            Some(cached) if is_fresh && is_known(&cached) => return Ok(cached.keys),
            Some(cached) if is_fresh && !self.lock().take_token() => return Ok(cached.keys),
            _ => {}
        }
        // In a task of its own, because a caller that disconnects must not end a fetch that others wait for.
        let cache = self.clone();
        let refreshed = tokio::spawn(async move { cache.refresh(fetches).await });
        match self.cached() {
            // An issuer that hangs must not hold up the people whose keys are known.
            Some(cached) if cached.keys.get(kid).is_some() => {
                let running_since = self.lock().fetching_since.unwrap_or_else(Instant::now);
                let _ = tokio::time::timeout_at(running_since + STALE_WAIT, refreshed).await;
            }
            _ => drop(refreshed.await),
        }
        self.cached().ok_or(KeysUnavailable)
    }

    /// The keys, if they are cached.
    pub fn cached(&self) -> Option<Arc<IssuerKeys>> {
        self.look_up().0.map(|cached| cached.keys)
    }

    /// The cached keys unless they are too old, whether they are fresh, and the number of fetches so far.
    fn look_up(&self) -> (Option<Cached>, bool, u64) {
        let state = self.lock();
        let cached = state.cached.clone().filter(|cached| cached.loaded_at.elapsed() < MAX_STALE);
        let is_fresh = cached.as_ref().is_some_and(|cached| cached.loaded_at.elapsed() < cached.fresh_for);
        (cached, is_fresh, state.fetches)
    }

    /// Fetches the keys, unless another fetch has ended since `fetches` was read, or the last one has just failed.
    async fn refresh(&self, fetches: u64) {
        let _guard = self.fetching.lock().await;
        {
            let mut state = self.lock();
            let failed_recently = state.failed_at.is_some_and(|failed_at| failed_at.elapsed() < RETRY_DELAY);
            if state.fetches != fetches || failed_recently {
                return;
            }
            state.fetching_since = Some(Instant::now());
        }
        let fetched = (self.fetch)().await;
        let mut state = self.lock();
        state.fetches += 1;
        state.fetching_since = None;
        match fetched {
            Ok(keys) => {
                let fresh_for = keys.fresh_for.unwrap_or(MAX_FRESH).clamp(MIN_FRESH, MAX_FRESH);
                state.cached = Some(Cached { keys: Arc::new(keys), loaded_at: Instant::now(), fresh_for });
                state.failed_at = None;
            }
            Err(cause) => {
                state.failed_at = Some(Instant::now());
                drop(state);
                tracing::warn!(cause, "the keys of the OAuth issuer cannot be fetched");
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, CachedKeys> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CachedKeys {
    /// Whether a token with an unknown key id may cause a fetch now.
    fn take_token(&mut self) -> bool {
        let intervals = self.refilled_at.elapsed().as_secs() / UNKNOWN_KEY_INTERVAL.as_secs();
        if intervals > 0 {
            self.tokens = UNKNOWN_KEY_BURST
                .min(self.tokens + u32::try_from(intervals).unwrap_or(u32::MAX).min(UNKNOWN_KEY_BURST));
            self.refilled_at = Instant::now();
        }
        let taken = self.tokens > 0;
        self.tokens = self.tokens.saturating_sub(1);
        taken
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use serde_json::json;

    use super::*;

    /// An issuer whose keys can be changed, and which can be down.
    #[derive(Default)]
    struct Issuer {
        kids: Mutex<Vec<&'static str>>,
        down: AtomicBool,
        fetches: AtomicUsize,
    }

    impl Issuer {
        fn cache(self: &Arc<Self>, fresh_for: Option<Duration>) -> Arc<KeyCache> {
            let issuer = self.clone();
            Arc::new(KeyCache::new(Arc::new(move || {
                let issuer = issuer.clone();
                Box::pin(async move {
                    issuer.fetches.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    if issuer.down.load(Ordering::Relaxed) {
                        return Err("down".to_owned());
                    }
                    let kids = issuer.kids.lock().unwrap().clone();
                    let keys: Vec<_> = kids
                        .iter()
                        .map(|kid| json!({ "kty": "OKP", "crv": "Ed25519", "kid": kid, "x": "AAAA" }))
                        .collect();
                    let keys = KeySet::parse(json!({ "keys": keys }).to_string().as_bytes()).unwrap();
                    Ok(IssuerKeys { keys, fresh_for, ..IssuerKeys::default() })
                })
            })))
        }

        fn fetches(&self) -> usize {
            self.fetches.load(Ordering::Relaxed)
        }
    }

    async fn knows(cache: &Arc<KeyCache>, kid: &str) -> Result<bool, KeysUnavailable> {
        cache.with_key(kid).await.map(|keys| keys.keys.get(kid).is_some())
    }

    #[tokio::test(start_paused = true)]
    async fn concurrent_first_calls_cause_one_fetch() {
        let issuer = Arc::new(Issuer { kids: vec!["a"].into(), ..Issuer::default() });
        let cache = issuer.cache(None);
        let calls: Vec<_> = (0..50)
            .map(|_| {
                let cache = cache.clone();
                tokio::spawn(async move { knows(&cache, "a").await })
            })
            .collect();
        for call in calls {
            assert_eq!(call.await.unwrap(), Ok(true));
        }
        assert_eq!(issuer.fetches(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_key_is_accepted_soon_although_others_invent_key_ids() {
        let issuer = Arc::new(Issuer { kids: vec!["a"].into(), ..Issuer::default() });
        let cache = issuer.cache(None);
        assert_eq!(knows(&cache, "a").await, Ok(true));
        let inventing: Vec<_> = (0..200)
            .map(|number| {
                let cache = cache.clone();
                tokio::spawn(async move {
                    loop {
                        assert_eq!(knows(&cache, &format!("invented-{number}")).await, Ok(false));
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                })
            })
            .collect();
        tokio::time::sleep(Duration::from_secs(20)).await;
        let fetches = issuer.fetches();
        assert!((10..=24).contains(&fetches), "{fetches} fetches in 20 s");
        issuer.kids.lock().unwrap().push("b");
        let rotated = Instant::now();
        while knows(&cache, "b").await != Ok(true) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert!(rotated.elapsed() < Duration::from_secs(5), "{:?}", rotated.elapsed());
        let known = Instant::now();
        assert_eq!(knows(&cache, "a").await, Ok(true));
        assert!(known.elapsed().is_zero(), "who has a known key does not wait");
        for task in inventing {
            assert!(!task.is_finished());
            task.abort();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_withdrawn_key_ends_when_the_keys_are_no_longer_fresh() {
        for (fresh_for, ends_after) in
            [(Some(Duration::from_secs(90)), 90), (None, 3600), (Some(Duration::MAX), 3600)]
        {
            let issuer = Arc::new(Issuer { kids: vec!["a", "b"].into(), ..Issuer::default() });
            let cache = issuer.cache(fresh_for);
            assert_eq!(knows(&cache, "a").await, Ok(true));
            issuer.kids.lock().unwrap().retain(|kid| *kid == "b");
            tokio::time::advance(Duration::from_secs(ends_after - 1)).await;
            assert_eq!(knows(&cache, "a").await, Ok(true));
            tokio::time::advance(Duration::from_secs(2)).await;
            assert_eq!(knows(&cache, "a").await, Ok(false));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn known_keys_survive_an_outage_of_a_day() {
        let issuer = Arc::new(Issuer { kids: vec!["a"].into(), ..Issuer::default() });
        issuer.down.store(true, Ordering::Relaxed);
        let cache = issuer.cache(None);
        assert_eq!(knows(&cache, "a").await, Err(KeysUnavailable));
        assert_eq!(knows(&cache, "a").await, Err(KeysUnavailable));
        assert_eq!(issuer.fetches(), 1, "a failed fetch is not repeated at once");
        issuer.down.store(false, Ordering::Relaxed);
        tokio::time::advance(RETRY_DELAY).await;
        assert_eq!(knows(&cache, "a").await, Ok(true));
        issuer.down.store(true, Ordering::Relaxed);
        tokio::time::advance(Duration::from_secs(23 * 3600)).await;
        assert_eq!(knows(&cache, "a").await, Ok(true));
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert_eq!(knows(&cache, "a").await, Err(KeysUnavailable));
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_that_gives_up_does_not_end_the_fetch_of_others() {
        let issuer = Arc::new(Issuer { kids: vec!["a"].into(), ..Issuer::default() });
        let cache = issuer.cache(None);
        let gone = tokio::time::timeout(Duration::from_millis(10), knows(&cache, "a")).await;
        assert!(gone.is_err());
        assert_eq!(knows(&cache, "a").await, Ok(true));
        assert_eq!(issuer.fetches(), 1);
    }
}
