//! `vault_find`.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::manual_find::FindBudget;
use crate::explore::{Goal, MAX_SHOWN, VaultFindRequest, VaultFindSummary, find_in_vault};
use crate::reference::NextAction;
use crate::search::FileFilter;
use crate::tools::found_section::FoundSection;
use crate::toolset::{LIBRARY_READ, Library};
use crate::vault::parse_visible_folder;

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The question, or its key terms, in Japanese or English. A "quoted phrase" raises the rank of paragraphs that
    /// contain it; -word excludes paragraphs that contain the word.
    #[schemars(length(min = 1, max = 10_000))]
    pub query: String,
    /// Which files to search (optional; default: the whole vault).
    pub scope: Option<FindScope>,
    /// How much you want to read (optional; default: derived from the words of the question). `answer`: next_actions
    /// lead to the best paragraphs. `everything`: next_actions lead through all candidates before `stop`.
    pub goal: Option<Goal>,
    /// Ignore what was handed out for earlier searches of the same question, so that next_actions start again with the
    /// best paragraph (default false). Use it when you no longer have the text that was read before.
    #[schemars(extend("default" = false))]
    pub fresh: Option<bool>,
    /// Limits of this search (optional).
    pub budget: Option<FindBudget>,
}

/// Where to look.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindScope {
    /// Search only below this folder of the vault (optional).
    pub relative_dir: Option<String>,
    /// Search only files that match this glob, such as `*.md` or `notes/**`; with a leading `!`, search only files
    /// that do not match (optional).
    #[schemars(length(min = 1, max = 1000))]
    pub glob: Option<String>,
}

/// What was found.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Output {
    /// The id of this search. Pass it to manual_hits to list the places that it found or did not search.
    pub trace_id: String,
    /// The result in numbers.
    pub summary: VaultFindSummary,
    /// The best matching paragraphs, best first, at most five.
    pub top: Vec<FoundSection>,
    /// The suggested next calls, most useful first. `stop` means that nothing is left to do.
    pub next_actions: Vec<NextAction>,
}

/// Search the paragraphs of the vault for a question and return the best matching ones as refs, counts, what was not
/// searched, and the suggested next calls.
pub struct VaultFind;

impl Tool for VaultFind {
    const FACTS: Facts = Facts {
        name: "vault_find",
        title: "Explore the vault / 保管庫を探索",
        description: "Search the paragraphs of the vault for a question and return the best matching ones as refs, counts, what was not searched, and the suggested next calls. It returns no text: read the paragraphs with vault_read.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::Local(LIBRARY_READ),
        sponsor: Sponsor::Never,
        widget: None,
        guide: Guide {
            when: "First, for any question that the vault may answer.",
            safe_defaults: r#"{"query":"…"}"#,
            common_errors: &[
                ("not_found", "omit scope to search the whole vault"),
                ("invalid_parameter", "the query must contain letters or digits"),
            ],
        },
    };
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let scope = input.scope.unwrap_or_default();
        let folder = parse_visible_folder(scope.relative_dir.as_deref())?;
        let request = VaultFindRequest {
            query: input.query,
            files: FileFilter::new(folder, scope.glob.as_deref(), "scope.glob")?,
            goal: input.goal,
            is_fresh: input.fresh.unwrap_or(false),
            budget: input.budget.unwrap_or_default().into(),
            owner: call.identity().principal(),
        };
        let found = set
            .read_with_progress(call, move |state, cancellation| {
                find_in_vault(&state.explore_context(), &request, cancellation)
            })
            .await?;
        call.note("trace_id", &found.trace_id);
        call.note("summary", found.summary.for_log());
        call.note("next_actions", found.next_actions.iter().map(|action| action.kind).collect::<Vec<_>>());
        let top = found.record.best().take(MAX_SHOWN);
        let output = Output {
            top: top.filter_map(|best| FoundSection::new(&found.record, best)).collect(),
            trace_id: found.trace_id,
            summary: found.summary,
            next_actions: NextAction::served(found.next_actions, call),
        };
        Ok(Reply::new(output))
    }
}
