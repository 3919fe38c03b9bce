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
    /// Where.
    #[serde(rename = "ref")]
    pub place: Ref,
    /// How much: `snippet` where it is left out, `file` for JSON.
    pub scope: Option<ReadScope>,
    /// At what cost.
    pub limits: Option<ReadLimits>,
    /// How much around a snippet.
    pub expand: Option<Expand>,
}

/// What was read.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Output {
    /// The text.
    pub text: String,
    /// Whether a limit cut it.
    pub truncated: bool,
    /// What held in the end.
    pub applied: Applied,
}

/// Scope and limits in force.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Applied {
    /// The scope.
    pub scope: ReadScope,
    /// The most sections.
    pub max_sections: usize,
    /// The most characters.
    pub max_chars: usize,
}

/// Read a snippet, a section or several sections of a manual, within limits.
pub struct ManualRead;

impl Tool for ManualRead {
    const FACTS: Facts = Facts {
        name: "manual_read",
        title: "Read a manual / マニュアルを読む",
        description: "Read a snippet, a section or several sections of a manual, within limits.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::Local(LIBRARY_READ),
        sponsor: Sponsor::Never,
        widget: None,
        guide: Guide {
            when: "To read what a find or the table of contents points at.",
            safe_defaults: r#"{"ref":{"target":"manual","manual_id":"…","path":"…","start_line":1},"scope":"section"}"#,
            common_errors: &[
                (
                    "forbidden",
                    "whole Markdown files need ALLOW_FILE_SCOPE and limits.allow_file; use scope section",
                ),
                ("conflict", "the file changed; find it again"),
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
                state.note_use(&owner, &input.place, &part);
                Ok(part)
            })
            .await?;
        call.note("path", &part.path);
        call.note("truncated", part.truncated);
        let text = format!("{} characters of {}", part.text.chars().count(), part.path);
        let applied =
            Applied { scope: part.scope, max_sections: part.max_sections, max_chars: part.max_chars };
        Ok(Reply::new(Output { text: part.text, truncated: part.truncated, applied }, text))
    }
}
