//! Records what was handed out to a caller, for the trace that led to it and for the coverage of the file, and suggests
//! the next call.

use std::time::Instant;

use annai_core::{Principal, ToolError};
use serde_json::Value;

use crate::handed_out_part::HandedOutPart;
use crate::ranges::LineRange;
use crate::scans::ScanRecord;
use crate::toolset::LibraryState;
use crate::uncovered::CoveredFile;
use annai_files::FileVersion;
use annai_search::reference::NextAction;
use annai_search::{HandedOut, ReadingState, TraceRecord};
use annai_text::Span;

impl LibraryState {
    /// Records a read, and suggests the next calls. Without a `trace_id`, it counts for the newest find of the caller that
    /// searched the file.
    pub fn hand_out(
        &self,
        owner: &Principal,
        part: &HandedOutPart<'_>,
        trace_id: Option<&str>,
    ) -> Result<Vec<NextAction>, ToolError> {
        let now = Instant::now();
        let file = FileVersion::new(part.manual_id, part.path, part.sha256);
        let trace = match trace_id {
            Some(id) => Some((id.into(), self.traces.get(owner, id, "trace_id", now)?)),
            None => self.traces.newest(owner, |record| record.has_searched(part.manual_id, part.path), now),
        };
        let scan = self.scans.add_scanned(owner, &file, lines_of(&part.span), trace_id.is_none(), now);
        let next = trace.and_then(|(id, record)| {
            let next = self.next_of_trace(owner, part, &id, &record, now);
            // A read that the caller did not make for the find, and that has nothing to do with it, changes nothing.
            (trace_id.is_some() || !matches_begun(&record, part).is_empty()).then_some(next)
        });
        let is_completing = trace_id.is_none() && scan.completing.is_some();
        Ok(if is_completing { vec![self.next_of_coverage(part, &scan)] } else { next.unwrap_or_default() })
    }

    /// Records a read for a find, and returns the next calls of that.
    fn next_of_trace(
        &self,
        owner: &Principal,
        part: &HandedOutPart<'_>,
        trace_id: &str,
        record: &TraceRecord,
        now: Instant,
    ) -> Vec<NextAction> {
        let file = FileVersion::new(part.manual_id, part.path, part.sha256);
        let begun = matches_begun(record, part);
        let handed_out = match owner {
            Principal::Anonymous => None,
            _ => {
                let before = self.ledger.of(trace_id, now);
                let next_before = next_match(record, trace_id, &before);
                let handed_out = self.ledger.record(trace_id, file, part.span.clone(), now);
                let next = next_match(record, trace_id, &handed_out);
                // A suggestion whose read returns nothing new is given up, so that a journey always ends.
                let starts_here = |index: usize| {
                    begun.iter().any(|(begun, span)| *begun == index && span.start == part.span.start)
                };
                let has_stalled = next == next_before && handed_out == before && part.continuation.is_none();
                match next.filter(|next| has_stalled && starts_here(*next)) {
                    Some(index) => Some(self.ledger.give_up(trace_id, index, now)),
                    None => Some(handed_out),
                }
            }
        };
        let last_read = begun.last().map(|(index, _)| *index);
        let reading = ReadingState { record, trace_id, handed_out: handed_out.as_ref(), last_read };
        let is_unfinished =
            reading.next_match().is_some_and(|next| begun.iter().any(|(index, _)| *index == next));
        match &part.continuation {
            Some(continuation) if is_unfinished => {
                let mut params = continuation.clone();
                params.insert("trace_id".to_owned(), trace_id.into());
                vec![NextAction::call(part.tool(), 0.9, Value::Object(params))]
            }
            _ => reading.next_actions(),
        }
    }

    /// The next call of a caller who completes the coverage of a file: the rest of a line that was cut, the next lines that
    /// are neither cited nor read, or the coverage.
    fn next_of_coverage(&self, part: &HandedOutPart<'_>, scan: &ScanRecord) -> NextAction {
        let file = CoveredFile {
            manual_id: part.manual_id,
            path: part.path,
            total_lines: part.total_lines,
            max_chunk_lines: self.settings.vault_scan_max_chunk_lines,
        };
        match &part.continuation {
            Some(continuation) if part.span.end.char > 0 => {
                NextAction::call(part.tool(), 0.9, Value::Object(continuation.clone()))
            }
            _ => file.next(scan),
        }
    }
}

/// The match to read next, for a caller with a ledger.
fn next_match(record: &TraceRecord, trace_id: &str, handed_out: &HandedOut) -> Option<usize> {
    ReadingState { record, trace_id, handed_out: Some(handed_out), last_read: None }.next_match()
}

/// The matches of a trace that begin in a part, or that it lies in, with their own text.
fn matches_begun(record: &TraceRecord, part: &HandedOutPart<'_>) -> Vec<(usize, Span)> {
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
