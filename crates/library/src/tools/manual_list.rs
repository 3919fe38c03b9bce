//! `manual_list`.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, Widget, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::paging::Pager;
use crate::scopes::LIBRARY_READ;
use crate::toolset::Library;

/// Which page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The maximum number of manuals to return (default: as many as fit into the server's HARD_MAX_CHARS, 20000
    /// characters, which always applies).
    #[schemars(range(min = 1, max = 10_000))]
    pub limit: Option<usize>,
    /// Where to continue: the next_cursor of the previous call, together with its other arguments (optional).
    pub cursor: Option<String>,
}

/// The manuals.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Output {
    /// The manuals, sorted by id.
    pub items: Vec<Item>,
    /// The number of manuals on all pages.
    pub total: usize,
    /// The cursor of the next page; null when there are no more manuals.
    pub next_cursor: Option<String>,
}

/// A manual.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Item {
    /// The id of the manual, which other tools take.
    pub manual_id: String,
}

/// List the available manuals and return their ids.
pub struct ManualList;

impl Tool for ManualList {
    const FACTS: Facts = Facts {
        name: "manual_list",
        title: "List manuals / マニュアル一覧",
        description: "List the available manuals and return their ids.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::Local(LIBRARY_READ),
        sponsor: Sponsor::Never,
        status: None,
        widget: Widget::None,
        guide: Guide {
            when: "To see which manuals there are.",
            safe_defaults: r#"{}"#,
            common_errors: &[("not_found", "create the manuals folder, or set MANUALS_ROOT")],
        },
    };
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let page = set
            .read(move |state, _| {
                let max_chars = state.settings.hard_max_chars;
                let mut pager = Pager::<String, _>::new(
                    &["manual_list"],
                    input.cursor.as_deref(),
                    input.limit,
                    max_chars,
                )?;
                for manual_id in state.manuals.ids()? {
                    pager.add(manual_id.clone(), || Item { manual_id });
                }
                Ok(pager.finish(false))
            })
            .await?;
        call.note("items", page.items.len());
        Ok(Reply::new(Output { items: page.items, total: page.total, next_cursor: page.next_cursor }))
    }
}
