//! The end of a find: its trace begins with what the caller has read of the same question before, and is stored with
//! the suggested next call.

use std::sync::Arc;
use std::time::Instant;

use annai_core::{Principal, ToolError};
use serde_json::Value;

use crate::context::FindContext;
use crate::find::reading_order::ReadingState;
use crate::reference::NextAction;
use crate::trace::TraceRecord;
use crate::trace::read_ledger::HandedOut;
use crate::trace::trace_store::new_trace_id;

/// A trace that is not stored yet.
pub struct NewTrace {
    /// Its id.
    pub id: String,
    /// The trace.
    pub record: TraceRecord,
    /// What was handed out to the caller before; none for a caller without a ledger.
    pub handed_out: Option<HandedOut>,
}

/// A stored trace.
pub struct StoredTrace {
    /// Its id.
    pub id: String,
    /// The trace.
    pub record: Arc<TraceRecord>,
    /// The suggested next calls, most useful first.
    pub next_actions: Vec<NextAction>,
}

impl NewTrace {
    /// Begins a trace. Unless `is_fresh`, what was handed out for the caller's last find of the same question, or for the
    /// find that suggested this one, counts as read, because the caller goes on with it.
    pub fn begin(
        context: &FindContext<'_>,
        owner: &Principal,
        is_fresh: bool,
        mut record: TraceRecord,
    ) -> Result<Self, ToolError> {
        let now = Instant::now();
        let question = record.question.trim().to_owned();
        let is_same =
            |earlier: &TraceRecord| earlier.target == record.target && earlier.question.trim() == question;
        let has_suggested = |earlier: &TraceRecord| {
            let suggested = earlier.follow_up.params.as_ref().and_then(|params| params.get("query"));
            earlier.target == record.target
                && suggested.and_then(Value::as_str).is_some_and(|suggested| suggested.trim() == question)
        };
        let handed_out = match owner {
            // Anonymous callers cannot be told apart.
            Principal::Anonymous => None,
            _ if is_fresh => Some(HandedOut::default()),
            _ => {
                let continues = |earlier: &TraceRecord| is_same(earlier) || has_suggested(earlier);
                let earlier = context.traces.newest(owner, continues, now);
                let suggested = earlier.as_ref().is_some_and(|(_, earlier)| has_suggested(earlier));
                record.is_follow_up = suggested;
                Some(
                    earlier
                        .map(|(id, _)| context.ledger.of(&id, now).for_another_trace())
                        .unwrap_or_default(),
                )
            }
        };
        Ok(Self { id: new_trace_id()?, record, handed_out })
    }

    /// Stores the trace with what to do when everything that has to be read was read.
    /// A request for other wordings comes after what can be read, and before `stop`.
    pub fn keep(
        self,
        context: &FindContext<'_>,
        owner: &Principal,
        follow_up: NextAction,
        request: Option<NextAction>,
    ) -> StoredTrace {
        let now = Instant::now();
        let Self { id, record, handed_out } = self;
        let follow_up = match &request {
            Some(request) if follow_up.kind == "stop" => request.clone(),
            _ => follow_up,
        };
        let record = Arc::new(TraceRecord { follow_up, ..record });
        context.traces.keep(owner, &id, record.clone(), now);
        let reading =
            ReadingState { record: &record, trace_id: &id, handed_out: handed_out.as_ref(), last_read: None };
        let mut next_actions = reading.next_actions();
        next_actions.extend(request.filter(|request| !next_actions.contains(request)));
        // Nothing of this find is left to be read, so that asking again is all that can help.
        next_actions.sort_by_key(|action| action.kind == "stop");
        if let Some(handed_out) = handed_out {
            context.ledger.begin_with(&id, handed_out, now);
        }
        StoredTrace { id, record, next_actions }
    }
}

#[cfg(test)]
#[path = "new_trace_tests.rs"]
mod tests;
