//! `vault_create`.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cancellation::Cancellation;
use crate::fs::RelPath;
use crate::toolset::{LIBRARY_WRITE, Library, LibraryState};
use crate::vault::VaultOperation;

/// What to make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The file; missing folders are made.
    pub path: String,
    /// Its text.
    pub content: String,
}

/// What was written.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Output {
    /// The file.
    pub written_path: String,
    /// How many bytes were given.
    pub written_bytes: usize,
    /// The hash of the whole file now.
    pub sha256: String,
}

/// Make a new text file in the vault; one that exists is never replaced.
pub struct VaultCreate;

impl Tool for VaultCreate {
    const FACTS: Facts = Facts {
        name: "vault_create",
        title: "Create a vault file / ファイルを作る",
        description: "Make a new text file in the vault; one that exists is never replaced.",
        effect: Effect::Write,
        world: World::Closed,
        access: Access::Local(LIBRARY_WRITE),
        sponsor: Sponsor::Never,
        widget: None,
        guide: Guide {
            when: "To write something new: notes, plans, artifacts.",
            safe_defaults: r#"{"path":"artifacts/plan.md","content":"…"}"#,
            common_errors: &[
                ("conflict", "the file exists; vault_write changes it"),
                ("forbidden", "artifacts/ takes only .md and .json"),
            ],
        },
    };
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let path = RelPath::parse(&input.path)?;
        call.note("path", path.as_str());
        let work = move |state: &LibraryState, cancellation: &Cancellation| {
            state
                .vault
                .write(cancellation, |writer| writer.create(&path, &input.content, VaultOperation::Create))
        };
        let written = set.write(work).await?;
        call.note("path", &written.path);
        call.note("bytes", written.bytes);
        let text = format!("made {} ({} bytes)", written.path, written.bytes);
        let output = Output {
            written_path: written.path,
            written_bytes: written.bytes,
            sha256: written.sha256.to_string(),
        };
        Ok(Reply::new(output, text))
    }
}
