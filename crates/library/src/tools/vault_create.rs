//! `vault_create`.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, Widget, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scopes::LIBRARY_WRITE;
use crate::toolset::{Library, LibraryState};
use crate::writing::check_content;
use annai_core::cancellation::Cancellation;
use annai_files::fs::RelPath;
use annai_files::vault::VaultOperation;

/// What to make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The new file's path, relative to the vault. Missing folders are created.
    pub path: String,
    /// The content of the file.
    pub content: String,
}

/// What was written.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Output {
    /// The path of the file that was written, relative to the vault.
    pub written_path: String,
    /// The number of bytes that were written.
    pub written_bytes: usize,
    /// The SHA-256 of the whole file after the change; pass it as `if_sha256` to the next change.
    pub sha256: String,
}

/// Create a new text file in the vault. An existing file is never replaced.
pub struct VaultCreate;

impl Tool for VaultCreate {
    const FACTS: Facts = Facts {
        name: "vault_create",
        title: "Create a vault file / ファイルを作る",
        description: "Create a new text file in the vault. An existing file is never replaced. artifacts/ accepts only .md and .json files, artifacts/daily/ only YYYY-MM-DD.md.",
        effect: Effect::Write,
        world: World::Closed,
        access: Access::Local(LIBRARY_WRITE),
        sponsor: Sponsor::Never,
        status: None,
        widget: Widget::None,
        guide: Guide {
            when: "To write something new: notes, plans, artifacts.",
            safe_defaults: r#"{"path":"artifacts/plan.md","content":"…"}"#,
            common_errors: &[
                ("conflict", "the file exists; vault_write changes it"),
                ("forbidden", "artifacts/ accepts only .md and .json files"),
            ],
        },
    };
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let path = RelPath::parse(&input.path)?;
        call.note("path", path.as_str());
        check_content("content", &input.content)?;
        let work = move |state: &LibraryState, cancellation: &Cancellation| {
            state
                .vault
                .write(cancellation, |writer| writer.create(&path, &input.content, VaultOperation::Create))
        };
        let written = set.write(work).await?;
        call.note("path", &written.path);
        call.note("bytes", written.bytes);
        let output = Output {
            written_path: written.path,
            written_bytes: written.bytes,
            sha256: written.sha256.to_string(),
        };
        Ok(Reply::new(output))
    }
}
