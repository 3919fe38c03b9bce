//! `vault_write`.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cancellation::Cancellation;
use crate::fs::RelPath;
use crate::toolset::{LIBRARY_WRITE, Library, LibraryState};
use crate::vault::{VaultOperation, check_write};
use crate::writing::{WriteMode, check_hash_form};

/// What to write.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The file.
    pub path: String,
    /// The text.
    pub content: String,
    /// Replace everything, or add at the end.
    pub mode: WriteMode,
    /// The SHA-256 of the whole file as the caller saw it last; another file is a conflict.
    pub if_sha256: Option<String>,
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

/// Overwrite a vault file, or append to it; it must exist.
pub struct VaultWrite;

impl Tool for VaultWrite {
    const FACTS: Facts = Facts {
        name: "vault_write",
        title: "Write a vault file / ファイルに書く",
        description: "Overwrite a vault file, or append to it; it must exist.",
        effect: Effect::Destroy,
        world: World::Closed,
        access: Access::Local(LIBRARY_WRITE),
        sponsor: Sponsor::Never,
        widget: None,
        guide: Guide {
            when: "To change a file as a whole, or to add at its end.",
            safe_defaults: r#"{"path":"…","content":"…","mode":"append"}"#,
            common_errors: &[
                ("conflict", "the file is missing (vault_create makes it) or changed (read it again)"),
                ("forbidden", "a day in artifacts/daily/ can only be appended to"),
            ],
        },
    };
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let path = RelPath::parse(&input.path)?;
        call.note("path", path.as_str());
        check_hash_form(input.if_sha256.as_deref())?;
        let operation =
            if input.mode == WriteMode::Append { VaultOperation::Append } else { VaultOperation::Overwrite };
        check_write(&path, operation)?;
        let mode = input.mode;
        let work = move |state: &LibraryState, cancellation: &Cancellation| {
            state.vault.write(cancellation, |writer| {
                let place = writer.existing(&path)?;
                writer.check_hash(&place, input.if_sha256.as_deref())?;
                match mode {
                    WriteMode::Overwrite => writer.overwrite(&place, &input.content),
                    WriteMode::Append => writer.append(&place, &input.content),
                }
            })
        };
        let written = set.write(work).await?;
        call.note("path", &written.path);
        call.note("bytes", written.bytes);
        call.note("mode", mode);
        let text = format!("wrote {} bytes to {}", written.bytes, written.path);
        let output = Output {
            written_path: written.path,
            written_bytes: written.bytes,
            sha256: written.sha256.to_string(),
        };
        Ok(Reply::new(output, text))
    }
}
