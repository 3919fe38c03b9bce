//! `vault_find`.

use annai_core::{Call, Effect, Facts, Reply, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scopes::READS_VAULT;
use crate::tools::find_limits::{FindBudget, excerpt_limit};
use crate::tools::found_section::FoundSection;
use crate::tools::library_tool::{LibraryTool, facts};
use crate::toolset::Library;
use annai_files::vault::is_hidden;
use annai_files::{FileFilter, LibraryError};
use annai_search::reference::NextAction;
use annai_search::{FindSummary, Goal, OtherWords, VaultFindRequest, find_in_vault};

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The question, or its key terms, in Japanese or English. A "quoted phrase" raises the rank of paragraphs that
    /// contain it; -word excludes paragraphs that contain the word.
    #[schemars(length(min = 1, max = 10_000))]
    query: String,
    /// Other ways to ask the same question, at most eight (optional, but three of them find the answer far more often): in
    /// the language of the text, with the terms that it would use. They add and rank paragraphs; they require and exclude
    /// nothing. Example for "when do I get my pay?": ["payday", "date of salary payment", "when wages are paid"]; for
    /// 「給料日はいつ」: ["賃金の支払日", "給与の支給日", "賃金の計算期間と支払期日"].
    #[serde(default)]
    #[schemars(length(max = 8), inner(length(min = 1, max = 10_000)))]
    phrasings: Vec<String>,
    /// One to three sentences, as the text might state the answer (optional, used like phrasings). Write them in the
    /// language of the text, and invent details that you do not know. Examples: "Salaries are paid on the 25th of each
    /// month." 「賃金は毎月25日に本人の口座へ支払う。」
    #[schemars(length(min = 1, max = 2000))]
    hypothetical: Option<String>,
    /// Which files to search (optional; default: the whole vault).
    scope: Option<FindScope>,
    /// How much you want to read (optional; default: derived from the words of the question). `answer`: next_actions
    /// lead to the best paragraphs. `everything`: next_actions lead through all candidates before `stop`.
    goal: Option<Goal>,
    /// Ignore what was handed out for earlier searches of the same question, so that next_actions start again with the
    /// best paragraph (default false). Use it when you no longer have the text that was read before.
    #[schemars(extend("default" = false))]
    fresh: Option<bool>,
    /// The maximum number of characters of each paragraph to return as `excerpt`, the best matching lines with their numbers
    /// (default 0: none). 240 is usually enough to see whether a paragraph answers the question, and saves a vault_read.
    #[schemars(range(max = 1000), extend("default" = 0))]
    excerpt_chars: Option<usize>,
    /// Limits of this search (optional).
    budget: Option<FindBudget>,
}

/// Where to look.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindScope {
    /// Search only below this folder of the vault (optional).
    relative_dir: Option<String>,
    /// Search only files that match this glob, such as `*.md` or `notes/**`; with a leading `!`, search only files
    /// that do not match (optional).
    #[schemars(length(min = 1, max = 1000))]
    glob: Option<String>,
}

/// What was found.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The id of this search. Pass it to manual_hits to list the places that it found or did not search.
    trace_id: String,
    /// The result in numbers.
    summary: FindSummary,
    /// The best matching paragraphs, best first, at most five.
    top: Vec<FoundSection>,
    /// The suggested next calls, most useful first. `stop` means that nothing is left to read or to search; what
    /// follows it is optional.
    next_actions: Vec<NextAction>,
}

pub(crate) struct VaultFind;

impl Tool for VaultFind {
    const FACTS: Facts = facts(LibraryTool {
        name: "vault_find",
        title: "Explore the vault / 保管庫を探索",
        description: "Search the paragraphs of the vault for a question and return the best matching ones as refs, counts, what was not searched, and the suggested next calls. With the question, pass three `phrasings` (other ways to ask, in the terms of the text) and a `hypothetical` (a passage that would answer it): they find paragraphs that use other words. It returns no text unless excerpt_chars asks for it: read the paragraphs with vault_read.",
        effect: Effect::Read,
        access: READS_VAULT,
        when: "First, for any question that the vault may answer.",
        safe_defaults: r#"{"query":"…","phrasings":["…","…","…"],"hypothetical":"…"}"#,
        common_errors: &[
            ("not_found", "omit scope to search the whole vault"),
            ("invalid_parameter", "the query must contain letters or digits; excerpt_chars is at most 1000"),
        ],
    });
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let scope = input.scope.unwrap_or_default();
        let folder = set.state.vault.parse_visible_folder(scope.relative_dir.as_deref())?;
        if let Some(hidden) = folder.as_ref().filter(|folder| folder.segments().any(is_hidden)) {
            let problem = "is hidden, and hidden folders are not indexed; search it with vault_search";
            return Err(LibraryError::forbidden(hidden.as_str(), problem).into());
        }
        let request = VaultFindRequest {
            query: input.query,
            other_words: OtherWords { phrasings: input.phrasings, hypothetical: input.hypothetical },
            files: FileFilter::new(folder, scope.glob.as_deref(), "scope.glob")?,
            goal: input.goal,
            is_fresh: input.fresh.unwrap_or(false),
            budget: input.budget.unwrap_or_default().into(),
            owner: call.identity().principal(),
        };
        let max_excerpt_chars = excerpt_limit(input.excerpt_chars, &set.state.settings);
        let (found, top) = set
            .read_with_progress(call, move |state, cancellation| {
                let found = find_in_vault(&state.find_context(), &request, cancellation)?;
                let top = FoundSection::best_of(state.find_context(), &found.record, max_excerpt_chars)?;
                Ok((found, top))
            })
            .await?;
        call.note("trace_id", &found.trace_id);
        call.note("summary", found.summary.for_log());
        call.note("next_actions", found.next_actions.iter().map(|action| action.kind).collect::<Vec<_>>());
        let output = Output {
            top,
            trace_id: found.trace_id,
            summary: found.summary,
            next_actions: NextAction::served(found.next_actions, call),
        };
        Ok(Reply::new(output))
    }
}
