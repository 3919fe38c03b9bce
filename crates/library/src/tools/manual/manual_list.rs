//! `manual_list`.

use annai_core::{Access, Call, Effect, Facts, Reply, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scopes::LIBRARY_READ;
use crate::tools::library_tool::{LibraryTool, facts};
use crate::toolset::Library;

/// Which page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The maximum number of manuals to return (default: as many as fit into the server's HARD_MAX_CHARS, 20000
    /// characters, which always applies).
    #[schemars(range(min = 1, max = 10_000))]
    limit: Option<usize>,
    /// Where to continue: the next_cursor of the previous call, together with its other arguments (optional).
    cursor: Option<String>,
}

/// The manuals.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The manuals, sorted by id.
    items: Vec<ManualEntry>,
    /// The number of manuals on all pages.
    total: usize,
    /// The cursor of the next page; null when there are no more manuals.
    next_cursor: Option<String>,
}

/// A manual.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ManualEntry {
    /// The id of the manual, which other tools take.
    manual_id: String,
}

pub(crate) struct ManualList;

impl Tool for ManualList {
    const FACTS: Facts = facts(LibraryTool {
        name: "manual_list",
        title: "List manuals / マニュアル一覧",
        description: "List the available manuals and return their ids.",
        effect: Effect::Read,
        access: Access::Local(LIBRARY_READ),
        when: "To see which manuals there are.",
        safe_defaults: r#"{}"#,
        common_errors: &[("not_found", "create the manuals folder, or set MANUALS_ROOT")],
    });
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let page = set
            .read(move |state, _| {
                let mut pager = state.pager(&["manual_list"], input.cursor.as_deref(), input.limit)?;
                for manual_id in state.manuals.ids()? {
                    pager.add(manual_id.clone(), || ManualEntry { manual_id });
                }
                Ok(pager.finish(false))
            })
            .await?;
        call.note("items", page.items.len());
        Ok(Reply::new(Output { items: page.items, total: page.total, next_cursor: page.next_cursor }))
    }
}
