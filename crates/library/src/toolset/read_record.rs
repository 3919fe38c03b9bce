//! Records what a read returned to its caller, for the trace that led to it and for the coverage of the file, and suggests
//! the next call.

use std::time::Instant;

use annai_core::{Principal, ToolError};

use crate::coverage::ScanRecord;
use crate::reading::{LineRange, ReturnedPart};
use crate::toolset::LibraryState;
use annai_search::reference::NextAction;
use annai_search::{HandedOut, ReadingState, TraceRecord};
use annai_text::Span;

impl LibraryState {
    /// Records a read, and suggests the next calls. Without a `trace_id`, it counts for the newest find of the caller that
    /// searched the file. Also returns what the caller has done with the file.
    pub(crate) fn record_read(
        &self,
        owner: &Principal,
        part: &ReturnedPart<'_>,
        trace_id: Option<&str>,
    ) -> Result<(Vec<NextAction>, ScanRecord), ToolError> {
        let now = Instant::now();
        let trace = match trace_id {
            Some(id) => Some((id.into(), self.traces.get(owner, id, "trace_id", now)?)),
            None => self.traces.newest(owner, |record| record.has_searched(part.manual_id, part.path), now),
        };
        let lines = lines_of(&part.span);
        let scan = self.scans.add_scanned(owner, &part.version(), lines, trace_id.is_none(), now);
        let next = trace.map(|(id, record)| {
            let begun = matches_begun(&record, part);
            let next = self.next_of_trace(owner, part, &id, &record, &begun);
            // A read that the caller did not make for the find, and that has nothing to do with it, changes nothing.
            if trace_id.is_some() || !begun.is_empty() { next } else { Vec::new() }
        });
        let is_completing = trace_id.is_none() && scan.completing.is_some();
        let next =
            if is_completing { vec![self.next_of_coverage(part, &scan)] } else { next.unwrap_or_default() };
        Ok((next, scan))
    }

    /// Records a read for a find, and returns the next calls of that. `begun` are the matches that the part begins.
    fn next_of_trace(
        &self,
        owner: &Principal,
        part: &ReturnedPart<'_>,
        trace_id: &str,
        record: &TraceRecord,
        begun: &[(usize, Span)],
    ) -> Vec<NextAction> {
        let now = Instant::now();
        let handed_out = (*owner != Principal::Anonymous).then(|| {
            let before = self.ledger.of(trace_id, now);
            let next_before = next_match(record, trace_id, &before);
            let handed_out = self.ledger.record(trace_id, part.version(), part.span.clone(), now);
            let next = next_match(record, trace_id, &handed_out);
            // A suggestion whose read returns nothing new is given up, so that a journey always ends.
            let starts_here = |index: usize| {
                begun.iter().any(|(begun, span)| *begun == index && span.start == part.span.start)
            };
            let has_stalled = next == next_before && handed_out == before && part.continuation.is_none();
            match next.filter(|next| has_stalled && starts_here(*next)) {
                Some(index) => self.ledger.give_up(trace_id, index, now),
                None => handed_out,
            }
        });
        let last_read = begun.last().map(|(index, _)| *index);
        let reading = ReadingState { record, trace_id, handed_out: handed_out.as_ref(), last_read };
        let is_unfinished =
            reading.next_match().is_some_and(|next| begun.iter().any(|(index, _)| *index == next));
        let Some(continuation) = part.continuation.as_ref().filter(|_| is_unfinished) else {
            return reading.next_actions();
        };
        let mut action = NextAction::call(part.tool(), 0.9, continuation.clone());
        action.params.iter_mut().for_each(|params| {
            params.insert("trace_id".to_owned(), trace_id.into());
        });
        vec![action]
    }

    /// The next call of a caller who completes the coverage of a file: the rest of a line that was cut, the next lines that
    /// are neither cited nor read, or the coverage.
    fn next_of_coverage(&self, part: &ReturnedPart<'_>, scan: &ScanRecord) -> NextAction {
        match &part.continuation {
            Some(continuation) if part.span.end.char > 0 => {
                NextAction::call(part.tool(), 0.9, continuation.clone())
            }
            _ => self.covered_file(part.manual_id, part.path, part.total_lines).next(scan),
        }
    }
}

/// The match to read next, for a caller with a ledger.
fn next_match(record: &TraceRecord, trace_id: &str, handed_out: &HandedOut) -> Option<usize> {
    ReadingState { record, trace_id, handed_out: Some(handed_out), last_read: None }.next_match()
}

/// The matches of a trace that begin in a part, or that it lies in, with their own text.
fn matches_begun(record: &TraceRecord, part: &ReturnedPart<'_>) -> Vec<(usize, Span)> {
    let is_same_file = |file: u32| {
        record.files.get(file as usize).is_some_and(|file| {
            file.manual_id.as_deref() == part.manual_id
                && file.path == part.path
                && file.sha256 == *part.sha256
        })
    };
    let begun = record.matches.iter().enumerate().filter(|(_, found)| {
        let begins = part.span.contains(&found.span.start) || found.span.contains(&part.span.start);
        begins && is_same_file(found.file)
    });
    begun.map(|(index, found)| (index, found.span.clone())).collect()
}

/// The lines whose end is in a part.
fn lines_of(span: &Span) -> LineRange {
    LineRange { start_line: span.start.line.into(), end_line: span.end.line.saturating_sub(1).into() }
}
