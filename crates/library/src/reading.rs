//! Parts of manuals: a snippet, a section, several of them, or a whole file, within limits.

use annai_core::ToolError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config;
use crate::error::LibraryError;
use crate::fs::RelPath;
use crate::manuals::{Document, FileType, Manuals};
use crate::reference::{Limit, Ref};
use crate::text::{LineIndex, Node, cut};

/// How many characters stand before and behind a snippet's line where the call does not say: about a paragraph.
const DEFAULT_EXPAND_CHARS: usize = 240;

/// How much is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReadScope {
    Snippet,
    Section,
    Sections,
    File,
}

/// What a call may cost.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadLimits {
    /// The maximum number of sections to return with scope `sections`.
    #[schemars(range(min = 1))]
    pub max_sections: Option<usize>,
    /// The maximum number of characters (default 8000; the server's HARD_MAX_CHARS still applies).
    #[schemars(range(min = 1))]
    pub max_chars: Option<usize>,
    /// Allow a whole Markdown file to be read (default false; the server must allow it too, with ALLOW_FILE_SCOPE).
    pub allow_file: Option<bool>,
}

/// How much stands around a snippet's line.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expand {
    /// The number of characters before the line (default 240).
    pub before_chars: Option<usize>,
    /// The number of characters after the line (default 240).
    pub after_chars: Option<usize>,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadPart {
    /// The stored path.
    pub path: String,
    /// The text.
    pub text: String,
    /// Whether a limit cut the text short.
    pub truncated: bool,
    /// What was read in the end.
    pub scope: ReadScope,
    /// The limit of sections in force.
    pub max_sections: usize,
    /// The limit of characters in force.
    pub max_chars: usize,
    /// How many nodes the text begins.
    pub sections: usize,
    /// The line that the first node starts on.
    pub node_line: usize,
}

/// Where to read, and how much.
pub struct ReadRequest<'a> {
    /// The place.
    pub place: &'a Ref,
    /// How much around it; none for the usual of the file's type.
    pub scope: Option<ReadScope>,
    /// What it may cost.
    pub limits: ReadLimits,
    /// How much stands around a snippet.
    pub expand: Expand,
}

/// Reads a part of a manual.
pub fn read(
    manuals: &Manuals,
    settings: &config::Library,
    request: &ReadRequest<'_>,
) -> Result<ReadPart, ToolError> {
    let manual = manuals.get(request.place.manual_id()?)?;
    let path = RelPath::parse(&request.place.path)?;
    let kind = FileType::of(path.as_str());
    let default = if kind == Some(FileType::Json) { ReadScope::File } else { ReadScope::Snippet };
    let scope = request.scope.unwrap_or(default);
    check_scope(kind, scope, settings, request.limits, path.as_str())?;
    let document = manual.document(&path)?;
    request.place.check_rev(&document.file.sha256)?;

    let limit = Limit::new(settings, request.limits.max_chars);
    let max_sections =
        request.limits.max_sections.unwrap_or(settings.hard_max_sections).min(settings.hard_max_sections);
    let line = usize::try_from(request.place.start_line.unwrap_or(1)).unwrap_or(usize::MAX);
    let last_line = document.lines.count().max(1);
    if line > last_line {
        let problem = format!("expected a line from 1 to {last_line}, got {line}");
        return Err(LibraryError::invalid("ref.start_line", problem).into());
    }
    let (text, complete, nodes) = match scope {
        ReadScope::File => (document.file.text.as_str(), true, document.nodes.as_slice()),
        ReadScope::Snippet => snippet(&document, line, request.expand, limit.chars),
        ReadScope::Section => section(&document, line),
        ReadScope::Sections => following(&document, line, max_sections),
    };
    let (shown, whole) = cut(text, limit.chars);
    // A node counts when its heading is among what is shown.
    let first = nodes.first().map_or(1, |node| node.start_line);
    let lines = LineIndex::new(shown).count();
    let sections = nodes.iter().take_while(|node| node.start_line < first + lines).count();
    let node = document.node_at(line).and_then(|node| document.nodes.get(node));
    Ok(ReadPart {
        node_line: node.map_or(1, |node| node.start_line),
        path: document.path.clone(),
        text: shown.to_owned(),
        truncated: !whole || !complete,
        scope,
        max_sections,
        max_chars: limit.chars,
        sections,
    })
}

