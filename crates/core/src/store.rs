//! A cache with limits on entries, bytes and age. Cached answers, exploration traces and vault scans are kept in one each.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The limits of a [`BoundedStore`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreLimits {
    /// The maximum number of entries; 0 stores nothing.
    pub entries: usize,
    /// The maximum total size of all entries. A single entry that is larger is stored, but evicts all others.
    pub bytes: usize,
    /// How long after its last write an entry can be read; zero stores nothing.
    pub time_to_live: Duration,
}

/// A thread-safe map with limits. A write that exceeds a limit evicts the entries that were written longest ago (FIFO by
/// last write). The caller passes the current time, so that tests need not wait.
#[derive(Debug)]
pub struct BoundedStore<K, V> {
    limits: StoreLimits,
    state: Mutex<State<K, V>>,
}

#[derive(Debug)]
struct State<K, V> {
    entries: HashMap<K, Entry<V>>,
    /// The keys by the sequence number of their last write; the first is evicted first.
    by_write: BTreeMap<u64, K>,
    next_write: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    bytes: usize,
    written_at: Instant,
    write: u64,
}

impl<K: Clone + Eq + Hash, V: Clone> BoundedStore<K, V> {
    /// An empty store.
    #[must_use]
    pub fn new(limits: StoreLimits) -> Self {
        let state = State { entries: HashMap::new(), by_write: BTreeMap::new(), next_write: 0, bytes: 0 };
        Self { limits, state: Mutex::new(state) }
    }

    /// The value of a key, unless it has expired.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q, now: Instant) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let state = self.lock();
        let entry = state.entries.get(key)?;
        self.is_unexpired(entry, now).then(|| entry.value.clone())
    }

    /// Stores a value whose size is about `bytes`, and evicts older entries if a limit is exceeded.
    pub fn put(&self, key: K, value: V, bytes: usize, now: Instant) {
        let mut state = self.lock();
        state.remove(&key);
        self.insert(&mut state, key, value, bytes, now);
    }

    /// Changes the value of a key, or the default value if it has none or has expired, and returns a copy of the result.
    /// This counts as a write; `size` gives the size of the changed value.
    pub fn update(
        &self,
        key: K,
        now: Instant,
        change: impl FnOnce(&mut V),
        size: impl FnOnce(&V) -> usize,
    ) -> V
    where
        V: Default,
    {
        let mut state = self.lock();
        let previous = state.remove(&key).filter(|entry| self.is_unexpired(entry, now));
        let mut value = previous.map(|entry| entry.value).unwrap_or_default();
        change(&mut value);
        let bytes = size(&value);
        self.insert(&mut state, key, value.clone(), bytes, now);
        value
    }

    /// Removes a key, if it is there.
    pub fn remove<Q: Eq + Hash + ?Sized>(&self, key: &Q)
    where
        K: Borrow<Q>,
    {
        self.lock().remove(key);
    }

    /// The number of entries, including expired ones that have not been evicted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn insert(&self, state: &mut State<K, V>, key: K, value: V, bytes: usize, now: Instant) {
        if self.limits.entries == 0 || self.limits.time_to_live.is_zero() {
            return;
        }
        // The oldest are expired first, since all entries live equally long.
        while let Some((_, oldest)) = state.by_write.first_key_value() {
            let is_full = state.entries.len() >= self.limits.entries
                || state.bytes.saturating_add(bytes) > self.limits.bytes;
            let is_expired = state.entries.get(oldest).is_none_or(|entry| !self.is_unexpired(entry, now));
            if !is_full && !is_expired {
                break;
            }
            let oldest = oldest.clone();
            state.remove(&oldest);
        }
        let write = state.next_write;
        state.next_write += 1;
        state.bytes = state.bytes.saturating_add(bytes);
        state.by_write.insert(write, key.clone());
        state.entries.insert(key, Entry { value, bytes, written_at: now, write });
    }

    fn is_unexpired(&self, entry: &Entry<V>, now: Instant) -> bool {
        now.saturating_duration_since(entry.written_at) < self.limits.time_to_live
    }

    fn lock(&self) -> MutexGuard<'_, State<K, V>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash, V> State<K, V> {
    fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<Entry<V>>
    where
        K: Borrow<Q>,
    {
        let entry = self.entries.remove(key)?;
        self.by_write.remove(&entry.write);
        self.bytes = self.bytes.saturating_sub(entry.bytes);
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(60);

    fn store(entries: usize, bytes: usize, time_to_live: Duration) -> BoundedStore<String, Vec<u8>> {
        BoundedStore::new(StoreLimits { entries, bytes, time_to_live })
    }

    /// The keys that can be read, concatenated.
    fn readable_keys(store: &BoundedStore<String, Vec<u8>>, now: Instant) -> String {
        ["a", "b", "c", "d"].into_iter().filter(|key| store.get(*key, now).is_some()).collect()
    }

    #[test]
    fn the_entry_written_longest_ago_is_evicted() {
        let (store, now) = (store(2, 100, TTL), Instant::now());
        for key in ["a", "b"] {
            store.put(key.into(), vec![1], 1, now);
        }
        // A write protects an entry from eviction; a read does not.
        store.update("a".into(), now, |value| value.push(2), Vec::len);
        assert_eq!(store.get("b", now), Some(vec![1]));
        store.put("c".into(), vec![3], 1, now);
        assert_eq!(readable_keys(&store, now), "ac");
        assert_eq!(store.get("a", now), Some(vec![1, 2]));
    }

    #[test]
    fn the_total_size_is_limited_and_an_oversized_entry_evicts_all_others() {
        let (store, now) = (store(10, 10, TTL), Instant::now());
        for key in ["a", "b", "c"] {
            store.put(key.into(), vec![], 4, now);
        }
        assert_eq!(readable_keys(&store, now), "bc");
        // Replacing an entry by a smaller one frees its bytes.
        store.put("c".into(), vec![], 1, now);
        store.put("d".into(), vec![], 5, now);
        assert_eq!(readable_keys(&store, now), "bcd");
        store.put("a".into(), vec![], 99, now);
        assert_eq!((readable_keys(&store, now).as_str(), store.len()), ("a", 1));
        store.remove("a");
        store.remove("none");
        assert!(store.is_empty());
    }

    #[test]
    fn entries_expire_and_a_limit_of_zero_stores_nothing() {
        let (expiring, now) = (store(2, 100, TTL), Instant::now());
        expiring.put("a".into(), vec![1], 1, now);
        assert_eq!(expiring.get("a", now + TTL - Duration::from_nanos(1)), Some(vec![1]));
        assert_eq!(expiring.get("a", now + TTL), None);
        // A write evicts the entries that have expired.
        expiring.put("b".into(), vec![1], 1, now + TTL);
        assert_eq!(expiring.len(), 1);
        expiring.put("a".into(), vec![1], 1, now);
        // An update of an expired entry starts from the default value.
        assert_eq!(expiring.update("a".into(), now + TTL, |value| value.push(2), Vec::len), [2]);
        for disabled in [store(0, 100, TTL), store(2, 100, Duration::ZERO)] {
            disabled.put("a".into(), vec![1], 1, now);
            assert!(disabled.is_empty());
        }
    }
}
