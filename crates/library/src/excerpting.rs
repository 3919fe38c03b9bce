//! Reading lines of vault files in a single pass, with memory for the excerpt only.

use annai_core::ToolError;

use crate::error::LibraryError;
use crate::fs::{self, RelPath, Sha256};
use crate::ranges::LineRange;
use crate::text::{Excerpt, ExcerptBuilder, ExcerptRequest};
use crate::vault::{Vault, check_not_reserved};

/// An excerpt of a vault file.
pub struct VaultExcerpt {
    /// The stored path.
    pub path: String,
    /// The lines.
    pub excerpt: Excerpt,
    /// The SHA-256 of the whole file.
    pub sha256: Sha256,
}

/// Reads lines of a vault file. A first line beyond the end of the file is an error.
pub fn read_excerpt(
    vault: &Vault,
    path: &RelPath,
    request: ExcerptRequest,
) -> Result<VaultExcerpt, ToolError> {
    check_not_reserved(path)?;
    let root = vault.root()?;
    let (excerpt, sha256, path) = fs::retry_if_changed(|| {
        let (file, stored) = root.open_file(path)?;
        let mut builder = ExcerptBuilder::new(request);
        let sha256 = fs::stream_text(file, &stored, &mut |piece| builder.push(piece))?;
        Ok((builder.finish(), sha256, stored))
    })?;
    let last = excerpt.total_lines.max(1);
    if request.first_line > last {
        let problem = format!("expected a line from 1 to {last} of {path}, got {}", request.first_line);
        return Err(LibraryError::invalid("start_line", problem).into());
    }
    Ok(VaultExcerpt { path, excerpt, sha256 })
}

/// Counts the characters on the given lines of a vault file. The ranges must be sorted and must not overlap.
pub fn count_chars(vault: &Vault, path: &RelPath, ranges: &[LineRange]) -> Result<usize, ToolError> {
    check_not_reserved(path)?;
    let root = vault.root()?;
    fs::retry_if_changed(|| {
        let (file, stored) = root.open_file(path)?;
        let (mut line, mut chars, mut next) = (1_u64, 0, 0);
        let mut after_cr = false;
        fs::stream_text(file, &stored, &mut |piece| {
            for ch in piece.chars() {
                let is_crlf = std::mem::replace(&mut after_cr, ch == '\r') && ch == '\n';
                if matches!(ch, '\n' | '\r') {
                    line += u64::from(!is_crlf);
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
