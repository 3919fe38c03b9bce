//! `vault_read`.

use annai_core::{Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, Widget, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cursor::{Cursor, NextLine};
use crate::excerpting::read_excerpt;
use crate::ranges::LineRange;
use crate::scopes::READS_VAULT;
use crate::toolset::Library;
use annai_files::LibraryError;
use annai_files::fs::RelPath;
use annai_search::reference::{CharLimit, CharLimits, NextAction};
use annai_text::ExcerptRequest;

/// What to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The file's path, relative to the vault.
    pub path: String,
    /// Read from the first line to the last (default false), up to max_chars: continue with next_offset. Without it,
    /// `range` or `cursor` is required; with both, `range` applies.
    #[schemars(extend("default" = false))]
    pub full: Option<bool>,
    /// The lines to read. Required unless `full` is true or `cursor` is given.
    pub range: Option<Range>,
    /// Where to continue: the next_offset of the previous call, together with its other arguments (optional).
    pub cursor: Option<Cursor>,
    /// Limits of this call (optional).
    pub limits: Option<CharLimits>,
    /// The trace of the vault_find that led to this place; the read is recorded for it (optional).
    pub trace_id: Option<String>,
}

/// A range of lines, both ends included.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The first line, counted from 1 (default 1).
    #[schemars(range(min = 1), extend("default" = 1))]
    pub start_line: Option<u64>,
    /// The last line, inclusive (default: the last line of the file).
    #[schemars(range(min = 1))]
    pub end_line: Option<u64>,
}

/// What was read.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Output {
    /// The text: whole lines without the final line break, or a part of a line that is longer than max_chars. When
    /// next_offset.char is 0, a line break follows the text.
    pub text: String,
    /// Whether a limit cut the text short.
    pub truncated: bool,
    /// The number of characters in `text`.
    pub returned_chars: usize,
    /// The lines that `text` contains, the last one perhaps in part; when it contains none, end_line is less than
    /// start_line.
    pub applied_range: LineRange,
    /// Where the file goes on. When a limit cut the text, pass it as `cursor` with the same other arguments; after the end
    /// of the range, ask for the next range from this line on.
    pub next_offset: NextLine,
    /// Why the text ends where it does: `none` at the end of the file, `range_end`, or a limit (`max_chars`,
    /// `hard_limit`).
    pub truncated_reason: ReadEnd,
    /// The SHA-256 of the whole file; pass it as `if_sha256` when you change the file.
    pub sha256: String,
    /// The suggested next calls, most useful first. `stop` means that nothing is left to read or to search, and what
    /// follows it is optional; empty when no search led here.
    pub next_actions: Vec<NextAction>,
}

/// What ended a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadEnd {
    MaxChars,
    RangeEnd,
    HardLimit,
    None,
}

/// The lines that a call asks for: the first one with the characters of it that are left out, and the last one.
fn requested_lines(input: &Input) -> Result<((u64, usize), u64), ToolError> {
    let range = match (input.full.unwrap_or_default() || input.cursor.is_some(), input.range) {
        (_, Some(range)) => range,
        (true, None) => Range { start_line: None, end_line: None },
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

/// Read a range of lines of a vault file, or the whole file, within limits.
pub struct VaultRead;

impl Tool for VaultRead {
    const FACTS: Facts = Facts {
        name: "vault_read",
        title: "Read a vault file / 保管庫のファイルを読む",
        description: "Read a range of lines of a vault file, or the whole file, within limits. When a limit cuts the text, next_offset passed as cursor continues exactly there.",
        effect: Effect::Read,
        world: World::Closed,
        access: READS_VAULT,
        sponsor: Sponsor::Never,
        status: None,
        widget: Widget::None,
        guide: Guide {
            when: "To read a file or a range of its lines.",
            safe_defaults: r#"{"path":"…","range":{"start_line":1,"end_line":80}}"#,
            common_errors: &[
                ("invalid_parameter", "give a range, or full: true"),
                ("not_found", "vault_ls lists the files"),
            ],
        },
    };
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
                let part = read.handed_out((first, first_char), last);
                let actions = state.hand_out(&principal, &part, input.trace_id.as_deref())?;
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
