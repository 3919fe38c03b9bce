//! `manual_read`.

use annai_core::{Access, Call, Effect, Facts, Reply, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::reading::{
    self, Cursor, Expand, Lines, NextCursor, ReadLimits, ReadPart, ReadRequest, ReadScope, ReturnedPart,
};
use crate::scopes::LIBRARY_READ;
use crate::tools::library_tool::{LibraryTool, facts};
use crate::toolset::Library;
use annai_files::LibraryError;
use annai_search::reference::{NextAction, Ref, Target};

/// What to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The place to read: a ref of manual_find or manual_hits, or `{"target": "manual", "manual_id": …,
    /// "path": …, "start_line": …}`. Here `target` must be `manual`, and `manual_id` is required. Give either `ref`, or
    /// `manual_id` and `path`.
    #[serde(rename = "ref")]
    place: Option<Ref>,
    /// The id of the manual, instead of `ref`.
    manual_id: Option<String>,
    /// The file's path, relative to the manual, instead of `ref`.
    path: Option<String>,
    /// The line, counted from 1, with `manual_id` and `path` (default 1).
    #[schemars(range(min = 1), extend("default" = 1))]
    start_line: Option<u64>,
    /// How many characters of that line come before the place, with `manual_id` and `path` (default 0): the number after
    /// the dot of a node_id such as `page.html#L1.250`.
    #[schemars(extend("default" = 0))]
    char: Option<u64>,
    /// How much to read. Default: `section` when it fits max_chars, else `passage`; a JSON file: `file`, or the value that
    /// `ref.json_path` names. `section`: the section that contains the line, with its subsections. `sections`: that section
    /// and the following ones. `passage`: the whole lines around the line, at most 1200 characters. `snippet`: the line with
    /// `expand` characters around it, or the JSON value. `file`: the whole file. JSON files have no sections.
    scope: Option<ReadScope>,
    /// Read these lines instead of a scope (optional).
    lines: Option<Lines>,
    /// Where to continue: the next_cursor of the previous call, together with its other arguments (optional). The
    /// texts of these calls, joined without anything between them, are the whole text.
    cursor: Option<Cursor>,
    /// Limits of this call (optional).
    limits: Option<ReadLimits>,
    /// How much text to return around the line with scope `snippet` (optional).
    expand: Option<Expand>,
    /// The trace of the search that led to this place; the read is recorded for it.
    trace_id: Option<String>,
}

impl Input {
    /// The place to read, in whichever of the two forms it was given.
    fn place(&self) -> Result<Ref, LibraryError> {
        let is_given = self.manual_id.is_some()
            || self.path.is_some()
            || self.start_line.is_some()
            || self.char.is_some();
        match (&self.place, is_given, &self.manual_id, &self.path) {
            (Some(place), false, ..) => Ok(place.clone()),
            (None, _, Some(id), Some(path)) => {
                let place = Ref::new(Target::Manual, Some(id.clone()), path.clone(), self.start_line);
                Ok(Ref { char: self.char, ..place })
            }
            (Some(_), true, ..) => {
                let problem = "expected either ref, or manual_id and path with start_line, got both";
                Err(LibraryError::invalid("ref", problem))
            }
            (None, false, ..) => {
                let problem = "expected either ref, or manual_id and path with start_line, got neither";
                Err(LibraryError::invalid("ref", problem))
            }
            (None, true, None, _) => {
                Err(LibraryError::MissingArgument { argument: "manual_id", condition: "unless ref is given" })
            }
            (None, true, Some(_), None) => {
                Err(LibraryError::MissingArgument { argument: "path", condition: "unless ref is given" })
            }
        }
    }
}

