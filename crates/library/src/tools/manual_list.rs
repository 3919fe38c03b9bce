//! `manual_list`.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::toolset::{LIBRARY_READ, Library};

/// Nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

/// The manuals.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Output {
    /// The manuals, sorted by id.
    pub items: Vec<Item>,
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
        widget: None,
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
        let Input {} = input;
        let ids = set.read(|state, _| state.manuals.ids()).await?;
        let items: Vec<_> = ids.into_iter().map(|manual_id| Item { manual_id }).collect();
        call.note("items", items.len());
        Ok(Reply::new(Output { items }))
    }
}
