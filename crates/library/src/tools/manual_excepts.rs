//! `manual_excepts`.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::exceptions;
use crate::search::LineHit;
use crate::toolset::{LIBRARY_READ, Library};

/// Where to look.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The id of the manual, as manual_list returns it.
    pub manual_id: String,
    /// List only this section (optional): a node_id of manual_toc, such as `guide.md#L12`.
    pub node_id: Option<String>,
}

/// What was found.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Output {
    /// The matching lines, sorted by path and line number.
    pub items: Vec<LineHit>,
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
        widget: None,
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
        let found = set
            .read(move |state, cancellation| {
                let node_id = input.node_id.as_deref();
                exceptions::list(&state.manuals, &state.dictionaries, &input.manual_id, node_id, cancellation)
            })
            .await?;
        call.note("results", found.hits.len());
        call.note("warnings", found.skipped);
        Ok(Reply::new(Output { items: found.hits })
            .with_meta("annai/more", found.more)
            .with_meta("annai/warnings", found.skipped))
    }
}
