//! What finds saw, kept for a while so that it can be asked for page by page.

use std::sync::Arc;
use std::time::{Duration, Instant};

use annai_core::{BoundedStore, Principal, StoreLimits, ToolError};
use ring::rand::{SecureRandom as _, SystemRandom};

use super::trace::TraceRecord;
use crate::error::LibraryError;

/// The maximum size of all traces together, so that many callers cannot exhaust the memory of a small machine. A trace
/// has about 100 KB, so 64 MiB hold the newest 100 of several callers; beyond it the oldest traces go first.
const MAX_TRACE_BYTES: usize = 64 << 20;
/// The maximum number of callers whose traces are counted. Beyond it the caller who has not asked for longest is
/// forgotten, with the traces of theirs that are still kept.
const MAX_PRINCIPALS: usize = 100_000;

/// The traces of everybody. The newest few of each principal are kept: one principal's finds replace its own, while the
/// limit of memory holds for all together.
pub struct TraceStore {
    max_per_principal: usize,
    time_to_live: Duration,
    /// How many traces each principal has had.
    counts: BoundedStore<Principal, u64>,
    traces: BoundedStore<TraceSlot, StoredTrace>,
}

/// The slots of a principal are filled in turn, so that a new trace takes the place of that principal's oldest.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct TraceSlot {
    principal: Principal,
    number: u64,
}

#[derive(Debug, Clone)]
struct StoredTrace {
    id: Arc<str>,
    record: Arc<TraceRecord>,
}

impl TraceStore {
    /// Keeps the newest `max_per_principal` traces of each principal, none longer than `time_to_live`.
    pub fn new(max_per_principal: usize, time_to_live: Duration) -> Self {
        let traces = StoreLimits { entries: usize::MAX, bytes: MAX_TRACE_BYTES, time_to_live };
        let counts = StoreLimits { entries: MAX_PRINCIPALS, bytes: usize::MAX, time_to_live: Duration::MAX };
        Self {
            max_per_principal,
            time_to_live,
            counts: BoundedStore::new(counts),
            traces: BoundedStore::new(traces),
        }
    }

    /// Keeps what a find saw, and returns the id to ask for it by.
    pub fn keep(
        &self,
        principal: &Principal,
        record: Arc<TraceRecord>,
        now: Instant,
    ) -> Result<String, ToolError> {
        let id = new_trace_id()?;
        let slots = self.max_per_principal as u64;
        if slots > 0 {
            let count = self.counts.update(principal.clone(), now, |count| *count += 1, |_| 0);
            let slot = TraceSlot { principal: principal.clone(), number: count % slots };
            let bytes = record.estimated_bytes();
            self.traces.put(slot, StoredTrace { id: id.as_str().into(), record }, bytes, now);
        }
        Ok(id)
    }

    /// What a find saw; only for the principal that made it. `argument` is the name under which the caller gave the id.
    pub fn get(
        &self,
        principal: &Principal,
        id: &str,
        argument: &'static str,
        now: Instant,
    ) -> Result<Arc<TraceRecord>, LibraryError> {
        // No more slots are in use than the principal has had traces, however many may be.
        let count = self.counts.get(principal, now).unwrap_or_default();
        let mut slot = TraceSlot { principal: principal.clone(), number: 0 };
        let mut slots = (0..(self.max_per_principal as u64).min(count + 1)).filter_map(|number| {
            slot.number = number;
            self.traces.get(&slot, now)
        });
        let found = slots.find(|trace| *trace.id == *id).map(|trace| trace.record);
        found.ok_or(LibraryError::TraceNotFound {
            argument,
            ttl_secs: self.time_to_live.as_secs(),
            max_kept: self.max_per_principal,
        })
    }
}

/// 128 bits that nobody can guess.
fn new_trace_id() -> Result<String, ToolError> {
    let mut bytes = [0_u8; 16];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| ToolError::internal("the system gives no random numbers"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use annai_core::ErrorKind;

    use super::*;
    use crate::explore::unscanned::{SkipReason, UnscannedPart};
    use crate::reference::Target;

    const TTL: Duration = Duration::from_secs(60);

    fn record(unscanned: Vec<UnscannedPart>) -> Arc<TraceRecord> {
        Arc::new(TraceRecord {
            target: Target::Manual,
            candidates: Vec::new(),
            top: Vec::new(),
            unscanned,
            conflicts: Vec::new(),
            gaps: Vec::new(),
        })
    }

    fn has(store: &TraceStore, principal: &Principal, id: &str, now: Instant) -> bool {
        store.get(principal, id, "trace_id", now).is_ok()
    }

    #[test]
    fn the_newest_of_each_principal_are_kept_for_a_while() {
        let (store, now) = (TraceStore::new(2, TTL), Instant::now());
        let keep = |principal: &Principal| store.keep(principal, record(Vec::new()), now).unwrap();
        let (mine, theirs) = (Principal::Owner, Principal::Anonymous);
        let (first, other) = (keep(&mine), keep(&theirs));
        assert_eq!(first.len(), 32);
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
                "trace_id: no such trace of yours is kept (they last 60 s, the newest 2 are kept); call manual_find or vault_find again"
            )
        );
    }

    #[test]
    fn memory_is_bounded() {
        let (store, now) = (TraceStore::new(1000, TTL), Instant::now());
        let part = UnscannedPart {
            lines: vec![1; 5_000_000],
            ..UnscannedPart::file(None, "a".into(), SkipReason::CandidateCap)
        };
        let large = record(vec![part]);
        let ids: Vec<_> =
            (0..5).map(|_| store.keep(&Principal::Owner, large.clone(), now).unwrap()).collect();
        let kept: Vec<_> = ids.iter().map(|id| has(&store, &Principal::Owner, id, now)).collect();
        assert_eq!(kept, [false, false, true, true, true]);
    }

    #[test]
    fn a_limit_of_zero_keeps_nothing() {
        let (store, now) = (TraceStore::new(0, TTL), Instant::now());
        let id = store.keep(&Principal::Owner, record(Vec::new()), now).unwrap();
        assert!(!has(&store, &Principal::Owner, &id, now));
    }
}
