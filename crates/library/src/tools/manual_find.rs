//! `manual_find`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::LibraryError;
use crate::explore::{
    FindReport, FindRequest, FindSummary, Goal, Intent, MAX_SHOWN, SearchBudget, TraceRecord, find,
    keep_learning_record,
};
use crate::reference::{NextAction, Target};
use crate::tools::found_section::FoundSection;
use crate::toolset::{LIBRARY_READ, Library};

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The question, or its key terms, in Japanese or English. A "quoted phrase" raises the rank of sections that
    /// contain it; -word excludes sections that contain the word.
    #[schemars(length(min = 1, max = 10_000))]
    pub query: String,
    /// Search this manual first (optional; default: all manuals, or the server's DEFAULT_MANUAL_ID).
    pub manual_id: Option<String>,
    /// What kind of answer the question asks for (optional; default: derived from its words).
    pub intent: Option<Intent>,
    /// How much you want to read (optional; default: derived from the words of the question). `answer`: next_actions
    /// lead to the best sections. `everything`: next_actions lead through all candidates before `stop`.
    pub goal: Option<Goal>,
    /// Ignore what was handed out for earlier searches of the same question, so that next_actions start again with the
    /// best section (default false). Use it when you no longer have the text that was read before.
    #[schemars(extend("default" = false))]
    pub fresh: Option<bool>,
    /// The last search stage (default 4, unless the server sets DEFAULT_MAX_STAGE): 3 stays in the chosen manual, 4
    /// also searches the other manuals when the matches are not sufficient. Without a chosen manual all manuals are
    /// searched anyway.
    #[schemars(range(min = 3, max = 4), extend("default" = 4))]
    pub max_stage: Option<u8>,
    /// Search only the places that the search with this trace_id did not search (optional).
    pub only_unscanned_from_trace_id: Option<String>,
    /// Limits of this search (optional).
    pub budget: Option<FindBudget>,
}

/// The limits of a search.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindBudget {
    /// The maximum number of matching sections to keep (default: all of them). The matches beyond it are reported as
    /// unscanned, with the reason `candidate_cap`.
    #[schemars(range(min = 1, max = 2000))]
    pub max_candidates: Option<usize>,
    /// The maximum time in milliseconds (default 60000). What was not searched by then is reported as unscanned.
    #[schemars(range(min = 1, max = 600_000), extend("default" = 60_000))]
    pub time_ms: Option<u64>,
}

impl From<FindBudget> for SearchBudget {
    fn from(budget: FindBudget) -> Self {
        Self {
            max_candidates: budget.max_candidates,
            time: Duration::from_millis(budget.time_ms.unwrap_or(60_000)),
        }
    }
}

/// What was found.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Output {
    /// The id of this search. Pass it to manual_hits to page through everything that it found or did not search.
    pub trace_id: String,
    /// The result in numbers.
    pub summary: FindSummary,
    /// The best matching sections, best first, at most five.
    pub top: Vec<FoundSection>,
    /// The suggested next calls, most useful first. `stop` means that nothing is left to do.
    pub next_actions: Vec<NextAction>,
}

/// The trace of an earlier `manual_find` of the same principal.
fn earlier_trace(set: &Library, call: &Call, id: &str) -> Result<Arc<TraceRecord>, ToolError> {
    let argument = "only_unscanned_from_trace_id";
    let record = set.state.traces.get(&call.identity().principal(), id, argument, Instant::now())?;
    if record.target == Target::Vault {
        let problem = "expected a trace of manual_find, got one of vault_find";
        return Err(LibraryError::invalid(argument, problem).into());
    }
    Ok(record)
}

impl From<&FindReport> for Output {
    fn from(report: &FindReport) -> Self {
        let record = &report.record;
        Self {
            trace_id: report.trace_id.clone(),
            summary: report.summary.clone(),
            top: record.best().take(MAX_SHOWN).filter_map(|found| FoundSection::new(record, found)).collect(),
            next_actions: report.next_actions.clone(),
        }
    }
}

/// Search the manuals for a question and return the best matching sections as refs, counts, what was not searched,
/// and the suggested next calls. It returns no text: read the sections with manual_read.
pub struct ManualFind;

impl Tool for ManualFind {
    const FACTS: Facts = Facts {
        name: "manual_find",
        title: "Explore the manuals / マニュアルを探索",
        description: "Search the manuals for a question and return the best matching sections as refs, counts, what was not searched, and the suggested next calls. It returns no text: read the sections with manual_read.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::Local(LIBRARY_READ),
        sponsor: Sponsor::Never,
        widget: None,
        guide: Guide {
            when: "First, for any question that the manuals may answer.",
            safe_defaults: r#"{"query":"…"}"#,
            common_errors: &[
                ("not_found", "manual_list returns the manuals; a trace_id expires after half an hour"),
                ("invalid_parameter", "max_stage is 3 or 4"),
            ],
        },
    };
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let settings = &set.state.settings;
        let left_out_of = match input.only_unscanned_from_trace_id.as_deref() {
            Some(id) => Some(earlier_trace(set, call, id)?),
            None => None,
        };
        let request = FindRequest {
            query: input.query,
            manual_id: input.manual_id,
            intent: input.intent,
            goal: input.goal,
            is_fresh: input.fresh.unwrap_or(false),
            max_stage: input.max_stage.unwrap_or(settings.default_max_stage).min(settings.hard_max_stage),
            hard_max_stage: settings.hard_max_stage,
            left_out_of,
            budget: input.budget.unwrap_or_default().into(),
            owner: call.identity().principal(),
        };
        let mut output = set
            .read_with_progress(call, move |state, cancellation| {
                let report = find(&state.explore_context(), &request, cancellation)?;
                let output = Output::from(&report);
                let chars = serde_json::to_string(&output).map_or(0, |text| text.chars().count());
                keep_learning_record(&state.adaptive, &request, &report, chars);
                Ok(output)
            })
            .await?;
        output.next_actions = NextAction::served(output.next_actions, call);
        call.note("trace_id", &output.trace_id);
        call.note("summary", output.summary.for_log());
        call.note("next_actions", output.next_actions.iter().map(|action| action.kind).collect::<Vec<_>>());
        Ok(Reply::new(output))
    }
}
