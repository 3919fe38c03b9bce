//! `bridge_copy_file`.

use annai_core::{Call, Effect, Facts, Reply, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::copy_to_vault::{CopyRequest, copy_to_vault};
use crate::reading::{CopyLimits, ReadScope};
use crate::scopes::COPIES_MANUALS;
use crate::tools::library_tool::{LibraryTool, facts};
use crate::tools::vault::writing::WriteMode;
use crate::toolset::Library;
use annai_search::reference::{Ref, Target};

/// From where to where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file to copy, relative to the manual.
    from_path: String,
    /// The id of the manual, as manual_list returns it.
    manual_id: String,
    /// The destination file, relative to the vault. It is created if it does not exist.
    to_path: String,
    /// `overwrite` replaces the destination's content; `append` adds to its end.
    mode: WriteMode,
    /// Limits of this call (optional; default: the server's own limits).
    limits: Option<CopyLimits>,
}

/// What was copied.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The path of the file that was written, relative to the vault.
    written_path: String,
    /// The number of bytes that were written.
    written_bytes: usize,
    /// Whether a limit cut the text short.
    truncated: bool,
}

pub(crate) struct BridgeCopyFile;

impl Tool for BridgeCopyFile {
    const FACTS: Facts = facts(LibraryTool {
        name: "bridge_copy_file",
        title: "Copy a file / ファイルをコピー",
        description: "Copy a file of a manual into the vault without passing its text through the model. A Markdown file needs limits.allow_file and a server with ALLOW_FILE_SCOPE; otherwise copy its sections with bridge_copy_section.",
        effect: Effect::Destroy,
        access: COPIES_MANUALS,
        when: "To copy a whole file of a manual into the vault.",
        safe_defaults: r#"{"manual_id":"…","from_path":"…","to_path":"…","mode":"overwrite"}"#,
        common_errors: &[
            ("forbidden", "a whole Markdown file needs ALLOW_FILE_SCOPE and limits.allow_file"),
            ("not_found", "manual_ls returns the paths"),
        ],
    });
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let Input { from_path, manual_id, to_path, mode, limits } = input;
        let from = Ref::new(Target::Manual, Some(manual_id), from_path, None);
        let request = CopyRequest { from, scope: ReadScope::File, to_path, mode, limits, cite: false };
        let (written, part) = copy_to_vault(set, call, request).await?;
        Ok(Reply::new(Output {
            written_path: written.path,
            written_bytes: written.bytes,
            truncated: part.truncated,
        }))
    }
}
