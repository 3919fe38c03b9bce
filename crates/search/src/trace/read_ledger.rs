//! The read ledger: which parts of which files were handed out for each trace, so that next actions lead to what the
//! caller has not read yet.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use annai_core::{BoundedStore, StoreLimits};

use crate::trace::{TraceMatch, TraceRecord};
use annai_files::FileVersion;
use annai_text::Span;

/// The maximum number of separate parts that are remembered for one trace. Neighboring parts count as one; what is read
/// beyond the limit counts as unread, so it is suggested again.
const MAX_SPANS: usize = 10_000;
/// The maximum size of the ledgers of all traces together. Beyond it, the ledger that was used longest ago is forgotten.
const MAX_LEDGER_BYTES: usize = 16 << 20;
/// The approximate size of a ledger in memory, apart from its files: its id and the bookkeeping of the store.
const LEDGER_BYTES: usize = 250;
/// The approximate size of a remembered part in memory.
const SPAN_BYTES: usize = 24;
/// The approximate size of a file in a ledger, apart from its parts.
const FILE_BYTES: usize = 200;

/// The ledgers of all traces. A trace belongs to one principal, so a ledger does too.
pub struct ReadLedger {
    traces: BoundedStore<Arc<str>, HandedOut>,
}

/// What was handed out for one trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HandedOut {
    files: HashMap<FileVersion, Vec<Span>>,
    /// The matches that are not suggested any more, as indexes, because following the suggestion did not hand them out.
    given_up: HashSet<usize>,
}

impl ReadLedger {
    /// A ledger whose entries live as long as traces do.
    pub fn new(time_to_live: Duration) -> Self {
        let limits = StoreLimits { entries: usize::MAX, bytes: MAX_LEDGER_BYTES, time_to_live };
        Self { traces: BoundedStore::new(limits) }
    }

    /// What was handed out for a trace.
    pub fn of(&self, trace_id: &str, now: Instant) -> HandedOut {
        self.traces.get(trace_id, now).unwrap_or_default()
    }

    /// Records that a part of a file was handed out for a trace, and returns all that was.
    pub fn record(&self, trace_id: &str, file: FileVersion, part: Span, now: Instant) -> HandedOut {
        self.traces.update(trace_id.into(), now, |known| known.add(file, part), HandedOut::bytes)
    }

    /// Notes that a suggested match is not suggested again, because reads did not hand it out. It stays unread.
    pub fn give_up(&self, trace_id: &str, index: usize, now: Instant) -> HandedOut {
        let note = |known: &mut HandedOut| {
            known.given_up.insert(index);
        };
        self.traces.update(trace_id.into(), now, note, HandedOut::bytes)
    }

    /// Begins the ledger of a trace with what was handed out for an earlier one.
    pub fn begin_with(&self, trace_id: &str, earlier: HandedOut, now: Instant) {
        let bytes = earlier.bytes();
        self.traces.put(trace_id.into(), earlier, bytes, now);
    }
}

impl HandedOut {
    /// The same for another find, whose matches have other indexes.
    pub fn for_another_trace(self) -> Self {
        Self { given_up: HashSet::new(), ..self }
    }

    fn add(&mut self, file: FileVersion, part: Span) {
        let count: usize = self.files.values().map(Vec::len).sum();
        if count >= MAX_SPANS && !self.files.contains_key(&file) {
            return;
        }
        let spans = self.files.entry(file).or_default();
        // The parts that touch the new one become a part of it.
        let first = spans.partition_point(|known| known.end < part.start);
        let end = spans.partition_point(|known| known.start <= part.end);
        let touched = spans.get(first..end).unwrap_or_default();
        if touched.is_empty() && count >= MAX_SPANS {
            return;
        }
        let start = touched.first().map_or(part.start, |known| known.start.min(part.start));
        let last = touched.last().map_or(part.end, |known| known.end.max(part.end));
        spans.splice(first..end.max(first), [start..last]);
    }

    /// Whether a part of a file was handed out as a whole.
    pub fn has(&self, file: &FileVersion, part: &Span) -> bool {
        let Some(spans) = self.files.get(file) else { return false };
        let index = spans.partition_point(|known| known.start <= part.start);
        let known = index.checked_sub(1).and_then(|index| spans.get(index));
        known.is_some_and(|known| part.end <= known.end)
    }

