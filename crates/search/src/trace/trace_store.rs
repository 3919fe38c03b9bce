//! Stores the traces of finds for a while, so that callers can page through them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use annai_core::{BoundedStore, Principal, StoreLimits, ToolError};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::trace::TraceRecord;
use annai_files::LibraryError;

/// The maximum size of all traces together, so that many callers cannot exhaust the memory of a small machine. A trace
/// has about 100 KB, so 64 MiB hold the newest 100 of several callers; beyond it the oldest traces go first.
const MAX_TRACE_BYTES: usize = 64 << 20;
/// The maximum number of callers whose traces are tracked. Beyond it the caller who has not searched for longest is
/// forgotten; what is left of their traces expires.
const MAX_PRINCIPALS: usize = 100_000;
/// The maximum size of all trace ids together. Beyond it the caller who has not searched for longest is forgotten.
const MAX_ID_BYTES: usize = 16 << 20;
/// The approximate size of an id in memory: 16 characters and their bookkeeping.
const TRACE_ID_BYTES: usize = 64;

/// The traces of all principals. The newest ones of each principal are kept, so that nobody's searches evict another's;
/// the memory limit applies to all together.
pub struct TraceStore {
    max_per_principal: usize,
    time_to_live: Duration,
    traces: BoundedStore<Arc<str>, TraceEntry>,
    /// The ids of each principal's traces, the newest last.
    recent: BoundedStore<Principal, VecDeque<Arc<str>>>,
}

#[derive(Debug, Clone)]
struct TraceEntry {
    principal: Principal,
    record: Arc<TraceRecord>,
}

impl TraceStore {
    /// Keeps the newest `max_per_principal` traces of each principal, none longer than `time_to_live`.
    pub fn new(max_per_principal: usize, time_to_live: Duration) -> Self {
        let traces = StoreLimits { entries: usize::MAX, bytes: MAX_TRACE_BYTES, time_to_live };
        let recent = StoreLimits { entries: MAX_PRINCIPALS, bytes: MAX_ID_BYTES, time_to_live };
        let (traces, recent) = (BoundedStore::new(traces), BoundedStore::new(recent));
        Self { max_per_principal, time_to_live, traces, recent }
    }

    /// Stores the trace of a find under a new id.
    pub fn keep(&self, principal: &Principal, id: &str, record: Arc<TraceRecord>, now: Instant) {
        let id: Arc<str> = id.into();
        let bytes = record.estimated_bytes();
        self.traces.put(id.clone(), TraceEntry { principal: principal.clone(), record }, bytes, now);
        let mut dropped = None;
        let add = |ids: &mut VecDeque<Arc<str>>| {
            ids.push_back(id.clone());
            dropped = if ids.len() > self.max_per_principal { ids.pop_front() } else { None };
        };
        self.recent.update(principal.clone(), now, add, |ids| ids.len() * TRACE_ID_BYTES);
        if let Some(oldest) = dropped {
            self.traces.remove(&oldest);
        }
    }

    /// The newest trace of a principal that passes a test, with its id.
    pub fn newest(
        &self,
        principal: &Principal,
        is_wanted: impl Fn(&TraceRecord) -> bool,
        now: Instant,
    ) -> Option<(Arc<str>, Arc<TraceRecord>)> {
        let ids = self.recent.get(principal, now)?;
        let mut traces = ids.into_iter().rev().filter_map(|id| {
            let trace = self.traces.get(&*id, now)?;
            Some((id, trace.record))
        });
        traces.find(|(_, record)| is_wanted(record))
    }

    /// The trace of a find, only for the principal that made it. `argument` names the argument that holds the id.
    pub fn get(
        &self,
        principal: &Principal,
        id: &str,
        argument: &'static str,
        now: Instant,
    ) -> Result<Arc<TraceRecord>, LibraryError> {
        let found = self.traces.get(id, now).filter(|trace| trace.principal == *principal);
        found.map(|trace| trace.record).ok_or(LibraryError::TraceNotFound {
            argument,
            ttl_secs: self.time_to_live.as_secs(),
            max_kept: self.max_per_principal,
        })
    }
}