/// Refuses what a scope is not for.
fn check_scope(
    kind: Option<FileType>,
    scope: ReadScope,
    settings: &config::Library,
    limits: ReadLimits,
    path: &str,
) -> Result<(), LibraryError> {
    match (kind, scope) {
        (Some(FileType::Json), ReadScope::Section | ReadScope::Sections) => Err(LibraryError::invalid_scope(
            path,
            "is JSON, which has no sections; use scope file or snippet",
        )),
        (Some(FileType::Md), ReadScope::File) if !settings.allow_file_scope => Err(LibraryError::forbidden(
            path,
            "is Markdown, and whole files are off here (ALLOW_FILE_SCOPE); use scope section",
        )),
        (Some(FileType::Md), ReadScope::File) if limits.allow_file != Some(true) => {
            Err(LibraryError::forbidden(
                path,
                "is read whole only with limits.allow_file: true; or use scope section",
            ))
        }
        _ => Ok(()),
    }
}

/// The line with some characters around it; where there is not room for all of them, the line comes first.
fn snippet(document: &Document, line: usize, expand: Expand, most: usize) -> (&str, bool, &[Node]) {
    let text = document.file.text.as_str();
    let Some(range) = document.lines.line(line) else { return ("", true, &[]) };
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    let room = most.saturating_sub(text.get(range.clone()).unwrap_or_default().chars().count());
    let (asked_before, asked_after) = (
        expand.before_chars.unwrap_or(DEFAULT_EXPAND_CHARS),
        expand.after_chars.unwrap_or(DEFAULT_EXPAND_CHARS),
    );
    let half = (room / 2).max(room.saturating_sub(asked_after));
    let take_before = asked_before.min(half);
    let take_after = asked_after.min(room - take_before);
    let start = match take_before.checked_sub(1) {
        None => range.start,
        Some(skip) => before.char_indices().rev().nth(skip).map_or(0, |(start, _)| start),
    };
    let end = after.char_indices().nth(take_after).map_or(text.len(), |(end, _)| range.end + end);
    let shown = text.get(start..end).unwrap_or_default().trim_matches(['\n', '\r']);
    // The end of the file is no cut.
    let cut_before = take_before < asked_before && start > 0;
    let cut_after = take_after < asked_after && end < text.len();
    (shown, !cut_before && !cut_after, &[])
}

/// The node that a line belongs to, with its descendants.
fn section(document: &Document, line: usize) -> (&str, bool, &[Node]) {
    let Some(index) = document.node_at(line) else { return ("", true, &[]) };
    let nodes = document.nodes.get(index..).unwrap_or_default();
    let Some(node) = nodes.first() else { return ("", true, &[]) };
    let inside = nodes.iter().take_while(|inner| inner.start_line <= node.end_line).count();
    (document.text_of(node.start_line, node.end_line), true, nodes.get(..inside).unwrap_or_default())
}

/// The node that a line belongs to and those after it, up to a number; whether that is all of them.
fn following(document: &Document, line: usize, max_sections: usize) -> (&str, bool, &[Node]) {
    let Some(index) = document.node_at(line) else { return ("", true, &[]) };
    let left = document.nodes.get(index..).unwrap_or_default();
    let nodes = left.get(..left.len().min(max_sections)).unwrap_or_default();
    let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else { return ("", true, &[]) };
    (document.text_of(first.start_line, last.own_end_line), nodes.len() == left.len(), nodes)
}