/// What was read.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The text. Only a line that is longer than the limit is cut, between two words.
    text: String,
    /// Whether a limit cut the text short, or its section has more text than the `passage` or `snippet`, before or after
    /// it.
    truncated: bool,
    /// The scope and limits that were applied.
    applied: Applied,
    /// The manual that the text is from.
    manual_id: String,
    /// The file that the text is from, relative to the manual.
    path: String,
    /// The line of the first character of `text`.
    start_line: usize,
    /// The line of the last character of `text`.
    end_line: usize,
    /// The titles of the sections that contain the start of `text`, from the top of the file down.
    heading_path: Vec<String>,
    /// Where the text goes on: pass it as `cursor` with the same other arguments. Null at the end of what was asked for,
    /// and of the section of a `passage` or `snippet`.
    next_cursor: Option<NextCursor>,
    /// The first digits of the file's SHA-256; with it as `ref.rev`, a later call fails if the file has changed.
    rev: String,
    /// The character encoding of the file, when it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<String>,
    /// The suggested next calls, most useful first. `stop` means that nothing is left to read or to search, and what
    /// follows it is optional; empty when no search led here.
    next_actions: Vec<NextAction>,
}

/// Scope and limits in force.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Applied {
    /// The scope that was applied.
    scope: ReadScope,
    /// The maximum number of sections that was applied.
    max_sections: usize,
    /// The maximum number of characters that was applied.
    max_chars: usize,
}

pub(crate) struct ManualRead;

impl Tool for ManualRead {
    const FACTS: Facts = facts(LibraryTool {
        name: "manual_read",
        title: "Read a manual / マニュアルを読む",
        description: "Read text of a manual: a section, the lines around a place, several sections, a range of lines, a JSON value, or a whole file. When a limit cuts the text, next_cursor continues exactly there.",
        effect: Effect::Read,
        access: Access::Local(LIBRARY_READ),
        when: "To read a section that manual_find or manual_toc returned.",
        safe_defaults: r#"{"ref":{"target":"manual","manual_id":"…","path":"…","start_line":1},"scope":"section"}"#,
        common_errors: &[
            (
                "forbidden",
                "a whole file needs ALLOW_FILE_SCOPE and limits.allow_file; use scope section, or lines",
            ),
            ("conflict", "the file has changed; search again"),
        ],
    });
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let owner = call.identity().principal();
        let place = input.place()?;
        let (part, next_actions) = set
            .read(move |state, _| {
                let request = ReadRequest {
                    place: &place,
                    scope: input.scope,
                    lines: input.lines,
                    cursor: input.cursor,
                    limits: input.limits.unwrap_or_default(),
                    expand: input.expand.unwrap_or_default(),
                    runs_on: true,
                };
                let part = reading::read(&state.manuals, &state.settings, &request)?;
                state.record_use(&owner, &place, &part);
                let (actions, _) =
                    state.record_read(&owner, &returned_part(&part), input.trace_id.as_deref())?;
                Ok((part, actions))
            })
            .await?;
        call.note("path", &part.path);
        call.note("truncated", part.truncated);
        let output = Output {
            applied: Applied {
                scope: part.scope,
                max_sections: part.max_sections,
                max_chars: part.max_chars,
            },
            text: part.text,
            truncated: part.truncated,
            manual_id: part.manual_id,
            path: part.path,
            start_line: part.start_line,
            end_line: part.end_line,
            heading_path: part.heading_path,
            next_cursor: part.next_cursor.map(NextCursor::from),
            rev: part.rev,
            encoding: part.encoding,
            next_actions: NextAction::served(next_actions, call),
        };
        Ok(Reply::prose(output, "text"))
    }
}

/// What a read returns, for the records of what was read.
fn returned_part(part: &ReadPart) -> ReturnedPart<'_> {
    let continuation = part.next_cursor.zip(part.cut_until_line).map(|(cursor, last_line)| {
        json!({
            "manual_id": part.manual_id, "path": part.path,
            "lines": { "start": cursor.line, "end": last_line },
            "cursor": { "start_line": cursor.line, "char": cursor.char },
        })
    });
    ReturnedPart {
        manual_id: Some(&part.manual_id),
        path: &part.path,
        sha256: &part.sha256,
        total_lines: part.total_lines as u64,
        span: part.span.clone(),
        continuation,
    }
}
