//! Lines of vault files, read without ever holding more than what is given.

use annai_core::{ErrorKind, ToolError};

use crate::fs::{self, RelPath, Sha256};
use crate::text::{Cutter, Excerpt, Lines};
use crate::vault::{Vault, check_open};

/// A file that changes while it is read is read again, so often.
const ATTEMPTS: usize = 3;

/// Lines of a file, and which file that was.
pub struct Lifted {
    /// The stored path.
    pub path: String,
    /// The lines.
    pub excerpt: Excerpt,
    /// The hash of the whole file.
    pub sha256: Sha256,
}

/// Takes lines out of a vault file.
pub fn lift(vault: &Vault, path: &RelPath, wanted: Lines) -> Result<Lifted, ToolError> {
    check_open(path)?;
    let root = vault.root()?;
    for attempt in 1.. {
        let (file, stored) = root.open_file(path)?;
        let mut cutter = Cutter::new(wanted);
        match fs::stream(file, &stored, &mut |piece| cutter.push(piece)) {
            Err(error) if error.kind() == ErrorKind::Conflict && attempt < ATTEMPTS => {}
            other => {
                let sha256 = other?;
                let excerpt = cutter.finish();
                if wanted.first > excerpt.total.max(1) {
                    let sentence = format!(
                        "start_line: expected a line from 1 to {} of {stored}, got {}",
                        excerpt.total.max(1),
                        wanted.first
                    );
                    return Err(ToolError::invalid(sentence));
                }
                return Ok(Lifted { path: stored, excerpt, sha256 });
            }
        }
    }
    Err(ToolError::internal("unreachable"))
}
