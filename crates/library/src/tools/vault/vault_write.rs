//! `vault_write`.

use annai_core::{Access, Call, Effect, Facts, Reply, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::scopes::LIBRARY_WRITE;
use crate::tools::library_tool::{LibraryTool, facts};
use crate::tools::vault::writing::{WriteMode, WrittenFile, check_content, check_sha256_format};
use crate::toolset::{Library, LibraryState};
use annai_core::cancellation::Cancellation;
use annai_files::fs::RelPath;

/// What to write.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file's path, relative to the vault.
    path: String,
    /// The text to write.
    content: String,
    /// `overwrite` replaces the whole content; `append` adds to the end, without inserting a line break first, and with
    /// the line endings that the file has.
    mode: WriteMode,
    /// The SHA-256 that you last saw of the whole file, as 64 hexadecimal digits (optional). If the file has changed
    /// since, the call fails with `conflict` and changes nothing.
    if_sha256: Option<String>,
}

pub(crate) struct VaultWrite;

impl Tool for VaultWrite {
    const FACTS: Facts = facts(LibraryTool {
        name: "vault_write",
        title: "Write a vault file / ファイルに書く",
        description: "Overwrite an existing vault file, or append to it. vault_create creates new files.",
        effect: Effect::Destroy,
        access: Access::Local(LIBRARY_WRITE),
        when: "To replace the content of a file, or to add to its end.",
        safe_defaults: r#"{"path":"…","content":"…","mode":"append"}"#,
        common_errors: &[
            ("conflict", "the file does not exist (vault_create creates it) or has changed (read it again)"),
            (
                "forbidden",
                "files in artifacts/daily/ can only be appended to; a file that is not UTF-8 cannot be changed (vault_create a new one)",
            ),
        ],
    });
    type Set = Library;
    type Input = Input;
    type Output = WrittenFile;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<WrittenFile>, ToolError> {
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
        call.note("mode", mode);
        Ok(WrittenFile::reply(written, call))
    }
}
