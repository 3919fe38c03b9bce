//! `vault_search`.

use annai_core::{Call, Effect, Facts, Reply, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::line_search::{self, CompiledQuery, LineHit, SearchMode};
use crate::paging::{LineKey, SkippedFile};
use crate::scopes::READS_VAULT;
use crate::tools::library_tool::{LibraryTool, facts};
use crate::toolset::Library;
use annai_files::FileFilter;

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The regular expression or the text to search for, at most 10000 characters (1000 in mode `loose`).
    #[schemars(length(min = 1, max = 10_000))]
    query: String,
    /// How the query is matched (default `regex`). `regex`: a regular expression that ignores case; `^` and `$` match at
    /// the start and end of each line; an invalid one is searched as plain text. A match over several
    /// lines that the pattern does not limit is found up to 1 KiB, and up to 1 MiB with simple patterns. `plain`: literally, with case. `loose`: ignores case, and white
    /// space, dots, slashes and hyphens between characters.
    #[schemars(extend("default" = "regex"))]
    mode: Option<SearchMode>,
    /// Search only files that match this glob, such as `*.md` or `notes/**`; with a leading `!`, search only files
    /// that do not match (optional).
    #[schemars(length(min = 1, max = 1000))]
    glob: Option<String>,
    /// Search only below this folder of the vault (optional).
    relative_dir: Option<String>,
    /// The maximum number of lines to return (default 50). The server's HARD_MAX_CHARS (20000 characters) always
    /// applies.
    #[schemars(range(min = 1, max = 1000), extend("default" = 50))]
    limit: Option<usize>,
    /// Where to continue: the next_cursor of the previous call, together with its other arguments (optional).
    cursor: Option<String>,
}

/// What was found.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The matching lines, sorted by path and line number.
    results: Vec<LineHit>,
    /// The number of matching lines in all files. When the search was stopped after its maximum time (20 seconds), it is
    /// a lower bound, and `more` is true.
    total: usize,
    /// Whether there are more matching lines than `results` shows, or may be because the search was stopped.
    more: bool,
    /// The cursor of the next page; null when there are no more matching lines.
    next_cursor: Option<String>,
    /// The mode that was applied: `plain` instead of `regex` when the query is not a valid regular expression.
    mode_applied: SearchMode,
    /// Why the query is not a valid regular expression; null when it was searched as requested.
    pattern_error: Option<String>,
    /// The files that were not searched because they are not text or could not be read, at most 20 of them.
    skipped: Vec<SkippedFile>,
    /// The number of files that were not searched for that reason.
    warnings: usize,
    /// The number of files and folders that were not searched because their names begin with a dot; absent when there
    /// are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden: Option<usize>,
}

pub(crate) struct VaultSearch;

impl Tool for VaultSearch {
    const FACTS: Facts = facts(LibraryTool {
        name: "vault_search",
        title: "Search the vault / 保管庫を検索",
        description: "Find lines in vault files by regular expression, as plain text, or loosely (ignoring case and separators).",
        effect: Effect::Read,
        access: READS_VAULT,
        when: "To find the lines that contain something.",
        safe_defaults: r#"{"query":"…","mode":"plain"}"#,
        common_errors: &[
            ("invalid_parameter", "the query must not be empty"),
            ("not_found", "omit relative_dir to search the whole vault"),
        ],
    });
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let mode = input.mode.unwrap_or(SearchMode::Regex);
        let query = CompiledQuery::new(&input.query, mode)?;
        let folder = set.state.vault.parse_visible_folder(input.relative_dir.as_deref())?;
        let files = FileFilter::new(folder, input.glob.as_deref(), "glob")?;
        let limit = input.limit.unwrap_or(50);
        let optional = |text: &Option<String>| json!(text).to_string();
        let list = [
            "vault_search",
            &input.query,
            &json!(mode).to_string(),
            &optional(&input.glob),
            &optional(&input.relative_dir),
        ];
        let mut pager = set.state.pager::<LineKey, _>(&list, input.cursor.as_deref(), Some(limit))?;
        let CompiledQuery { pattern, mode: mode_applied, error: pattern_error } = query;
        let after = pager.after().cloned();
        let found = set
            .compute(move |state, cancellation| {
                let root = state.vault.root()?;
                line_search::search(&root, &pattern, &files, after.as_ref(), limit, cancellation)
            })
            .await?;
        for hit in found.hits {
            let key = LineKey { path: hit.path.clone(), line: hit.start_line, char: 0 };
            pager.add(key, || hit);
        }
        let page = pager.finish(found.is_stopped);
        call.note("results", page.items.len());
        call.note("warnings", found.skipped.count);
        Ok(Reply::new(Output {
            results: page.items,
            total: found.total,
            more: page.next_cursor.is_some() || found.is_stopped,
            next_cursor: page.next_cursor,
            mode_applied,
            pattern_error,
            warnings: found.skipped.count,
            hidden: (found.hidden > 0).then_some(found.hidden),
            skipped: found.skipped.into_named(),
        }))
    }
}
