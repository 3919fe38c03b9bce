//! What the tools that write have in common.

use annai_core::ToolError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cancellation::Cancellation;
use crate::error::LibraryError;
use crate::fs::RelPath;
use crate::vault::{Vault, VaultOperation, Written, check_write};

/// The maximum size of a file that is changed in place: the file and its new text are both held in memory. A larger file
/// is refused, as is a change that would make one.
pub const MAX_EDITED_BYTES: u64 = 64 << 20;

/// What happens to what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WriteMode {
    Overwrite,
    Append,
}

/// Refuses what cannot be a file's hash.
pub fn check_hash_form(hash: Option<&str>) -> Result<(), ToolError> {
    let good = |hash: &str| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    match hash {
        Some(hash) if !good(hash) => {
            let problem = "expected the 64 hexadecimal digits that vault_read gives";
            Err(LibraryError::invalid("if_sha256", problem).into())
        }
        _ => Ok(()),
    }
}

/// Writes to a file that may be missing, as the bridge does.
pub fn put(
    vault: &Vault,
    cancellation: &Cancellation,
    path: &RelPath,
    content: &str,
    mode: WriteMode,
) -> Result<Written, ToolError> {
    vault.write(cancellation, |writer| {
        if !writer.exists(path)? {
            return writer.create(path, content, VaultOperation::CreateOtherwise);
        }
        let operation =
            if mode == WriteMode::Append { VaultOperation::Append } else { VaultOperation::Overwrite };
        check_write(path, operation)?;
        let place = writer.existing(path)?;
        match mode {
            WriteMode::Overwrite => writer.overwrite(&place, content),
            // What is added starts on a line of its own.
            WriteMode::Append if !writer.ends_with_break(&place)? => {
                writer.append(&place, &format!("\n{content}"))
            }
            WriteMode::Append => writer.append(&place, content),
        }
    })
}
