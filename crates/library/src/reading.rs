//! Reading manuals: a snippet, a section, several sections or a whole file, within limits.

use annai_core::ToolError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config;
use crate::error::LibraryError;
use crate::fs::RelPath;
use crate::manuals::{Document, FileType, Manuals};
use crate::reference::{CharLimit, Ref};
use crate::text::{LineIndex, Node, truncate_chars};

/// The default number of characters before and after the line of a snippet: about a paragraph.
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

/// The limits of a call.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadLimits {
    /// The maximum number of sections with scope `sections` of manual_read (default and maximum: the server's
    /// HARD_MAX_SECTIONS, 20). It has no effect in the bridge tools.
    #[schemars(range(min = 1))]
    pub max_sections: Option<usize>,
    /// The maximum number of characters. Default: 8000 for manual_read, and the server's HARD_MAX_CHARS (20000) for
    /// the bridge tools. HARD_MAX_CHARS always applies.
    #[schemars(range(min = 1))]
    pub max_chars: Option<usize>,
    /// Allow a whole Markdown file to be read or copied (default false; the server must allow it too, with
    /// ALLOW_FILE_SCOPE). It has no effect on sections and JSON files.
    pub allow_file: Option<bool>,
}

/// How much text is returned around the line of a snippet.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expand {
    /// The number of characters before the line (default 240).
    pub before_chars: Option<usize>,
    /// The number of characters after the line (default 240).
    pub after_chars: Option<usize>,
}

/// The text that was read, with the limits that were applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadPart {
    /// The stored path.
    pub path: String,
    /// The text.
    pub text: String,
    /// Whether a limit cut the text short.
    pub truncated: bool,
    /// The scope that was applied.
    pub scope: ReadScope,
    /// The maximum number of sections with scope `sections` of manual_read (default and maximum: the server's
    /// HARD_MAX_SECTIONS, 20). It has no effect in the bridge tools.
    pub max_sections: usize,
    /// The maximum number of characters. Default: 8000 for manual_read, and the server's HARD_MAX_CHARS (20000) for
    /// the bridge tools. HARD_MAX_CHARS always applies.
    pub max_chars: usize,
    /// The number of sections whose heading is in the text.
    pub sections: usize,
    /// The first line of the section that contains the requested line.
    pub node_line: usize,
}

/// What to read, and how much.
pub struct ReadRequest<'a> {
    /// The place to read.
    pub place: &'a Ref,
    /// How much to read; `None` for the default of the file type.
    pub scope: Option<ReadScope>,
    /// The limits of the call.
    pub limits: ReadLimits,
    /// How much text to return around the line of a snippet.
    pub expand: Expand,
}

/// Reads a part of a manual.
pub fn read(
    manuals: &Manuals,
    settings: &config::LibrarySection,
    request: &ReadRequest<'_>,
) -> Result<ReadPart, ToolError> {
    let manual = manuals.get(request.place.manual_id()?)?;
    let path = RelPath::parse(&request.place.path)?;
    let file_type = FileType::of(path.as_str());
    let default = if file_type == Some(FileType::Json) { ReadScope::File } else { ReadScope::Snippet };
    let scope = request.scope.unwrap_or(default);
    check_scope(file_type, scope, settings, request.limits, path.as_str())?;
    let document = manual.document(&path)?;
    request.place.check_rev(&document.file.sha256)?;

    let limit = CharLimit::new(settings, request.limits.max_chars);
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
        ReadScope::Snippet => snippet(&document, line, request.expand, limit.max_chars),
        ReadScope::Section => section(&document, line),
        ReadScope::Sections => following(&document, line, max_sections),
    };
    let (shown, whole) = truncate_chars(text, limit.max_chars);
    // A section counts when its heading is in the text.
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
        max_chars: limit.max_chars,
        sections,
    })
}

/// Refuses a scope that the file type or the settings do not allow.
fn check_scope(
    file_type: Option<FileType>,
    scope: ReadScope,
    settings: &config::LibrarySection,
    limits: ReadLimits,
    path: &str,
) -> Result<(), LibraryError> {
    match (file_type, scope) {
        (Some(FileType::Json), ReadScope::Section | ReadScope::Sections) => Err(LibraryError::invalid_scope(
            path,
            "is JSON, which has no sections; use scope file or snippet",
        )),
        (Some(FileType::Md), ReadScope::File) if !settings.allow_file_scope => Err(LibraryError::forbidden(
            path,
            "is Markdown, and the server does not allow whole files (ALLOW_FILE_SCOPE); use scope section",
        )),
        (Some(FileType::Md), ReadScope::File) if limits.allow_file != Some(true) => {
            Err(LibraryError::forbidden(
                path,
                "is read as a whole only with limits.allow_file: true; otherwise use scope section",
            ))
        }
        _ => Ok(()),
    }
}

/// The line with the requested characters around it. When the limit does not suffice, the line itself comes first.
fn snippet(document: &Document, line: usize, expand: Expand, max_chars: usize) -> (&str, bool, &[Node]) {
    let text = document.file.text.as_str();
    let Some(range) = document.lines.line(line) else { return ("", true, &[]) };
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    let room = max_chars.saturating_sub(text.get(range.clone()).unwrap_or_default().chars().count());
    let (requested_before, requested_after) = (
        expand.before_chars.unwrap_or(DEFAULT_EXPAND_CHARS),
        expand.after_chars.unwrap_or(DEFAULT_EXPAND_CHARS),
    );
    let half = (room / 2).max(room.saturating_sub(requested_after));
    let take_before = requested_before.min(half);
    let take_after = requested_after.min(room - take_before);
    let start = match take_before.checked_sub(1) {
        None => range.start,
        Some(skip) => before.char_indices().rev().nth(skip).map_or(0, |(start, _)| start),
    };
    let end = after.char_indices().nth(take_after).map_or(text.len(), |(end, _)| range.end + end);
    let shown = text.get(start..end).unwrap_or_default().trim_matches(['\n', '\r']);
    // A snippet that ends with the file is complete.
    let is_cut_before = take_before < requested_before && start > 0;
    let is_cut_after = take_after < requested_after && end < text.len();
    (shown, !is_cut_before && !is_cut_after, &[])
}

/// The section that contains a line, with its subsections.
fn section(document: &Document, line: usize) -> (&str, bool, &[Node]) {
    let Some(index) = document.node_at(line) else { return ("", true, &[]) };
    let nodes = document.nodes.get(index..).unwrap_or_default();
    let Some(node) = nodes.first() else { return ("", true, &[]) };
    let inside = nodes.iter().take_while(|inner| inner.start_line <= node.end_line).count();
    (document.text_of(node.start_line, node.end_line), true, nodes.get(..inside).unwrap_or_default())
}

/// The section that contains a line and the following ones, and whether that is all of them.
fn following(document: &Document, line: usize, max_sections: usize) -> (&str, bool, &[Node]) {
    let Some(index) = document.node_at(line) else { return ("", true, &[]) };
    let left = document.nodes.get(index..).unwrap_or_default();
    let nodes = left.get(..left.len().min(max_sections)).unwrap_or_default();
    let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else { return ("", true, &[]) };
    (document.text_of(first.start_line, last.own_end_line), nodes.len() == left.len(), nodes)
}
