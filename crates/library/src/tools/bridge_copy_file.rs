//! `bridge_copy_file`.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cancellation::Cancellation;
use crate::fs::RelPath;
use crate::reading::{self, Expand, ReadLimits, ReadRequest, ReadScope};
use crate::reference::{Ref, Target};
use crate::toolset::{LIBRARY_WRITE, Library, LibraryState};
use crate::writing::{WriteMode, put};

/// From where to where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The file in the manual.
    pub from_path: String,
    /// The manual.
    pub manual_id: String,
    /// The file in the vault; it is made where it is missing.
    pub to_path: String,
    /// Replace the file, or add at its end.
    pub mode: WriteMode,
    /// At what cost; as much as the server allows where it is left out.
    pub limits: Option<ReadLimits>,
}

/// What was copied.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Output {
    /// The file.
    pub written_path: String,
    /// How many bytes were added.
    pub written_bytes: usize,
    /// Whether a limit cut it.
    pub truncated: bool,
}

/// Copy a file of a manual into the vault without passing it through the model.
pub struct BridgeCopyFile;

impl Tool for BridgeCopyFile {
    const FACTS: Facts = Facts {
        name: "bridge_copy_file",
        title: "Copy a file / ファイルを写す",
        description: "Copy a file of a manual into the vault without passing it through the model.",
        effect: Effect::Destroy,
        world: World::Closed,
        access: Access::Local(LIBRARY_WRITE),
        sponsor: Sponsor::Never,
        widget: None,
        guide: Guide {
            when: "To take a whole file of a manual into the vault.",
            safe_defaults: r#"{"manual_id":"…","from_path":"…","to_path":"…","mode":"overwrite"}"#,
            common_errors: &[
                ("forbidden", "whole Markdown files need ALLOW_FILE_SCOPE and limits.allow_file"),
                ("not_found", "manual_ls has the paths"),
            ],
        },
    };
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let path = RelPath::parse(&input.to_path)?;
        call.note("path", path.as_str());
        let mode = input.mode;
        let place = Ref {
            target: Target::Manual,
            manual_id: Some(input.manual_id),
            path: input.from_path,
            start_line: None,
            json_path: None,
            title: None,
            signals: None,
            rev: None,
        };
        let owner = call.identity().principal();
        let work = move |state: &LibraryState, cancellation: &Cancellation| {
            let limits = input.limits.unwrap_or_default();
            let limits = ReadLimits {
                max_chars: Some(limits.max_chars.unwrap_or(state.settings.hard_max_chars)),
                ..limits
            };
            let request = ReadRequest {
                place: &place,
                scope: Some(ReadScope::File),
                limits,
                expand: Expand::default(),
            };
            let part = reading::read(&state.manuals, &state.settings, &request)?;
            let written = put(&state.vault, cancellation, &path, &part.text, mode)?;
            state.note_use(&owner, &place, &part);
            Ok((written, part.truncated))
        };
        let (written, truncated) = set.write(work).await?;
        call.note("path", &written.path);
        call.note("bytes", written.bytes);
        call.note("mode", mode);
        call.note("truncated", truncated);
        let text = format!("copied {} bytes to {}", written.bytes, written.path);
        Ok(Reply::new(Output { written_path: written.path, written_bytes: written.bytes, truncated }, text))
    }
}
