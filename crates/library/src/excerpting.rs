//! Reading lines of vault files in a single pass, with memory for the excerpt only.

use annai_core::ToolError;
use serde_json::json;

use crate::error::LibraryError;
use crate::fs::{self, RelPath, Sha256};
use crate::handing_out::HandedOutPart;
use crate::position::Position;
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

impl VaultExcerpt {
    /// What it hands out, when the call asked for the lines from `first` to `last`.
    pub fn handed_out(&self, first: (u64, usize), last: u64) -> HandedOutPart<'_> {
        let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let position =
            |(line, char): (u64, usize)| Position { line: number(line), char: number(char as u64) };
        let Excerpt { complete_line, next, is_limited, total_lines, .. } = &self.excerpt;
        let end = next.filter(|_| *is_limited).unwrap_or((complete_line + 1, 0));
        let continuation = is_limited.then(|| {
            let (line, char) = end;
            let range = json!({ "start_line": line, "end_line": last.min(*total_lines) });
            let cursor = json!({ "start_line": line, "char": char });
            let arguments = [("path", self.path.as_str().into()), ("range", range), ("cursor", cursor)];
            arguments.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
        });
        HandedOutPart {
            manual_id: None,
            path: &self.path,
            sha256: &self.sha256,
            total_lines: *total_lines,
            span: position(first)..position(end),
            continuation,
        }
    }
}

/// Reads lines of a vault file. A start beyond the end of the file or of its line is an error; `line_argument` is the
/// argument that names the first line.
pub fn read_excerpt(
    vault: &Vault,
    path: &RelPath,
    request: ExcerptRequest,
    line_argument: &'static str,
) -> Result<VaultExcerpt, ToolError> {
    check_not_reserved(path)?;
    let root = vault.root()?;
    let (excerpt, sha256, path) = fs::retry_if_changed(|| {
        let (file, stored) = root.open_file(path)?;
        let mut builder = ExcerptBuilder::new(request);
        let sha256 = fs::stream_text(file, &stored, &mut |piece| builder.push(piece))?.sha256;
        Ok((builder.finish(), sha256, stored))
    })?;
    let last = excerpt.total_lines.max(1);
    if request.first_line > last {
        let problem = format!("expected a line from 1 to {last} of {path}, got {}", request.first_line);
        return Err(LibraryError::invalid(line_argument, problem).into());
    }
    if let Some(length) = excerpt.short_first_line.or((excerpt.total_lines == 0).then_some(0))
        && request.first_char > length
    {
        let line = request.first_line;
        let problem = format!(
            "expected a number from 0 to {length}, the length of line {line} of {path}, got {}",
            request.first_char
        );
        return Err(LibraryError::invalid("cursor.char", problem).into());
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
