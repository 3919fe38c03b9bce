//! `vault_scan`.

use std::time::Instant;

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::error::LibraryError;
use crate::excerpting::read_excerpt;
use crate::fs::RelPath;
use crate::ranges::LineRange;
use crate::reference::{CharLimit, CharLimits, NextAction};
use crate::scans::ScanRecord;
use crate::text::ExcerptRequest;
use crate::toolset::{LIBRARY_READ, Library};

/// Where the next call continues.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The file's path, relative to the vault.
    pub path: String,
    /// Where to continue: the next_cursor of the previous call (optional; default: the first line).
    pub cursor: Option<Cursor>,
    /// The number of lines to return (default 80, at most 200, unless the server sets other values).
    #[schemars(range(min = 1))]
    pub chunk_lines: Option<u64>,
    /// Limits of this call (optional).
    pub limits: Option<CharLimits>,
}

/// A place in a file.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cursor {
    /// The line, counted from 1.
    #[schemars(range(min = 1))]
    pub start_line: Option<u64>,
}

/// A chunk.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Output {
    /// The text, without the final line break. Of a line that is longer than max_chars only the beginning is
    /// returned.
    pub text: String,
    /// The lines that `text` contains; when it contains none, end_line is less than start_line.
    pub applied_range: LineRange,
    /// The cursor for the next call.
    pub next_cursor: NextCursor,
    /// Whether the end of the file was reached.
    pub eof: bool,
    /// Whether a limit cut the chunk short.
    pub truncated: bool,
    /// Why the chunk ends where it does: `none` at the end of the file, `chunk_end`, or a limit (`max_chars`,
    /// `hard_limit`).
    pub truncated_reason: ScanEnd,
    /// The suggested next calls, most useful first. `stop` means that nothing is left to do.
    pub next_actions: Vec<NextAction>,
    /// The SHA-256 of the whole file. If it differs between two calls, the file has changed during the scan.
    pub sha256: String,
}

/// Where the next call continues.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NextCursor {
    /// The next line to read; null at the end of the file.
    pub start_line: Option<u64>,
}

/// What ended a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScanEnd {
    MaxChars,
    ChunkEnd,
    HardLimit,
    None,
}

/// Read a vault file in chunks. Passing next_cursor back as cursor returns every line exactly once.
pub struct VaultScan;

impl Tool for VaultScan {
    const FACTS: Facts = Facts {
        name: "vault_scan",
        title: "Scan a vault file / ファイルを順に読む",
        description: "Read a vault file in chunks. Passing next_cursor back as cursor returns every line exactly once.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::Local(LIBRARY_READ),
        sponsor: Sponsor::Never,
        widget: None,
        guide: Guide {
            when: "To read a whole file without missing a line.",
            safe_defaults: r#"{"path":"…"}"#,
            common_errors: &[
                ("invalid_parameter", "chunk_lines is 1 to 200"),
                ("not_found", "vault_ls lists the files"),
            ],
        },
    };
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
        let limit = CharLimit::new(settings, input.limits.unwrap_or_default().max_chars);
        let lines = ExcerptRequest {
            first_line: first,
            last_line: first.saturating_add(chunk - 1),
            max_chars: limit.max_chars,
        };
        let principal = call.identity().principal();
        let (read, scan) = set
            .read(move |state, _| {
                let read = read_excerpt(&state.vault, &path, lines)?;
                let range = LineRange { start_line: first, end_line: read.excerpt.last_line };
                let scan =
                    state.scans.add_scanned(&principal, &read.path, &read.sha256, range, Instant::now());
                Ok((read, scan))
            })
            .await?;
        let excerpt = read.excerpt;
        let eof = excerpt.last_line >= excerpt.total_lines;
        let next = (!eof).then_some(excerpt.last_line + 1);
        let reason = match (excerpt.is_limited, eof) {
            (true, _) if limit.is_server_limit => ScanEnd::HardLimit,
            (true, _) => ScanEnd::MaxChars,
            (false, false) => ScanEnd::ChunkEnd,
            (false, true) => ScanEnd::None,
        };
        let action = next_action(&read.path, next, &scan);
        call.note("path", &read.path);
        call.note("truncated", excerpt.is_limited);
        let output = Output {
            applied_range: LineRange { start_line: first, end_line: excerpt.last_line },
            next_cursor: NextCursor { start_line: next },
            eof,
            truncated: excerpt.is_limited,
            truncated_reason: reason,
            next_actions: vec![action],
            sha256: read.sha256.to_string(),
            text: excerpt.text,
        };
        Ok(Reply::prose(output, "text"))
    }
}

/// The next chunk, or at the end of the file the coverage of everything that was scanned or cited.
fn next_action(path: &str, next_line: Option<u64>, scan: &ScanRecord) -> NextAction {
    if let Some(line) = next_line {
        let params = json!({ "path": path, "cursor": { "start_line": line } });
        return NextAction::call("vault_scan", 0.9, params);
    }
    let mut params = json!({ "path": path, "cited_ranges": scan.lines() });
    if let (Some(artifact), Some(params)) = (&scan.artifact, params.as_object_mut()) {
        params.insert("artifact_path".to_owned(), artifact.as_str().into());
    }
    NextAction::call("vault_coverage", 0.9, params)
}
