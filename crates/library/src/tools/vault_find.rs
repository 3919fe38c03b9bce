//! `vault_find`.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::manual_find::FindBudget;
use crate::explore::{VaultFindRequest, VaultFindSummary, find_in_vault};
use crate::fs::RelPath;
use crate::reference::NextAction;
use crate::search::FileFilter;
use crate::toolset::{LIBRARY_READ, Library};
use crate::vault::check_open;

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The question or the words; a "quoted phrase" counts most, paragraphs with a -refused word are left out.
    #[schemars(length(min = 1, max = 10_000))]
    pub query: String,
    /// Where to look; everywhere where it is left out.
    pub scope: Option<FindScope>,
    /// At what cost.
    pub budget: Option<FindBudget>,
}

/// Where to look.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindScope {
    /// Only below this folder.
    pub relative_dir: Option<String>,
    /// Only files that fit, as in `*.md` or `notes/**`; `!` in front leaves them out.
    #[schemars(length(min = 1, max = 1000))]
    pub glob: Option<String>,
}

/// What was found.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Output {
    /// By which manual_hits gives the places.
    pub trace_id: String,
    /// In numbers.
    pub summary: VaultFindSummary,
    /// What to do next.
    pub next_actions: Vec<NextAction>,
}

/// Find everything about a question in the vault, paragraph by paragraph; manual_hits shows the places.
pub struct VaultFind;

impl Tool for VaultFind {
    const FACTS: Facts = Facts {
        name: "vault_find",
        title: "Explore the vault / 保管庫を探索",
        description: "Find everything about a question in the vault, paragraph by paragraph; manual_hits shows the places.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::Local(LIBRARY_READ),
        sponsor: Sponsor::Never,
        widget: None,
        guide: Guide {
            when: "First, for any question about the vault.",
            safe_defaults: r#"{"query":"…"}"#,
            common_errors: &[
                ("not_found", "leave scope out to look everywhere"),
                ("invalid_parameter", "the query needs letters or digits"),
            ],
        },
    };
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let scope = input.scope.unwrap_or_default();
        let folder = scope.relative_dir.as_deref().map(RelPath::parse_folder).transpose()?.flatten();
        if let Some(folder) = &folder {
            check_open(folder)?;
        }
        let request = VaultFindRequest {
            query: input.query,
            files: FileFilter::new(folder, scope.glob.as_deref())?,
            budget: input.budget.unwrap_or_default().into(),
            owner: call.identity().principal(),
        };
        let found = set
            .read_with_progress(call, move |state, cancellation| {
                find_in_vault(&state.explore_context(), &request, cancellation)
            })
            .await?;
        call.note("trace_id", &found.trace_id);
        call.note("summary", &found.summary);
        call.note("next_actions", found.next_actions.iter().map(|action| action.kind).collect::<Vec<_>>());
        let text = format!(
            "{} places; {} not scanned; manual_hits shows them",
            found.summary.candidates, found.summary.unscanned_sections_count
        );
        let output =
            Output { trace_id: found.trace_id, summary: found.summary, next_actions: found.next_actions };
        Ok(Reply::new(output, text))
    }
}
