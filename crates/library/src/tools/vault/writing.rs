//! What the writing tools have in common.

use annai_core::{Call, Reply, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use annai_core::cancellation::Cancellation;
use annai_files::LibraryError;
use annai_files::fs::RelPath;
use annai_files::vault::{Vault, VaultOperation, WriteReport};

/// The maximum size of a file that `vault_replace` changes, because the old and the new text are both held in memory. A
/// larger file is refused, as is a change whose result would be larger.
pub(crate) const MAX_EDITED_BYTES: u64 = 64 << 20;

/// What was written.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct WrittenFile {
    /// The path of the file that was written, relative to the vault.
    written_path: String,
    /// The number of bytes that were written.
    written_bytes: usize,
    /// The SHA-256 of the whole file after the change; pass it as `if_sha256` to the next change.
    sha256: String,
}

impl WrittenFile {
    /// The reply about a file, which is also logged.
    pub(crate) fn reply(written: WriteReport, call: &Call) -> Reply<Self> {
        call.note("path", &written.path);
        call.note("bytes", written.bytes);
        let WriteReport { path: written_path, bytes: written_bytes, sha256, .. } = written;
        Reply::new(Self { written_path, written_bytes, sha256: sha256.to_string() })
    }
}

/// What happens to the existing content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WriteMode {
    Overwrite,
    Append,
}

impl WriteMode {
    /// The operation on an existing file.
    pub(crate) const fn operation(self) -> VaultOperation {
        match self {
            Self::Overwrite => VaultOperation::Overwrite,
            Self::Append => VaultOperation::Append,
        }
    }
}

/// Refuses a text that cannot be a SHA-256.
pub(crate) fn check_sha256_format(hash: Option<&str>) -> Result<(), ToolError> {
    let is_sha256 = |hash: &str| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    match hash {
        Some(hash) if !is_sha256(hash) => {
            let problem = "expected a SHA-256 of 64 hexadecimal digits, as vault_read returns it";
            Err(LibraryError::invalid("if_sha256", problem).into())
        }
        _ => Ok(()),
    }
}

/// Refuses content that would make the file something else than text.
pub(crate) fn check_content(argument: &'static str, content: &str) -> Result<(), ToolError> {
    if content.contains('\0') {
        let problem = "expected text without NUL characters, because a file that contains one is not text";
        return Err(LibraryError::invalid(argument, problem).into());
    }
    Ok(())
}

/// Overwrites or appends to a file, which is created when it does not exist.
pub(crate) fn write_or_create(
    vault: &Vault,
    cancellation: &Cancellation,
    path: &RelPath,
    content: &str,
    mode: WriteMode,
) -> Result<WriteReport, ToolError> {
    vault.write(cancellation, |writer| {
        if !writer.exists(path)? {
            return writer.create(path, content, VaultOperation::CreateByCopy);
        }
        vault.check_write(path, mode.operation())?;
        let file = writer.existing(path)?;
        let ending = writer.check_encoding(&file)?;
        match mode {
            WriteMode::Overwrite => writer.overwrite(&file, content),
            // Appended text starts on a new line.
            WriteMode::Append if !writer.ends_with_break(&file)? => {
                writer.append(&file, &format!("{}{}", ending.as_str(), ending.apply(content)))
            }
            WriteMode::Append => writer.append(&file, &ending.apply(content)),
        }
    })
}
