//! Reading lines of vault files in a single pass, with memory for the excerpt only.

use annai_core::ToolError;
use serde_json::json;

use crate::reading::line_range::LineRange;
use crate::reading::returned_part::ReturnedPart;
use annai_files::LibraryError;
use annai_files::fs::{self, RelPath, Sha256};
use annai_files::vault::Vault;
use annai_text::{Excerpt, ExcerptBuilder, ExcerptRequest, Position};

/// The length from which on a line is no longer collected when lines are passed on one by one, so that memory stays bounded.
/// Callers accept less.
const MAX_COLLECTED_BYTES: usize = 32 << 20;

/// An excerpt of a vault file.
pub(crate) struct VaultExcerpt {
    pub(crate) path: String,
    pub(crate) excerpt: Excerpt,
    pub(crate) sha256: Sha256,
}

impl VaultExcerpt {
    /// The part of the file that it returns, when the call asked for the lines from `first` to `last`.
    pub(crate) fn returned_part(&self, first: (u64, usize), last: u64) -> ReturnedPart<'_> {
        let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let position =
            |(line, char): (u64, usize)| Position { line: number(line), char: number(char as u64) };
        let Excerpt { complete_line, next, is_limited, total_lines, .. } = &self.excerpt;
        let end = next.filter(|_| *is_limited).unwrap_or((complete_line + 1, 0));
        let continuation = is_limited.then(|| {
            let (line, char) = end;
            json!({
                "path": self.path,
                "range": { "start_line": line, "end_line": last.min(*total_lines) },
                "cursor": { "start_line": line, "char": char },
            })
        });
        ReturnedPart {
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
pub(crate) fn read_excerpt(
    vault: &Vault,
    path: &RelPath,
    request: ExcerptRequest,
    line_argument: &'static str,
) -> Result<VaultExcerpt, ToolError> {
    vault.check_readable(path)?;
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

/// Passes the given lines of a vault file to `each`, until that returns false, and returns the hash of the file. The ranges
/// must be sorted and must not overlap.
pub(crate) fn read_vault_lines(
    vault: &Vault,
    path: &RelPath,
    ranges: &[LineRange],
    each: &mut dyn FnMut(u64, &str) -> bool,
) -> Result<Sha256, ToolError> {
    vault.check_readable(path)?;
    let (file, stored) = vault.root()?.open_file(path)?;
    let mut reader =
        LineReader { ranges, next: 0, line: 1, text: String::new(), after_cr: false, goes_on: true };
    let sha256 = fs::stream_text(file, &stored, &mut |piece| reader.push(piece, each))?.sha256;
    reader.end_line(each);
    Ok(sha256)
}

/// Collects lines from the pieces of a text.
struct LineReader<'a> {
    ranges: &'a [LineRange],
    /// The first range that has not ended before the line.
    next: usize,
    line: u64,
    /// What was read of the line, when it is one of those that are wanted.
    text: String,
    after_cr: bool,
    /// Whether more lines are wanted.
    goes_on: bool,
}

impl LineReader<'_> {
    fn is_wanted(&self) -> bool {
        self.goes_on && self.ranges.get(self.next).is_some_and(|range| range.start_line <= self.line)
    }

    fn push(&mut self, piece: &str, each: &mut dyn FnMut(u64, &str) -> bool) {
        let mut rest = piece;
        while let Some(at) = rest.find(['\n', '\r']) {
            let (text, after) = rest.split_at(at);
            let is_crlf = std::mem::take(&mut self.after_cr) && text.is_empty() && after.starts_with('\n');
            if !is_crlf {
                self.add(text);
                self.end_line(each);
                self.after_cr = after.starts_with('\r');
            }
            rest = after.get(1..).unwrap_or_default();
        }
        if !rest.is_empty() {
            self.after_cr = false;
            self.add(rest);
        }
    }

    fn add(&mut self, text: &str) {
        if self.is_wanted() && self.text.len() <= MAX_COLLECTED_BYTES {
            self.text.push_str(text);
        }
    }

    fn end_line(&mut self, each: &mut dyn FnMut(u64, &str) -> bool) {
        if self.is_wanted() {
            self.goes_on = each(self.line, &self.text);
        }
        self.text.clear();
        self.line += 1;
        while self.ranges.get(self.next).is_some_and(|range| range.end_line < self.line) {
            self.next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wanted_lines_are_collected_from_pieces_with_every_line_break() {
        let range = |start_line, end_line| LineRange { start_line, end_line };
        let ranges = [range(2, 3), range(5, 5)];
        let text = "one\r\ntwo\rthree\n\nfive\r\nsix";
        for size in 1..text.len() {
            let mut reader = LineReader {
                ranges: &ranges,
                next: 0,
                line: 1,
                text: String::new(),
                after_cr: false,
                goes_on: true,
            };
            let mut found = Vec::new();
            let mut each = |number: u64, line: &str| {
                found.push((number, line.to_owned()));
                true
            };
            for piece in text.as_bytes().chunks(size) {
                reader.push(std::str::from_utf8(piece).unwrap(), &mut each);
            }
            reader.end_line(&mut each);
            let expected = [(2, "two".to_owned()), (3, "three".to_owned()), (5, "five".to_owned())];
            assert_eq!(found, expected, "{size}");
        }
    }
}
