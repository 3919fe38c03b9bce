//! `manual_find`.

use std::sync::Arc;
use std::time::Instant;

use annai_core::{Access, Call, Effect, Facts, Reply, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scopes::LIBRARY_READ;
use crate::tools::find_limits::{FindBudget, excerpt_limit};
use crate::tools::found_section::FoundSection;
use crate::tools::library_tool::{LibraryTool, facts};
use crate::toolset::Library;
use annai_files::LibraryError;
use annai_search::reference::{NextAction, Target};
use annai_search::{FindRequest, FindSummary, Goal, Intent, OtherWords, TraceRecord, find};

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The question, or its key terms, in Japanese or English. A "quoted phrase" raises the rank of sections that
    /// contain it; -word excludes sections that contain the word.
    #[schemars(length(min = 1, max = 10_000))]
    query: String,
    /// Other ways to ask the same question, at most eight (optional, but three of them find the answer far more often): in
    /// the language of the manual, with the terms that it would use. They add and rank sections; they require and exclude
    /// nothing. Example for "when do I get my pay?": ["payday", "date of salary payment", "when wages are paid"]; for
    /// 「給料日はいつ」: ["賃金の支払日", "給与の支給日", "賃金の計算期間と支払期日"].
    #[serde(default)]
    #[schemars(length(max = 8), inner(length(min = 1, max = 10_000)))]
    phrasings: Vec<String>,
    /// One to three sentences, as the manual might state the answer (optional, used like phrasings). Write them in the
    /// language of the manual, and invent details that you do not know. Examples: "Salaries are paid on the 25th of each
    /// month." 「賃金は毎月25日に本人の口座へ支払う。」
    #[schemars(length(min = 1, max = 2000))]
    hypothetical: Option<String>,
    /// Search this manual first (optional; default: all manuals, or the server's DEFAULT_MANUAL_ID).
    manual_id: Option<String>,
    /// What kind of answer the question asks for (optional; default: derived from its words).
    intent: Option<Intent>,
    /// How much you want to read (optional; default: derived from the words of the question). `answer`: next_actions
    /// lead to the best sections. `everything`: next_actions lead through all candidates before `stop`.
    goal: Option<Goal>,
    /// Ignore what was handed out for earlier searches of the same question, so that next_actions start again with the
    /// best section (default false). Use it when you no longer have the text that was read before.
    #[schemars(extend("default" = false))]
    fresh: Option<bool>,
    /// The last search stage (default 4, unless the server sets DEFAULT_MAX_STAGE): 3 stays in the chosen manual, 4
    /// also searches the other manuals when the matches are not sufficient. Without a chosen manual all manuals are
    /// searched anyway.
    #[schemars(range(min = 3, max = 4), extend("default" = 4))]
    max_stage: Option<u8>,
    /// Search only the places that the search with this trace_id did not search (optional).
    only_unscanned_from_trace_id: Option<String>,
    /// The maximum number of characters of each section to return as `excerpt`, the best matching lines with their numbers
    /// (default 0: none). 240 is usually enough to see whether a section answers the question, and saves a manual_read.
    #[schemars(range(max = 1000), extend("default" = 0))]
    excerpt_chars: Option<usize>,
    /// Limits of this search (optional).
    budget: Option<FindBudget>,
}

/// What was found.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The id of this search. Pass it to manual_hits to page through everything that it found or did not search.
    trace_id: String,
    /// The result in numbers.
    summary: FindSummary,
    /// The best matching sections, best first, at most five.
    top: Vec<FoundSection>,
    /// The suggested next calls, most useful first. `stop` means that nothing is left to read or to search; what
    /// follows it is optional.
    next_actions: Vec<NextAction>,
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

pub(crate) struct ManualFind;

impl Tool for ManualFind {
    const FACTS: Facts = facts(LibraryTool {
        name: "manual_find",
        title: "Explore the manuals / マニュアルを探索",
        description: "Search the manuals for a question and return the best matching sections as refs, counts, what was not searched, and the suggested next calls. With the question, pass three `phrasings` (other ways to ask, in the terms of the manual) and a `hypothetical` (a passage that would answer it): they find sections that use other words. It returns no text unless excerpt_chars asks for it: read the sections with manual_read.",
        effect: Effect::Read,
        access: Access::Local(LIBRARY_READ),
        when: "First, for any question that the manuals may answer.",
        safe_defaults: r#"{"query":"…","phrasings":["…","…","…"],"hypothetical":"…"}"#,
        common_errors: &[
            ("not_found", "manual_list returns the manuals; a trace_id expires after half an hour"),
            ("invalid_parameter", "max_stage is 3 or 4, and excerpt_chars at most 1000"),
        ],
    });
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let settings = &set.state.settings;
        let left_out_of = input.only_unscanned_from_trace_id.as_deref();
        let left_out_of = left_out_of.map(|id| earlier_trace(set, call, id)).transpose()?;
        let max_excerpt_chars = excerpt_limit(input.excerpt_chars, settings);
        let request = FindRequest {
            query: input.query,
            other_words: OtherWords { phrasings: input.phrasings, hypothetical: input.hypothetical },
            manual_id: input.manual_id,
            intent: input.intent,
            goal: input.goal,
            is_fresh: input.fresh.unwrap_or(false),
            max_stage: input.max_stage.unwrap_or(settings.default_max_stage).min(settings.hard_max_stage),
            hard_max_stage: settings.hard_max_stage,
            left_out_of,
            rules: settings.rules,
            budget: input.budget.unwrap_or_default().into(),
            owner: call.identity().principal(),
        };
        let mut output = set
            .read_with_progress(call, move |state, cancellation| {
                let report = find(&state.find_context(), &request, cancellation)?;
                let output = Output {
                    trace_id: report.trace_id.clone(),
                    summary: report.summary.clone(),
                    top: FoundSection::best_of(state.find_context(), &report.record, max_excerpt_chars)?,
                    next_actions: report.next_actions.clone(),
                };
                let chars = serde_json::to_string(&output).map_or(0, |text| text.chars().count());
                state.find_statistics.record_find(&request, &report, chars);
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
