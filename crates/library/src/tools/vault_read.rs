//! `vault_read`.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::LibraryError;
use crate::excerpting::read_excerpt;
use crate::fs::RelPath;
use crate::ranges::LineRange;
use crate::reference::{CharLimit, CharLimits};
use crate::text::ExcerptRequest;
use crate::toolset::{LIBRARY_READ, Library};

/// What to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The file's path, relative to the vault.
    pub path: String,
    /// Read from the first line to the last (default false), up to max_chars: continue with next_offset. Without it,
    /// `range` is required; with both, `range` applies.
    pub full: Option<bool>,
    /// The lines to read. Required unless `full` is true.
    pub range: Option<Range>,
    /// Limits of this call (optional).
    pub limits: Option<CharLimits>,
}

/// A range of lines, both ends included.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The first line, counted from 1 (default 1).
    #[schemars(range(min = 1))]
    pub start_line: Option<u64>,
    /// The last line, inclusive (default: the last line of the file).
    #[schemars(range(min = 1))]
    pub end_line: Option<u64>,
}

/// What was read.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Output {
    /// The text, without the final line break.
    pub text: String,
    /// Whether a limit cut the text short.
    pub truncated: bool,
    /// The number of characters in `text`.
    pub returned_chars: usize,
    /// The lines that `text` contains; when it contains none, end_line is less than start_line.
    pub applied_range: LineRange,
    /// Where to continue reading.
    pub next_offset: NextOffset,
    /// Why the text ends where it does: `none` at the end of the file, `range_end`, or a limit (`max_chars`,
    /// `hard_limit`).
    pub truncated_reason: ReadEnd,
    /// The SHA-256 of the whole file; pass it as `if_sha256` when you change the file.
    pub sha256: String,
}

/// Where to read on.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NextOffset {
    /// The next line to read; null at the end of the file.
    pub start_line: Option<u64>,
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

/// The lines that a call asks for.
fn requested_lines(input: &Input) -> Result<(u64, u64), ToolError> {
    let range = match (input.full.unwrap_or_default(), input.range) {
        (_, Some(range)) => range,
        (true, None) => Range { start_line: None, end_line: None },
        (false, None) => {
            let condition = "unless full is true";
            return Err(LibraryError::MissingArgument { argument: "range", condition }.into());
        }
    };
    let (first, last) = (range.start_line.unwrap_or(1), range.end_line.unwrap_or(u64::MAX));
    if last < first {
        let problem = format!("expected a line of at least {first} (range.start_line), got {last}");
        return Err(LibraryError::invalid("range.end_line", problem).into());
    }
    Ok((first, last))
}

/// Read a range of lines of a vault file, or the whole file, within limits.
pub struct VaultRead;

impl Tool for VaultRead {
    const FACTS: Facts = Facts {
        name: "vault_read",
        title: "Read a vault file / 保管庫のファイルを読む",
        description: "Read a range of lines of a vault file, or the whole file, within limits.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::Local(LIBRARY_READ),
        sponsor: Sponsor::Never,
        widget: None,
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
        let (first, last) = requested_lines(&input)?;
        let path = RelPath::parse(&input.path)?;
        call.note("path", path.as_str());
        let limit = CharLimit::new(&set.state.settings, input.limits.unwrap_or_default().max_chars);
        let lines = ExcerptRequest { first_line: first, last_line: last, max_chars: limit.max_chars };
        let read = set.read(move |state, _| read_excerpt(&state.vault, &path, lines)).await?;
        let excerpt = read.excerpt;
        let reason = match (excerpt.is_limited, excerpt.last_line < excerpt.total_lines) {
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
            next_offset: NextOffset {
                start_line: (excerpt.last_line < excerpt.total_lines).then_some(excerpt.last_line + 1),
            },
            truncated_reason: reason,
            sha256: read.sha256.to_string(),
            text: excerpt.text,
        };
        Ok(Reply::prose(output, "text"))
    }
}
