//! `vault_scan`.

use annai_core::{Call, Effect, Facts, Reply, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::coverage::{CoveredFile, ScanRecord};
use crate::reading::{LineRange, NextLine, read_excerpt};
use crate::scopes::READS_VAULT;
use crate::tools::library_tool::{LibraryTool, facts};
use crate::toolset::Library;
use annai_files::LibraryError;
use annai_files::fs::RelPath;
use annai_search::reference::{CharLimit, CharLimits, NextAction};
use annai_text::ExcerptRequest;

/// Which file, and where to continue.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file's path, relative to the vault.
    path: String,
    /// Where to continue: the next_cursor of the previous call (optional; default: the first line).
    cursor: Option<ScanCursor>,
    /// The number of lines to return (default 80, at most 200, unless the server sets other values).
    #[schemars(range(min = 1), extend("default" = 80))]
    chunk_lines: Option<u64>,
    /// Limits of this call (optional).
    limits: Option<CharLimits>,
}

/// A place in a file.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScanCursor {
    /// The line, counted from 1 (default 1).
    #[schemars(range(min = 1), extend("default" = 1))]
    start_line: Option<u64>,
    /// How many characters of that line were returned already (default 0).
    #[schemars(range(min = 0), extend("default" = 0))]
    char: Option<u64>,
}

/// A chunk.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The text: whole lines without the final line break, or a part of a line that is longer than max_chars. When
    /// next_cursor.char is 0, a line break follows the text.
    text: String,
    /// The lines that `text` contains, the last one perhaps in part; when it contains none, end_line is less than
    /// start_line.
    applied_range: LineRange,
    /// The cursor for the next call: the line, and how many of its characters were returned already.
    next_cursor: NextLine,
    /// Whether the end of the file was reached: its last character was returned.
    eof: bool,
    /// Whether a limit cut the chunk short.
    truncated: bool,
    /// Why the chunk ends where it does: `none` at the end of the file, `chunk_end`, or a limit (`max_chars`,
    /// `hard_limit`).
    truncated_reason: ScanEnd,
    /// The suggested next calls, most useful first. `stop` means that nothing is left to do.
    next_actions: Vec<NextAction>,
    /// The SHA-256 of the whole file. If it differs between two calls, the file has changed during the scan.
    sha256: String,
}

/// What ended a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ScanEnd {
    MaxChars,
    ChunkEnd,
    HardLimit,
    None,
}

pub(crate) struct VaultScan;

impl Tool for VaultScan {
    const FACTS: Facts = facts(LibraryTool {
        name: "vault_scan",
        title: "Scan a vault file / ファイルを順に読む",
        description: "Read a vault file in chunks. Passing next_cursor back as cursor returns every character of every line exactly once.",
        effect: Effect::Read,
        access: READS_VAULT,
        when: "To read a whole file without missing a line.",
        safe_defaults: r#"{"path":"…"}"#,
        common_errors: &[
            ("invalid_parameter", "chunk_lines is 1 to 200"),
            ("not_found", "vault_ls lists the files"),
        ],
    });
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let settings = &set.state.settings;
        let max_lines = settings.vault_scan_max_chunk_lines;
        let chunk =
            input.chunk_lines.unwrap_or_else(|| settings.vault_scan_default_chunk_lines.min(max_lines));
        if chunk > max_lines {
            let problem = format!("expected an integer from 1 to {max_lines}, got {chunk}");
            return Err(LibraryError::invalid("chunk_lines", problem).into());
        }
        let path = RelPath::parse(&input.path)?;
        call.note("path", path.as_str());
        let first = input.cursor.and_then(|cursor| cursor.start_line).unwrap_or(1);
        let first_char = input.cursor.and_then(|cursor| cursor.char).unwrap_or(0);
        let limit = CharLimit::new(input.limits.unwrap_or_default().max_chars, settings.hard_max_chars);
        let lines = ExcerptRequest {
            first_line: first,
            first_char: usize::try_from(first_char).unwrap_or(usize::MAX),
            last_line: first.saturating_add(chunk - 1),
            max_chars: limit.max_chars,
        };
        let principal = call.identity().principal();
        let (read, scan) = set
            .read(move |state, _| {
                let read = read_excerpt(&state.vault, &path, lines, "cursor.start_line")?;
                // The read also counts for the newest find that searched the file.
                let part = read.returned_part((first, lines.first_char), lines.last_line);
                let (_, scan) = state.record_read(&principal, &part, None)?;
                Ok((read, scan))
            })
            .await?;
        let excerpt = read.excerpt;
        let next = NextLine::new(excerpt.next);
        let eof = excerpt.next.is_none();
        let reason = match (excerpt.is_limited, eof) {
            (true, _) if limit.is_server_limit => ScanEnd::HardLimit,
            (true, _) => ScanEnd::MaxChars,
            (false, false) => ScanEnd::ChunkEnd,
            (false, true) => ScanEnd::None,
        };
        let file = set.state.covered_file(None, &read.path, excerpt.total_lines);
        let action = next_action(&file, next, &scan);
        call.note("path", &read.path);
        call.note("truncated", excerpt.is_limited);
        let output = Output {
            applied_range: LineRange { start_line: first, end_line: excerpt.last_line },
            next_cursor: next,
            eof,
            truncated: excerpt.is_limited,
            truncated_reason: reason,
            next_actions: NextAction::served(vec![action], call),
            sha256: read.sha256.to_string(),
            text: excerpt.text,
        };
        Ok(Reply::prose(output, "text"))
    }
}

/// The rest of a line that was cut short; after a coverage, the next lines that are not covered; otherwise the next
/// chunk; at the end, the coverage of everything that was scanned.
fn next_action(file: &CoveredFile<'_>, next: NextLine, scan: &ScanRecord) -> NextAction {
    let is_line_cut = next.char.is_some_and(|char| char > 0);
    match next.start_line {
        Some(line) if is_line_cut || scan.completing.is_none() => {
            let params = [("path".to_owned(), file.path.into()), ("cursor".to_owned(), json!(next))];
            // While a coverage is completed, the rest of the line is followed by uncovered lines only.
            let lines = file.uncovered_from(line, scan).map(|lines| ("chunk_lines".to_owned(), lines.into()));
            NextAction::call("vault_scan", 0.9, params.into_iter().chain(lines).collect())
        }
        None if scan.completing.is_none() => file.coverage(scan.scanned.clone(), scan.artifact.as_deref()),
        _ => file.next(scan),
    }
}
