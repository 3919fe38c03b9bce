//! `bridge_copy_file`.

use annai_core::{Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, Widget, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bridging::{CopyReport, CopyRequest, copy_to_vault};
use crate::reading::{CopyLimits, ReadScope};
use crate::scopes::COPIES_MANUALS;
use crate::toolset::Library;
use crate::writing::WriteMode;
use annai_search::reference::{Ref, Target};

/// From where to where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The file to copy, relative to the manual.
    pub from_path: String,
    /// The id of the manual, as manual_list returns it.
    pub manual_id: String,
    /// The destination file, relative to the vault. It is created if it does not exist.
    pub to_path: String,
    /// `overwrite` replaces the destination's content; `append` adds to its end.
    pub mode: WriteMode,
    /// Limits of this call (optional; default: the server's own limits).
    pub limits: Option<CopyLimits>,
}

/// What was copied.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Output {
    /// The path of the file that was written, relative to the vault.
    pub written_path: String,
    /// The number of bytes that were written.
    pub written_bytes: usize,
    /// Whether a limit cut the text short.
    pub truncated: bool,
}

/// Copy a file of a manual into the vault without passing its text through the model.
pub struct BridgeCopyFile;

impl Tool for BridgeCopyFile {
    const FACTS: Facts = Facts {
        name: "bridge_copy_file",
        title: "Copy a file / ファイルをコピー",
        description: "Copy a file of a manual into the vault without passing its text through the model. A Markdown file needs limits.allow_file and a server with ALLOW_FILE_SCOPE; otherwise copy its sections with bridge_copy_section.",
        effect: Effect::Destroy,
        world: World::Closed,
        access: COPIES_MANUALS,
        sponsor: Sponsor::Never,
        status: None,
        widget: Widget::None,
        guide: Guide {
            when: "To copy a whole file of a manual into the vault.",
            safe_defaults: r#"{"manual_id":"…","from_path":"…","to_path":"…","mode":"overwrite"}"#,
            common_errors: &[
                ("forbidden", "a whole Markdown file needs ALLOW_FILE_SCOPE and limits.allow_file"),
                ("not_found", "manual_ls returns the paths"),
            ],
        },
    };
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let Input { from_path, manual_id, to_path, mode, limits } = input;
        let from = Ref::new(Target::Manual, Some(manual_id), from_path, None);
        let request = CopyRequest { from, scope: ReadScope::File, to_path, mode, limits, cite: false };
        let CopyReport { written, truncated, .. } = copy_to_vault(set, call, request).await?;
        Ok(Reply::new(Output { written_path: written.path, written_bytes: written.bytes, truncated }))
    }
}
