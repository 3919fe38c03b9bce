//! The order in which the matches of a find are to be read, and the suggested next call for a caller who has read some
//! of them.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::query::terms::Goal;
use crate::ranking::MAX_SHOWN;
use crate::reference::{NextAction, Target};
use crate::trace::read_ledger::HandedOut;
use crate::trace::{TraceMatch, TraceRecord};

/// With goal `answer`, a match with at least this share of the best score is read too.
const CLOSE_SCORE: f32 = 0.4;
/// With goal `answer`, the maximum number of matches to read: after the find, all that a reply shows.
const MAX_READS: usize = MAX_SHOWN;
/// The same where another find follows, and for that find. Together a journey to the answer has at most eight calls.
const MAX_READS_BEFORE_FOLLOW_UP: usize = 4;
const MAX_READS_OF_FOLLOW_UP: usize = 2;
/// The confidence of stopping where other wordings could find more.
const UNANSWERED_CONFIDENCE: f64 = 0.3;
/// The confidence of a suggested read.
const READ_CONFIDENCE: f64 = 0.9;
/// The number of characters that are requested of a passage whose length is not known: as many as a passage may have.
const PASSAGE_CHARS: u32 = 4000;

/// Who asks for the next action, and what they have read.
pub struct ReadingState<'a> {
    /// The trace.
    pub record: &'a TraceRecord,
    /// The id of the trace.
    pub trace_id: &'a str,
    /// What was handed out for the trace; none for a caller without a ledger.
    pub handed_out: Option<&'a HandedOut>,
    /// The match that was read last, for a caller without a ledger.
    pub last_read: Option<usize>,
}

impl ReadingState<'_> {
    /// The match to read next, as an index; none when everything that has to be read was read.
    pub fn next_match(&self) -> Option<usize> {
        let list = reading_list(self.record);
        let found = |index: &usize| self.record.matches.get(*index);
        let next = match (self.handed_out, self.last_read) {
            (Some(handed_out), _) => list.iter().find(|index| {
                let is_unread = |found: &TraceMatch| !handed_out.has_match(self.record, found);
                !handed_out.has_given_up(**index) && found(index).is_some_and(is_unread)
            }),
            // Without a ledger, everything up to the last read counts as read.
            (None, Some(last)) => {
                let position = list.iter().position(|index| *index == last);
                position.and_then(|position| list.get(position + 1))
            }
            (None, None) => list.first(),
        };
        next.copied()
    }

    /// The next calls: read what has to be read and was not, then follow up. What the caller would have to complete comes
    /// after `stop`: who has read the answer is done.
    pub fn next_actions(&self) -> Vec<NextAction> {
        let action = self.next_action();
        let stop = action.note.is_some().then(|| NextAction::stop(UNANSWERED_CONFIDENCE));
        stop.into_iter().chain([action]).collect()
    }

    fn next_action(&self) -> NextAction {
        let next = self.next_match().and_then(|index| self.record.matches.get(index));
        let action = next.and_then(|found| read_action(self.record, found, self.trace_id));
        action.unwrap_or_else(|| self.record.follow_up.clone())
    }
}

/// The matches to read, in order, as indexes: the best one, the sides of conflicts among the best five, and with goal
/// `everything` the rest of the evidence, otherwise the matches that are nearly as good as the best one.
fn reading_list(record: &TraceRecord) -> Vec<usize> {
    let ranked = || record.ranked.iter().map(|index| *index as usize);
    let mut list: Vec<usize> = ranked().take(1).collect();
    let top: Vec<usize> = ranked().take(MAX_SHOWN).collect();
    for conflict in &record.conflicts {
        let sides = [conflict.one as usize, conflict.other as usize];
        if sides.iter().any(|side| top.contains(side)) {
            list.extend(sides);
        }
    }
    let found = |index: &usize| record.matches.get(*index);
    match record.goal {
        Goal::Everything => {
            let is_evidence = |index: &usize| found(index).is_some_and(|found| found.kind.is_evidence());
            let is_outside = |index: &usize| found(index).is_some_and(|found| found.is_outside);
            let mut rest: Vec<usize> = ranked().chain(0..record.matches.len()).filter(is_evidence).collect();
            rest.sort_by_key(is_outside);
            list.extend(rest);
        }
        Goal::Answer => {
            let best = list.first().and_then(found);
            let is_close = |index: &usize| match (best, found(index)) {
                (Some(best), Some(other)) => {
                    other.is_outside == best.is_outside && other.score >= best.score * CLOSE_SCORE
                }
                _ => false,
            };
            list.extend(top.iter().copied().filter(is_close));
        }
    }
    let mut seen = HashSet::new();
    list.retain(|index| seen.insert(*index));
    if record.goal == Goal::Answer {
        list.truncate(match (record.is_follow_up, record.follow_up.kind) {
            (true, _) => MAX_READS_OF_FOLLOW_UP,
            (false, "stop") => MAX_READS,
            (false, _) => MAX_READS_BEFORE_FOLLOW_UP,
        });
    }
    list
}

/// Suggests reading a match: its section, or its own text where the section is long and in a JSON file.
fn read_action(record: &TraceRecord, found: &TraceMatch, trace_id: &str) -> Option<NextAction> {
    let file = record.file_of(found)?;
    let place = record.ref_of(found)?;
    let span = &found.span;
    let last_line = if span.end.char == 0 { span.end.line.saturating_sub(1) } else { span.end.line };
    if record.target == Target::Vault {
        let range = json!({ "start_line": span.start.line, "end_line": last_line.max(span.start.line) });
        let mut params = json!({ "path": file.path, "range": range, "trace_id": trace_id });
        if let (Some(params), true) = (params.as_object_mut(), span.start.char > 0) {
            // A passage inside a long line.
            let cursor = json!({ "start_line": span.start.line, "char": span.start.char });
            params.insert("cursor".to_owned(), cursor);
        }
        return Some(NextAction::call("vault_read", READ_CONFIDENCE, params));
    }
    let least = json!({
        "target": place.target,
        "manual_id": place.manual_id,
        "path": place.path,
        "start_line": span.start.line,
        "rev": place.rev,
    });
    let mut params = json!({ "ref": least, "trace_id": trace_id });
    let members = params.as_object_mut()?;
    if let (Some(place), true) = (members.get_mut("ref").and_then(Value::as_object_mut), span.start.char > 0)
    {
        place.insert("char".to_owned(), span.start.char.into());
    }
    if found.fits_one_read && !file.is_json {
        members.insert("scope".to_owned(), "section".into());
    } else {
        // Exactly its own text, wherever it begins and ends.
        members.insert("lines".to_owned(), json!({ "start": span.start.line, "end": last_line }));
        if span.start.char > 0 {
            let cursor = json!({ "start_line": span.start.line, "char": span.start.char });
            members.insert("cursor".to_owned(), cursor);
        }
        let max_chars = match span.end.char {
            0 => None,
            end if span.end.line == span.start.line => Some(end - span.start.char),
            _ => Some(PASSAGE_CHARS),
        };
        members.extend(max_chars.map(|max_chars| ("limits".to_owned(), json!({ "max_chars": max_chars }))));
    }
    Some(NextAction::call("manual_read", READ_CONFIDENCE, params))
}

#[cfg(test)]
#[path = "reading_order_tests.rs"]
mod tests;
