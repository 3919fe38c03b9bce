//! `manual_excepts`.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, Widget, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::exceptions;
use crate::line_search::LineHit;
use crate::paging::{Pager, SkippedFile};
use crate::scopes::LIBRARY_READ;
use crate::toolset::Library;

/// Where to look.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The id of the manual, as manual_list returns it.
    pub manual_id: String,
    /// List only this section (optional): a node_id of manual_toc, such as `guide.md#L12`.
    pub node_id: Option<String>,
    /// The maximum number of lines to return (default: as many as fit into the server's HARD_MAX_CHARS, 20000
    /// characters, which always applies).
    #[schemars(range(min = 1, max = 10_000))]
    pub limit: Option<usize>,
    /// Where to continue: the next_cursor of the previous call, together with its other arguments (optional).
    pub cursor: Option<String>,
}

/// What was found.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Output {
    /// The matching lines, sorted by path and line number.
    pub items: Vec<LineHit>,
    /// The number of lines on all pages.
    pub total: usize,
    /// The cursor of the next page; null when there are no more lines.
    pub next_cursor: Option<String>,
    /// Whether there are more lines than `items` shows.
    pub more: bool,
    /// The files that could not be read, at most 20 of them.
    pub skipped: Vec<SkippedFile>,
    /// The number of files that could not be read, including files with exception words.
    pub warnings: usize,
}

/// List the lines of a manual that contain an exception word, such as 対象外, ただし, except or not covered.
pub struct ManualExcepts;

impl Tool for ManualExcepts {
    const FACTS: Facts = Facts {
        name: "manual_excepts",
        title: "List exceptions / 例外を一覧",
        description: "List the lines of a manual that contain an exception word, such as 対象外, ただし, except or not covered.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::Local(LIBRARY_READ),
        sponsor: Sponsor::Never,
        status: None,
        widget: Widget::None,
        guide: Guide {
            when: "To see every exception in a manual or a section.",
            safe_defaults: r#"{"manual_id":"…"}"#,
            common_errors: &[
                ("not_found", "manual_list returns the manuals, manual_toc the sections"),
                ("invalid_parameter", "node_id is path#L<line>"),
            ],
        },
    };
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let (page, skipped) = set
            .read(move |state, cancellation| {
                let list = ["manual_excepts", &input.manual_id, input.node_id.as_deref().unwrap_or_default()];
                let max_chars = state.settings.hard_max_chars;
                let pager = Pager::new(&list, input.cursor.as_deref(), input.limit, max_chars)?;
                let node_id = input.node_id.as_deref();
                exceptions::list(
                    &state.manuals,
                    &state.dictionaries,
                    &input.manual_id,
                    node_id,
                    pager,
                    cancellation,
                )
            })
            .await?;
        call.note("results", page.items.len());
        call.note("warnings", skipped.count);
        Ok(Reply::new(Output {
            items: page.items,
            total: page.total,
            more: page.next_cursor.is_some(),
            next_cursor: page.next_cursor,
            warnings: skipped.count,
            skipped: skipped.into_named(),
        }))
    }
}
