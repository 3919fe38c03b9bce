//! Lines of vault files, read without ever holding more than what is given.

use annai_core::ToolError;

use crate::error::LibraryError;
use crate::fs::{self, RelPath, Sha256};
use crate::ranges::LineRange;
use crate::text::{Cutter, Excerpt, Lines};
use crate::vault::{Vault, check_open};

/// Lines of a file, and which file that was.
pub struct VaultExcerpt {
    /// The stored path.
    pub path: String,
    /// The lines.
    pub excerpt: Excerpt,
    /// The hash of the whole file.
    pub sha256: Sha256,
}

/// Takes lines out of a vault file.
pub fn read_excerpt(vault: &Vault, path: &RelPath, wanted: Lines) -> Result<VaultExcerpt, ToolError> {
    check_open(path)?;
    let root = vault.root()?;
    let (excerpt, sha256, path) = fs::steadily(|| {
        let (file, stored) = root.open_file(path)?;
        let mut cutter = Cutter::new(wanted);
        let sha256 = fs::stream(file, &stored, &mut |piece| cutter.push(piece))?;
        Ok((cutter.finish(), sha256, stored))
    })?;
    let last = excerpt.total.max(1);
    if wanted.first > last {
        let problem = format!("expected a line from 1 to {last} of {path}, got {}", wanted.first);
        return Err(LibraryError::invalid("start_line", problem).into());
    }
    Ok(VaultExcerpt { path, excerpt, sha256 })
}

/// How many characters stand on some lines of a vault file, in one pass. The ranges are in order and touch nowhere.
pub fn chars_on(vault: &Vault, path: &RelPath, ranges: &[LineRange]) -> Result<usize, ToolError> {
    check_open(path)?;
    let root = vault.root()?;
    fs::steadily(|| {
        let (file, stored) = root.open_file(path)?;
        let (mut line, mut chars, mut next) = (1_u64, 0, 0);
        let mut after_return = false;
        fs::stream(file, &stored, &mut |piece| {
            for letter in piece.chars() {
                let pair = std::mem::replace(&mut after_return, letter == '\r') && letter == '\n';
                if matches!(letter, '\n' | '\r') {
                    line += u64::from(!pair);
                    continue;
                }
                while ranges.get(next).is_some_and(|range| range.end_line < line) {
                    next += 1;
                }
                chars += usize::from(ranges.get(next).is_some_and(|range| range.start_line <= line));
            }
        })?;
        Ok(chars)
    })
}
