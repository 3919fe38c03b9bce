//! `bridge_copy_section`.

use annai_core::{Call, Effect, Facts, Reply, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::copy_to_vault::{CopyRequest, copy_to_vault};
use crate::reading::{CopyLimits, ReadScope};
use crate::scopes::COPIES_MANUALS;
use crate::tools::library_tool::{LibraryTool, facts};
use crate::tools::vault::writing::WriteMode;
use crate::toolset::Library;
use annai_search::reference::Ref;

/// From where to where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The section to copy: a ref of manual_find or manual_hits. Here `target` must be `manual`, and
    /// `manual_id` is required.
    from_ref: Ref,
    /// The destination file, relative to the vault. It is created if it does not exist.
    to_path: String,
    /// `overwrite` replaces the destination's content; `append` adds to its end.
    mode: WriteMode,
    /// Limits of this call (optional; default: the server's own limits).
    limits: Option<CopyLimits>,
    /// Whether to write where the text came from as a comment above it: `<!-- source: manual_id/path#L3-9 rev -->`
    /// (default false). artifact_audit then checks the text below it against those lines, and reports when the manual has
    /// changed. Only for destinations that end in `.md`.
    #[serde(default)]
    #[schemars(extend("default" = false))]
    cite: bool,
}

/// What was copied.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The path of the file that was written, relative to the vault.
    written_path: String,
    /// The number of bytes that were written.
    written_bytes: usize,
    /// The number of sections that were written.
    written_sections: usize,
    /// Whether a limit cut the text short.
    truncated: bool,
}

pub(crate) struct BridgeCopySection;

impl Tool for BridgeCopySection {
    const FACTS: Facts = facts(LibraryTool {
        name: "bridge_copy_section",
        title: "Copy a section / 節をコピー",
        description: "Copy a section of a manual into the vault without passing its text through the model.",
        effect: Effect::Destroy,
        access: COPIES_MANUALS,
        when: "To copy text of a manual into a note or an artifact.",
        safe_defaults: r#"{"from_ref":{"target":"manual","manual_id":"…","path":"…","start_line":1},"to_path":"…","mode":"append"}"#,
        common_errors: &[
            ("invalid_scope", "JSON has no sections; use bridge_copy_file"),
            ("forbidden", "artifacts/ accepts only .md and .json files"),
        ],
    });
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let Input { from_ref: from, to_path, mode, limits, cite } = input;
        let request = CopyRequest { from, scope: ReadScope::Section, to_path, mode, limits, cite };
        let (written, part) = copy_to_vault(set, call, request).await?;
        Ok(Reply::new(Output {
            written_path: written.path,
            written_bytes: written.bytes,
            written_sections: part.sections,
            truncated: part.truncated,
        }))
    }
}
