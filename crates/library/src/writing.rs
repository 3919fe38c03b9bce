//! What the tools that write have in common.

use annai_core::ToolError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fs::RelPath;
use crate::toolset::Wanted;
use crate::vault::{Doing, Vault, Written, check_write};

/// Larger files are not changed in place.
pub const MOST_BYTES: u64 = 64 << 20;

/// What happens to what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    Overwrite,
    Append,
}

/// Refuses what cannot be a file's hash.
pub fn check_hash_form(hash: Option<&str>) -> Result<(), ToolError> {
    let good = |hash: &str| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    match hash {
        Some(hash) if !good(hash) => {
            Err(ToolError::invalid("if_sha256: expected the 64 hexadecimal digits that vault_read gives"))
        }
        _ => Ok(()),
    }
}

/// Writes to a file that may be missing, as the bridge does.
pub fn put(
    vault: &Vault,
    wanted: &Wanted,
    path: &RelPath,
    content: &str,
    mode: Mode,
) -> Result<Written, ToolError> {
    vault.write(wanted, |writer| {
        if !writer.exists(path)? {
            return writer.create(path, content, Doing::CreateOtherwise);
        }
        let doing = if mode == Mode::Append { Doing::Append } else { Doing::Overwrite };
        check_write(path, doing)?;
        let place = writer.existing(path)?;
        match mode {
            Mode::Overwrite => writer.overwrite(&place, content),
            // What is added starts on a line of its own.
            Mode::Append if !writer.ends_with_break(&place)? => {
                writer.append(&place, &format!("\n{content}"))
            }
            Mode::Append => writer.append(&place, content),
        }
    })
}
