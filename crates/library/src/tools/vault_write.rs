//! `vault_write`.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, Widget, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scopes::LIBRARY_WRITE;
use crate::toolset::{Library, LibraryState};
use crate::writing::{WriteMode, check_content, check_sha256_format};
use annai_core::cancellation::Cancellation;
use annai_files::fs::RelPath;

/// What to write.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The file's path, relative to the vault.
    pub path: String,
    /// The text to write.
    pub content: String,
    /// `overwrite` replaces the whole content; `append` adds to the end, without inserting a line break first, and with
    /// the line endings that the file has.
    pub mode: WriteMode,
    /// The SHA-256 that you last saw of the whole file, as 64 hexadecimal digits (optional). If the file has changed
    /// since, the call fails with `conflict` and changes nothing.
    pub if_sha256: Option<String>,
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

/// Overwrite an existing vault file, or append to it.
pub struct VaultWrite;

impl Tool for VaultWrite {
    const FACTS: Facts = Facts {
        name: "vault_write",
        title: "Write a vault file / ファイルに書く",
        description: "Overwrite an existing vault file, or append to it. vault_create creates new files.",
        effect: Effect::Destroy,
        world: World::Closed,
        access: Access::Local(LIBRARY_WRITE),
        sponsor: Sponsor::Never,
        status: None,
        widget: Widget::None,
        guide: Guide {
            when: "To replace the content of a file, or to add to its end.",
            safe_defaults: r#"{"path":"…","content":"…","mode":"append"}"#,
            common_errors: &[
                (
                    "conflict",
                    "the file does not exist (vault_create creates it) or has changed (read it again)",
                ),
                (
                    "forbidden",
                    "files in artifacts/daily/ can only be appended to; a file that is not UTF-8 cannot be changed (vault_create a new one)",
                ),
            ],
        },
    };
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let path = RelPath::parse(&input.path)?;
        call.note("path", path.as_str());
        check_sha256_format(input.if_sha256.as_deref())?;
        check_content("content", &input.content)?;
        set.state.vault.check_write(&path, input.mode.operation())?;
        let mode = input.mode;
        let work = move |state: &LibraryState, cancellation: &Cancellation| {
            state.vault.write(cancellation, |writer| {
                let file = writer.existing(&path)?;
                writer.check_hash(&file, input.if_sha256.as_deref())?;
                let ending = writer.check_encoding(&file)?;
                match mode {
                    WriteMode::Overwrite => writer.overwrite(&file, &input.content),
                    WriteMode::Append => writer.append(&file, &ending.apply(&input.content)),
                }
            })
        };
        let written = set.write(work).await?;
        call.note("path", &written.path);
        call.note("bytes", written.bytes);
        call.note("mode", mode);
        let output = Output {
            written_path: written.path,
            written_bytes: written.bytes,
            sha256: written.sha256.to_string(),
        };
        Ok(Reply::new(output))
    }
}
