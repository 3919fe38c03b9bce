//! `vault_create`.

use annai_core::{Access, Call, Effect, Facts, Reply, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::scopes::LIBRARY_WRITE;
use crate::tools::library_tool::{LibraryTool, facts};
use crate::tools::vault::writing::{WrittenFile, check_content};
use crate::toolset::{Library, LibraryState};
use annai_core::cancellation::Cancellation;
use annai_files::fs::RelPath;
use annai_files::vault::VaultOperation;

/// What to make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The new file's path, relative to the vault. Missing folders are created.
    path: String,
    /// The content of the file.
    content: String,
}

pub(crate) struct VaultCreate;

impl Tool for VaultCreate {
    const FACTS: Facts = facts(LibraryTool {
        name: "vault_create",
        title: "Create a vault file / ファイルを作る",
        description: "Create a new text file in the vault. An existing file is never replaced. artifacts/ accepts only .md and .json files, artifacts/daily/ only YYYY-MM-DD.md.",
        effect: Effect::Write,
        access: Access::Local(LIBRARY_WRITE),
        when: "To write something new: notes, plans, artifacts.",
        safe_defaults: r#"{"path":"artifacts/plan.md","content":"…"}"#,
        common_errors: &[
            ("conflict", "the file exists; vault_write changes it"),
            ("forbidden", "artifacts/ accepts only .md and .json files"),
        ],
    });
    type Set = Library;
    type Input = Input;
    type Output = WrittenFile;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<WrittenFile>, ToolError> {
        let path = RelPath::parse(&input.path)?;
        call.note("path", path.as_str());
        check_content("content", &input.content)?;
        let work = move |state: &LibraryState, cancellation: &Cancellation| {
            state
                .vault
                .write(cancellation, |writer| writer.create(&path, &input.content, VaultOperation::Create))
        };
        let written = set.write(work).await?;
        Ok(WrittenFile::reply(written, call))
    }
}
