//! `manual_read`.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reading::{self, Expand, ReadLimits, ReadRequest, ReadScope};
use crate::reference::Ref;
use crate::toolset::{LIBRARY_READ, Library};

/// What to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The place to read: a ref of manual_find or manual_hits, or `{"target": "manual", "manual_id": …,
    /// "path": …, "start_line": …}`. Here `target` must be `manual`, and `manual_id` is required.
    #[serde(rename = "ref")]
    pub place: Ref,
    /// How much to read. Default: `snippet`, or `file` for a JSON file. `snippet`: the text around the line.
    /// `section`: the section that contains the line. `sections`: that section and the following ones. `file`: the
    /// whole file. JSON files have no sections.
    pub scope: Option<ReadScope>,
    /// Limits of this call (optional).
    pub limits: Option<ReadLimits>,
    /// How much text to return around the line with scope `snippet` (optional).
    pub expand: Option<Expand>,
}

/// What was read.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Output {
    /// The text.
    pub text: String,
    /// Whether a limit cut the text short.
    pub truncated: bool,
    /// The scope and limits that were applied.
    pub applied: Applied,
}

/// Scope and limits in force.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Applied {
    /// The scope that was applied.
    pub scope: ReadScope,
    /// The maximum number of sections that was applied.
    pub max_sections: usize,
    /// The maximum number of characters that was applied.
    pub max_chars: usize,
}

/// Read text of a manual: the lines around a place, a section, several sections, or a whole file, within limits.
pub struct ManualRead;

impl Tool for ManualRead {
    const FACTS: Facts = Facts {
        name: "manual_read",
        title: "Read a manual / マニュアルを読む",
        description: "Read text of a manual: the lines around a place, a section, several sections, or a whole file, within limits.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::Local(LIBRARY_READ),
        sponsor: Sponsor::Never,
        widget: None,
        guide: Guide {
            when: "To read a section that manual_find or manual_toc returned.",
            safe_defaults: r#"{"ref":{"target":"manual","manual_id":"…","path":"…","start_line":1},"scope":"section"}"#,
            common_errors: &[
                (
                    "forbidden",
                    "a whole Markdown file needs ALLOW_FILE_SCOPE and limits.allow_file; use scope section",
                ),
                ("conflict", "the file has changed; search again"),
            ],
        },
    };
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let owner = call.identity().principal();
        let part = set
            .read(move |state, _| {
                let request = ReadRequest {
                    place: &input.place,
                    scope: input.scope,
                    limits: input.limits.unwrap_or_default(),
                    expand: input.expand.unwrap_or_default(),
                };
                let part = reading::read(&state.manuals, &state.settings, &request)?;
                state.record_use(&owner, &input.place, &part);
                Ok(part)
            })
            .await?;
        call.note("path", &part.path);
        call.note("truncated", part.truncated);
        let applied =
            Applied { scope: part.scope, max_sections: part.max_sections, max_chars: part.max_chars };
        Ok(Reply::prose(Output { text: part.text, truncated: part.truncated, applied }, "text"))
    }
}
