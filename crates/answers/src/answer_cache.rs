//! The cache of answers: identical questions get the same answer for a while.

use std::sync::Arc;
use std::time::{Duration, Instant};

use annai_core::{BoundedStore, StoreLimits};
use bytes::Bytes;

/// The maximum size of all cached answers and their keys, in bytes. It keeps the server small even if many large
/// answers are cached; beyond it the oldest answers are removed.
const MAX_CACHE_BYTES: usize = 32 << 20;

/// Answers by the serialized body of their request, which contains everything that shapes an answer.
pub struct AnswerCache<T> {
    store: BoundedStore<Bytes, Arc<T>>,
}

impl<T> AnswerCache<T> {
    /// An empty cache. A time to live of zero disables it.
    pub fn new(time_to_live: Duration, max_entries: usize) -> Self {
        let limits = StoreLimits { entries: max_entries, bytes: MAX_CACHE_BYTES, time_to_live };
        Self { store: BoundedStore::new(limits) }
    }

    /// The cached answer to a request, unless it is too old.
    pub fn get(&self, request: &Bytes, now: Instant) -> Option<Arc<T>> {
        self.store.get(request, now)
    }

    /// Caches the answer to a request; `bytes` is the approximate size of the answer.
    pub fn put(&self, request: &Bytes, answer: Arc<T>, bytes: usize, now: Instant) {
        self.store.put(request.clone(), answer, bytes.saturating_add(request.len()), now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(60);

    fn key(text: &'static str) -> Bytes {
        Bytes::from_static(text.as_bytes())
    }

    #[test]
    fn answers_expire() {
        let (cache, now) = (AnswerCache::new(TTL, 2), Instant::now());
        cache.put(&key("a"), Arc::new(1), 1, now);
        assert_eq!(cache.get(&key("a"), now + TTL - Duration::from_nanos(1)).as_deref(), Some(&1));
        assert_eq!(cache.get(&key("a"), now + TTL), None);
    }

    #[test]
    fn the_oldest_answers_are_removed_beyond_the_limits() {
        let (cache, now) = (AnswerCache::new(TTL, 2), Instant::now());
        let cached = |name| cache.get(&key(name), now).as_deref().copied();
        for (number, name) in ["a", "b", "c"].into_iter().enumerate() {
            cache.put(&key(name), Arc::new(number), 1, now);
        }
        assert_eq!((cached("a"), cached("b"), cached("c")), (None, Some(1), Some(2)));
        cache.put(&key("large"), Arc::new(9), MAX_CACHE_BYTES, now);
        assert_eq!((cached("b"), cached("c"), cached("large")), (None, None, Some(9)));
    }

    #[test]
    fn a_time_to_live_of_zero_disables_the_cache() {
        let (cache, now) = (AnswerCache::new(Duration::ZERO, 2), Instant::now());
        cache.put(&key("a"), Arc::new(1), 1, now);
        assert_eq!(cache.get(&key("a"), now), None);
    }
}
