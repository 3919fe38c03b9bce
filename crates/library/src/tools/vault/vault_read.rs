//! `vault_read`.

use annai_core::{Call, Effect, Facts, Reply, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reading::{Cursor, LineRange, NextLine, read_excerpt};
use crate::scopes::READS_VAULT;
use crate::tools::library_tool::{LibraryTool, facts};
use crate::toolset::Library;
use annai_files::LibraryError;
use annai_files::fs::RelPath;
use annai_search::reference::{CharLimit, CharLimits, NextAction};
use annai_text::ExcerptRequest;

/// What to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file's path, relative to the vault.
    path: String,
    /// Read from the first line to the last (default false), up to max_chars: continue with next_offset. Without it,
    /// `range` or `cursor` is required; with both, `range` applies.
    #[schemars(extend("default" = false))]
    full: Option<bool>,
    /// The lines to read. Required unless `full` is true or `cursor` is given.
    range: Option<RequestedRange>,
    /// Where to continue: the next_offset of the previous call, together with its other arguments (optional).
    cursor: Option<Cursor>,
    /// Limits of this call (optional).
    limits: Option<CharLimits>,
    /// The trace of the vault_find that led to this place; the read is recorded for it (optional).
    trace_id: Option<String>,
}

/// A range of lines, both ends included.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestedRange {
    /// The first line, counted from 1 (default 1).
    #[schemars(range(min = 1), extend("default" = 1))]
    start_line: Option<u64>,
    /// The last line, inclusive (default: the last line of the file).
    #[schemars(range(min = 1))]
    end_line: Option<u64>,
}

/// What was read.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The text: whole lines without the final line break, or a part of a line that is longer than max_chars. When
    /// next_offset.char is 0, a line break follows the text.
    text: String,
    /// Whether a limit cut the text short.
    truncated: bool,
    /// The number of characters in `text`.
    returned_chars: usize,
    /// The lines that `text` contains, the last one perhaps in part; when it contains none, end_line is less than
    /// start_line.
    applied_range: LineRange,
    /// Where the file goes on. When a limit cut the text, pass it as `cursor` with the same other arguments; after the end
    /// of the range, ask for the next range from this line on.
    next_offset: NextLine,
    /// Why the text ends where it does: `none` at the end of the file, `range_end`, or a limit (`max_chars`,
    /// `hard_limit`).
    truncated_reason: ReadEnd,
    /// The SHA-256 of the whole file; pass it as `if_sha256` when you change the file.
    sha256: String,
    /// The suggested next calls, most useful first. `stop` means that nothing is left to read or to search, and what
    /// follows it is optional; empty when no search led here.
    next_actions: Vec<NextAction>,
}

/// What ended a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReadEnd {
    MaxChars,
    RangeEnd,
    HardLimit,
    None,
}

/// The lines that a call asks for: the first one with the characters of it that are left out, and the last one.
fn requested_lines(input: &Input) -> Result<((u64, usize), u64), ToolError> {
    let range = match (input.full.unwrap_or_default() || input.cursor.is_some(), input.range) {
        (_, Some(range)) => range,
        (true, None) => RequestedRange { start_line: None, end_line: None },
        (false, None) => {
            let condition = "unless full is true or cursor is given";
            return Err(LibraryError::MissingArgument { argument: "range", condition }.into());
        }
    };
    let (first, last) = (range.start_line.unwrap_or(1), range.end_line.unwrap_or(u64::MAX));
    if last < first {
        let problem = format!("expected a line of at least {first} (range.start_line), got {last}");
        return Err(LibraryError::invalid("range.end_line", problem).into());
    }
    let Some(cursor) = input.cursor else { return Ok(((first, 0), last)) };
    let line = cursor.start_line;
    if line < first || line > last {
        let problem = match range.end_line {
            Some(last) => format!("expected a line from {first} to {last} (range), got {line}"),
            None => format!("expected a line of at least {first} (range.start_line), got {line}"),
        };
        return Err(LibraryError::invalid("cursor.start_line", problem).into());
    }
    Ok(((line, cursor.position().char as usize), last))
}

pub(crate) struct VaultRead;

impl Tool for VaultRead {
    const FACTS: Facts = facts(LibraryTool {
        name: "vault_read",
        title: "Read a vault file / 保管庫のファイルを読む",
        description: "Read a range of lines of a vault file, or the whole file, within limits. When a limit cuts the text, next_offset passed as cursor continues exactly there.",
        effect: Effect::Read,
        access: READS_VAULT,
        when: "To read a file or a range of its lines.",
        safe_defaults: r#"{"path":"…","range":{"start_line":1,"end_line":80}}"#,
        common_errors: &[
            ("invalid_parameter", "give a range, or full: true"),
            ("not_found", "vault_ls lists the files"),
        ],
    });
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let ((first, first_char), last) = requested_lines(&input)?;
        let path = RelPath::parse(&input.path)?;
        call.note("path", path.as_str());
        let limit =
            CharLimit::new(input.limits.unwrap_or_default().max_chars, set.state.settings.hard_max_chars);
        let lines =
            ExcerptRequest { first_line: first, first_char, last_line: last, max_chars: limit.max_chars };
        let line_argument = if input.cursor.is_some() { "cursor.start_line" } else { "range.start_line" };
        let principal = call.identity().principal();
        let (read, next_actions) = set
            .read(move |state, _| {
                let read = read_excerpt(&state.vault, &path, lines, line_argument)?;
                let part = read.returned_part((first, first_char), last);
                let (actions, _) = state.record_read(&principal, &part, input.trace_id.as_deref())?;
                Ok((read, actions))
            })
            .await?;
        let excerpt = read.excerpt;
        let reason = match (excerpt.is_limited, excerpt.next.is_some()) {
            (true, _) if limit.is_server_limit => ReadEnd::HardLimit,
            (true, _) => ReadEnd::MaxChars,
            (false, true) => ReadEnd::RangeEnd,
            (false, false) => ReadEnd::None,
        };
        call.note("path", &read.path);
        call.note("truncated", excerpt.is_limited);
        let output = Output {
            truncated: excerpt.is_limited,
            returned_chars: excerpt.chars,
            applied_range: LineRange { start_line: first, end_line: excerpt.last_line },
            next_offset: NextLine::new(excerpt.next),
            truncated_reason: reason,
            sha256: read.sha256.to_string(),
            text: excerpt.text,
            next_actions: NextAction::served(next_actions, call),
        };
        Ok(Reply::prose(output, "text"))
    }
}
