//! `vault_search`.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::search::{self, FileFilter, LineHit, Pattern, SearchMode};
use crate::toolset::{LIBRARY_READ, Library};
use crate::vault::parse_visible_folder;

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The regular expression or the text to search for.
    #[schemars(length(min = 1, max = 10_000))]
    pub query: String,
    /// How the query is matched (default `regex`). `regex`: a regular expression that ignores case; `^` and `$` match at
    /// the start and end of each line; an invalid one is searched as plain text. `plain`: literally, with case. `loose`: ignores case, and white
    /// space, dots, slashes and hyphens between characters.
    pub mode: Option<SearchMode>,
    /// Search only files that match this glob, such as `*.md` or `notes/**`; with a leading `!`, search only files
    /// that do not match (optional).
    #[schemars(length(min = 1, max = 1000))]
    pub glob: Option<String>,
    /// Search only below this folder of the vault (optional).
    pub relative_dir: Option<String>,
    /// The maximum number of lines to return (default 50).
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
}

/// What was found.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Output {
    /// The matching lines, sorted by path and line number.
    pub results: Vec<LineHit>,
}

/// Find lines in vault files by regular expression, as plain text, or loosely (ignoring case and separators).
pub struct VaultSearch;

impl Tool for VaultSearch {
    const FACTS: Facts = Facts {
        name: "vault_search",
        title: "Search the vault / 保管庫を検索",
        description: "Find lines in vault files by regular expression, as plain text, or loosely (ignoring case and separators).",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::Local(LIBRARY_READ),
        sponsor: Sponsor::Never,
        widget: None,
        guide: Guide {
            when: "To find the lines that contain something.",
            safe_defaults: r#"{"query":"…","mode":"plain"}"#,
            common_errors: &[
                ("invalid_parameter", "the query must not be empty"),
                ("not_found", "omit relative_dir to search the whole vault"),
            ],
        },
    };
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let pattern = Pattern::new(&input.query, input.mode.unwrap_or(SearchMode::Regex))?;
        let folder = parse_visible_folder(input.relative_dir.as_deref())?;
        let files = FileFilter::new(folder, input.glob.as_deref())?;
        let limit = input.limit.unwrap_or(50);
        let found = set
            .read(move |state, cancellation| {
                let root = state.vault.root()?;
                search::search(&root, &pattern, &files, limit, cancellation)
            })
            .await?;
        call.note("results", found.hits.len());
        call.note("warnings", found.skipped);
        Ok(Reply::new(Output { results: found.hits })
            .with_meta("annai/more", found.more)
            .with_meta("annai/warnings", found.skipped))
    }
}