/// A random id of 64 bits. For anonymous callers it is the only key to the trace, and nobody can try a noticeable part of
/// them while one of at most a few thousand traces lives.
pub fn new_trace_id() -> Result<String, ToolError> {
    let mut bytes = [0_u8; 8];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| ToolError::internal("the system gives no random numbers"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use annai_core::ErrorKind;

    use super::*;
    use crate::test_corpus::empty_trace;
    use crate::trace::unscanned::{SkipReason, UnscannedPart};
    use annai_text::Position;

    const TTL: Duration = Duration::from_secs(60);

    fn record(unscanned: Vec<UnscannedPart>) -> Arc<TraceRecord> {
        Arc::new(TraceRecord { unscanned, ..empty_trace() })
    }

    /// Stores a trace under a new id.
    fn keep(store: &TraceStore, principal: &Principal, record: Arc<TraceRecord>, now: Instant) -> String {
        let id = new_trace_id().unwrap();
        store.keep(principal, &id, record, now);
        id
    }

    fn has(store: &TraceStore, principal: &Principal, id: &str, now: Instant) -> bool {
        store.get(principal, id, "trace_id", now).is_ok()
    }

    #[test]
    fn the_newest_of_each_principal_are_kept_for_a_while() {
        let (store, now) = (TraceStore::new(2, TTL), Instant::now());
        let keep = |principal: &Principal| keep(&store, principal, record(Vec::new()), now);
        let (mine, theirs) = (Principal::Owner, Principal::Anonymous);
        let (first, other) = (keep(&mine), keep(&theirs));
        assert_eq!(first.len(), 16);
        assert!(has(&store, &mine, &first, now) && !has(&store, &theirs, &first, now));
        let (second, third) = (keep(&mine), keep(&mine));
        let kept = [&first, &second, &third].map(|id| has(&store, &mine, id, now));
        assert_eq!(kept, [false, true, true]);
        assert!(has(&store, &theirs, &other, now), "the finds of others do not replace it");
        assert!(has(&store, &mine, &third, now + TTL - Duration::from_nanos(1)));
        let error = ToolError::from(store.get(&mine, &third, "trace_id", now + TTL).unwrap_err());
        assert_eq!(
            (error.kind(), error.message()),
            (
                ErrorKind::NotFound,
                "trace_id: no trace with this id is kept for you (traces expire after 60 s, and only the newest 2 are kept); call manual_find or vault_find again"
            )
        );
    }

    #[test]
    fn memory_is_bounded() {
        let (store, now) = (TraceStore::new(1000, TTL), Instant::now());
        let part = UnscannedPart {
            starts: vec![Position::line_start(1); 2_500_000],
            ..UnscannedPart::file(None, "a".into(), SkipReason::CandidateCap)
        };
        let large = record(vec![part]);
        let ids: Vec<_> = (0..5).map(|_| keep(&store, &Principal::Owner, large.clone(), now)).collect();
        let kept: Vec<_> = ids.iter().map(|id| has(&store, &Principal::Owner, id, now)).collect();
        assert_eq!(kept, [false, false, true, true, true]);
    }

    #[test]
    fn a_limit_of_zero_keeps_nothing() {
        let (store, now) = (TraceStore::new(0, TTL), Instant::now());
        let id = keep(&store, &Principal::Owner, record(Vec::new()), now);
        assert!(!has(&store, &Principal::Owner, &id, now));
    }

    #[test]
    fn the_newest_trace_that_passes_a_test_is_found_for_its_principal_only() {
        let (store, now) = (TraceStore::new(3, TTL), Instant::now());
        let about = |question: &str| {
            let record = Arc::new(TraceRecord { question: question.to_owned(), ..empty_trace() });
            keep(&store, &Principal::Owner, record, now)
        };
        let newest = |principal: &Principal, question: &str, now: Instant| {
            let found = store.newest(principal, |record| record.question == question, now);
            found.map(|(id, _)| id.to_string())
        };
        let (_first, second, other) = (about("a"), about("a"), about("b"));
        assert_eq!(newest(&Principal::Owner, "a", now), Some(second));
        assert_eq!(newest(&Principal::Owner, "b", now), Some(other));
        assert_eq!(newest(&Principal::Owner, "c", now), None);
        assert_eq!(newest(&Principal::Anonymous, "a", now), None);
        assert_eq!(newest(&Principal::Owner, "a", now + TTL), None, "it expires");
    }
}