    /// The parts of a file that were handed out.
    #[cfg(test)]
    pub fn parts(&self, file: &FileVersion) -> &[Span] {
        self.files.get(file).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether a match, by its index, is not suggested any more.
    pub fn has_given_up(&self, index: usize) -> bool {
        self.given_up.contains(&index)
    }

    /// Whether a match of a trace was handed out.
    pub fn has_match(&self, record: &TraceRecord, found: &TraceMatch) -> bool {
        if self.files.is_empty() {
            return false;
        }
        record.file_of(found).is_some_and(|file| self.has(&file.version(), &found.span))
    }

    fn bytes(&self) -> usize {
        let files = self.files.values().map(|spans| FILE_BYTES + spans.len() * SPAN_BYTES);
        LEDGER_BYTES + files.sum::<usize>() + self.given_up.len() * SPAN_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use annai_files::fs::Sha256;
    use annai_text::Position;

    const TTL: Duration = Duration::from_secs(60);

    fn file(path: &str) -> FileVersion {
        FileVersion::new(Some("m"), path, &Sha256::of(b"1"))
    }

    fn lines(first: u32, last: u32) -> Span {
        Position::line_start(first)..Position::line_start(last + 1)
    }

    #[test]
    fn parts_that_touch_are_merged_and_each_trace_has_its_own() {
        let (ledger, now) = (ReadLedger::new(TTL), Instant::now());
        let add = |trace: &str, part: Span| ledger.record(trace, file("a.md"), part, now);
        add("1", lines(1, 3));
        add("1", lines(8, 9));
        assert!(!ledger.of("1", now).has(&file("a.md"), &lines(3, 8)));
        let handed_out = add("1", lines(4, 7));
        assert_eq!(handed_out.parts(&file("a.md")), [lines(1, 9)]);
        assert!(handed_out.has(&file("a.md"), &lines(3, 8)) && !handed_out.has(&file("b.md"), &lines(3, 8)));
        assert!(!ledger.of("2", now).has(&file("a.md"), &lines(3, 8)), "another trace has read nothing");
        assert!(!ledger.of("1", now + TTL).has(&file("a.md"), &lines(3, 8)), "it expires with the trace");
        let other = FileVersion::new(Some("m"), "a.md", &Sha256::of(b"2"));
        assert!(!handed_out.has(&other, &lines(3, 8)), "another version was not read");
        let half = Position::line_start(12)..Position { line: 12, char: 5 };
        assert!(!add("1", half).has(&file("a.md"), &lines(12, 12)), "half a line is not a line");
    }

    #[test]
    fn a_caller_that_reads_many_places_has_a_bounded_ledger() {
        let mut handed_out = HandedOut::default();
        for place in 0..100_000 {
            handed_out.add(file("a.md"), lines(place * 2 + 1, place * 2 + 1));
        }
        assert_eq!(handed_out.parts(&file("a.md")).len(), MAX_SPANS);
        assert!(
            handed_out.has(&file("a.md"), &lines(1, 1))
                && !handed_out.has(&file("a.md"), &lines(199_999, 199_999))
        );
        handed_out.add(file("a.md"), lines(2, 2));
        assert!(handed_out.has(&file("a.md"), &lines(1, 3)), "what closes a gap is still recorded");
        let bytes = handed_out.bytes();
        (0..MAX_SPANS).for_each(|number| handed_out.add(file(&format!("{number}.md")), lines(1, 1)));
        assert!(handed_out.bytes() <= bytes + FILE_BYTES + SPAN_BYTES, "other files need no memory");
    }

    #[test]
    fn many_traces_without_reads_have_bounded_ledgers_too() {
        let (ledger, now) = (ReadLedger::new(TTL), Instant::now());
        for number in 0..100_000 {
            ledger.begin_with(&number.to_string(), HandedOut::default(), now);
        }
        assert!(ledger.traces.len() <= MAX_LEDGER_BYTES / LEDGER_BYTES);
    }
}
