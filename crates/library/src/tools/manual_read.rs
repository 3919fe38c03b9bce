//! `manual_read`.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, Widget, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::cursor::{Cursor, NextCursor};
use crate::handed_out_part::HandedOutPart;
use crate::reading::{self, Expand, Lines, ReadLimits, ReadPart, ReadRequest, ReadScope};
use crate::scopes::LIBRARY_READ;
use crate::toolset::Library;
use annai_files::LibraryError;
use annai_search::reference::{NextAction, Ref, Target};

/// What to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The place to read: a ref of manual_find or manual_hits, or `{"target": "manual", "manual_id": …,
    /// "path": …, "start_line": …}`. Here `target` must be `manual`, and `manual_id` is required. Give either `ref`, or
    /// `manual_id` and `path`.
    #[serde(rename = "ref")]
    pub place: Option<Ref>,
    /// The id of the manual, instead of `ref`.
    pub manual_id: Option<String>,
    /// The file's path, relative to the manual, instead of `ref`.
    pub path: Option<String>,
    /// The line, counted from 1, with `manual_id` and `path` (default 1).
    #[schemars(range(min = 1), extend("default" = 1))]
    pub start_line: Option<u64>,
    /// How many characters of that line come before the place, with `manual_id` and `path` (default 0): the number after
    /// the dot of a node_id such as `page.html#L1.250`.
    #[schemars(extend("default" = 0))]
    pub char: Option<u64>,
    /// How much to read. Default: `section` when it fits max_chars, else `passage`; a JSON file: `file`, or the value that
    /// `ref.json_path` names. `section`: the section that contains the line, with its subsections. `sections`: that section
    /// and the following ones. `passage`: the whole lines around the line, at most 1200 characters. `snippet`: the line with
    /// `expand` characters around it, or the JSON value. `file`: the whole file. JSON files have no sections.
    pub scope: Option<ReadScope>,
    /// Read these lines instead of a scope (optional).
    pub lines: Option<Lines>,
    /// Where to continue: the next_cursor of the previous call, together with its other arguments (optional). The
    /// texts of these calls, joined without anything between them, are the whole text.
    pub cursor: Option<Cursor>,
    /// Limits of this call (optional).
    pub limits: Option<ReadLimits>,
    /// How much text to return around the line with scope `snippet` (optional).
    pub expand: Option<Expand>,
    /// The trace of the search that led to this place; the read is recorded for it.
    pub trace_id: Option<String>,
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
pub struct Output {
    /// The text. Only a line that is longer than the limit is cut, between two words.
    pub text: String,
    /// Whether a limit cut the text short, or its section has more text than the `passage` or `snippet`, before or after
    /// it.
    pub truncated: bool,
    /// The scope and limits that were applied.
    pub applied: Applied,
    /// The manual that the text is from.
    pub manual_id: String,
    /// The file that the text is from, relative to the manual.
    pub path: String,
    /// The line of the first character of `text`.
    pub start_line: usize,
    /// The line of the last character of `text`.
    pub end_line: usize,
    /// The titles of the sections that contain the start of `text`, from the top of the file down.
    pub heading_path: Vec<String>,
    /// Where the text goes on: pass it as `cursor` with the same other arguments. Null at the end of what was asked for,
    /// and of the section of a `passage` or `snippet`.
    pub next_cursor: Option<NextCursor>,
    /// The first digits of the file's SHA-256; with it as `ref.rev`, a later call fails if the file has changed.
    pub rev: String,
    /// The character encoding of the file, when it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// The suggested next calls, most useful first. `stop` means that nothing is left to read or to search, and what
    /// follows it is optional; empty when no search led here.
    pub next_actions: Vec<NextAction>,
}

/// Scope and limits in force.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Applied {
    /// The scope that was applied.
    pub scope: ReadScope,
    /// The maximum number of sections that was applied.
    pub max_sections: usize,
    /// The maximum number of characters that was applied.
    pub max_chars: usize,
}

/// Read text of a manual within limits, and return a cursor to continue.
pub struct ManualRead;

impl Tool for ManualRead {
    const FACTS: Facts = Facts {
        name: "manual_read",
        title: "Read a manual / マニュアルを読む",
        description: "Read text of a manual: a section, the lines around a place, several sections, a range of lines, a JSON value, or a whole file. When a limit cuts the text, next_cursor continues exactly there.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::Local(LIBRARY_READ),
        sponsor: Sponsor::Never,
        status: None,
        widget: Widget::None,
        guide: Guide {
            when: "To read a section that manual_find or manual_toc returned.",
            safe_defaults: r#"{"ref":{"target":"manual","manual_id":"…","path":"…","start_line":1},"scope":"section"}"#,
            common_errors: &[
                (
                    "forbidden",
                    "a whole file needs ALLOW_FILE_SCOPE and limits.allow_file; use scope section, or lines",
                ),
                ("conflict", "the file has changed; search again"),
            ],
        },
    };
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
                let actions = state.hand_out(&owner, &handed_out(&part), input.trace_id.as_deref())?;
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

/// What a read hands out.
fn handed_out(part: &ReadPart) -> HandedOutPart<'_> {
    let continuation = part.next_cursor.zip(part.cut_until_line).map(|(cursor, last_line)| {
        let lines = json!({ "start": cursor.line, "end": last_line });
        let cursor = json!({ "start_line": cursor.line, "char": cursor.char });
        let arguments = [
            ("manual_id", part.manual_id.as_str().into()),
            ("path", part.path.as_str().into()),
            ("lines", lines),
            ("cursor", cursor),
        ];
        arguments.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    });
    HandedOutPart {
        manual_id: Some(&part.manual_id),
        path: &part.path,
        sha256: &part.sha256,
        total_lines: part.total_lines as u64,
        span: part.span.clone(),
        continuation,
    }
}
