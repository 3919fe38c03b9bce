//! Reading manuals: a snippet, a passage, a section, several sections, some lines, a JSON value or a whole file, within
//! limits and with a cursor to continue.
//!
//! The texts that the calls with the cursors return, joined without anything between them, are the text that was asked for, or
//! the rest of the section of a snippet or a passage: a line break belongs to the line that it ends, and a cut is made after
//! it, unless the limit is exactly there. Only a line that is longer than the limit is cut, between two words.

use annai_core::ToolError;

use crate::config;
use crate::reading::arguments::{Expand, Lines, ReadLimits, ReadScope};
use crate::reading::cursor::Cursor;
use crate::reading::read_units::{Place, ReadUnit, Surroundings, node_index};
use annai_files::LibraryError;
use annai_files::fs::{RelPath, Sha256};
use annai_files::manuals::{ManualFile, Manuals};
use annai_search::reference::{CharLimit, Ref};
use annai_text::{Document, Format, Node, Position, Span, Structure, cut_length, format_of};

/// The number of digits of the SHA-256 that a reply names as `rev`, as many as refs have.
const REV_DIGITS: usize = 12;

/// The text that was read, with the limits that were applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadPart {
    /// The id of the manual.
    pub(crate) manual_id: String,
    /// The stored path.
    pub(crate) path: String,
    /// The text.
    pub(crate) text: String,
    /// Whether a limit cut the text short, or the section of a snippet or a passage has more text.
    pub(crate) truncated: bool,
    /// The scope that was applied.
    pub(crate) scope: ReadScope,
    /// The maximum number of sections that was applied.
    pub(crate) max_sections: usize,
    /// The maximum number of characters that was applied.
    pub(crate) max_chars: usize,
    /// The number of sections whose heading is in the text.
    pub(crate) sections: usize,
    /// The first line of the section that contains the requested line.
    pub(crate) node_line: usize,
    /// The line of the first character of the text.
    pub(crate) start_line: usize,
    /// The line of the last character of the text.
    pub(crate) end_line: usize,
    /// The titles from the top of the file down to the section that contains the start of the text.
    pub(crate) heading_path: Vec<String>,
    /// Where the text goes on; `None` at the end of what was asked for, and of the section of a snippet or a passage.
    pub(crate) next_cursor: Option<Position>,
    /// The last line of what was asked for, when a limit cut it. The rest of a section was not asked for by a snippet.
    pub(crate) cut_until_line: Option<usize>,
    /// The part of the file that was read. A line counts as read when its last character was.
    pub(crate) span: Span,
    /// The number of lines in the file.
    pub(crate) total_lines: usize,
    /// The SHA-256 of the file.
    pub(crate) sha256: Sha256,
    /// The first digits of the file's SHA-256.
    pub(crate) rev: String,
    /// The character encoding of the file, when it is not UTF-8.
    pub(crate) encoding: Option<String>,
}

/// What to read, and how much.
pub(crate) struct ReadRequest<'a> {
    /// The place to read.
    pub(crate) place: &'a Ref,
    /// How much to read; `None` for the default of the file.
    pub(crate) scope: Option<ReadScope>,
    /// The lines to read instead.
    pub(crate) lines: Option<Lines>,
    /// Where to continue in what was asked for.
    pub(crate) cursor: Option<Cursor>,
    /// The limits of the call.
    pub(crate) limits: ReadLimits,
    /// How much text to return around the line of a snippet.
    pub(crate) expand: Expand,
    /// Whether a section that is a page runs on into the next page.
    pub(crate) runs_on: bool,
}

/// Reads a part of a manual.
pub(crate) fn read(
    manuals: &Manuals,
    settings: &config::LibrarySection,
    request: &ReadRequest<'_>,
) -> Result<ReadPart, ToolError> {
    let manual = manuals.get(request.place.manual_id()?)?;
    let path = RelPath::parse(&request.place.path)?;
    let structure = format_of(path.as_str()).map(Format::structure);
    let scope = request.scope(structure)?;
    check_scope(structure, scope, settings, request.limits, path.as_str())?;
    let file = manual.file(&path)?;
    request.place.check_rev(&file.sha256)?;
    let part = read_file(&file, settings, request, scope)?;
    Ok(ReadPart { manual_id: manual.id, ..part })
}

impl ReadRequest<'_> {
    /// The scope that applies to a type of file; `None` for the section, or for a passage of it where it is too long.
    fn scope(&self, structure: Option<Structure>) -> Result<Option<ReadScope>, LibraryError> {
        let is_json = structure == Some(Structure::Values);
        let Expand { before_chars, after_chars } = self.expand;
        match (self.lines, self.scope) {
            (Some(_), Some(_)) => {
                Err(LibraryError::invalid("lines", "expected either lines or scope, got both"))
            }
            (Some(_), None) => Ok(Some(ReadScope::Lines)),
            (None, Some(scope)) => Ok(Some(scope)),
            (None, None) if is_json && self.place.json_path.is_some() => Ok(Some(ReadScope::Snippet)),
            (None, None) if is_json && self.place.char.is_none() => Ok(Some(ReadScope::File)),
            // What only a snippet has was given.
            (None, None) if before_chars.or(after_chars).is_some() => Ok(Some(ReadScope::Snippet)),
            (None, None) if is_json => Ok(Some(ReadScope::Passage)),
            (None, None) => Ok(None),
        }
    }
}

/// Reads a part of a file.
fn read_file(
    file: &ManualFile,
    settings: &config::LibrarySection,
    request: &ReadRequest<'_>,
    scope: Option<ReadScope>,
) -> Result<ReadPart, ToolError> {
    let document = &file.document;
    let max_chars = CharLimit::new(request.limits.max_chars, settings.hard_max_chars).max_chars;
    let max_sections =
        request.limits.max_sections.unwrap_or(settings.hard_max_sections).min(settings.hard_max_sections);
    let scope = match scope {
        Some(scope) => scope,
        None => {
            let section = ReadUnit::section(document, checked_place(document, request.place)?);
            if section.fits(document, max_chars) { ReadScope::Section } else { ReadScope::Passage }
        }
    };
    let json_path =
        request.place.json_path.as_deref().filter(|_| file.format.structure() == Structure::Values);
    let (unit, place) = match (scope, json_path) {
        (ReadScope::Lines, _) => {
            let (first, last) = checked_lines(document, request.lines)?;
            (ReadUnit::lines(document, first, last), Place { line: first, char: None })
        }
        (ReadScope::Snippet, Some(pointer)) => {
            let unit = ReadUnit::json_value(file, pointer)?;
            let unit = match request.place.char {
                // A place inside a long value: what comes before it is not what the caller looks for.
                Some(_) => unit.starting_at(document, checked_place(document, request.place)?, max_chars),
                None => unit,
            };
            let Position { line, char } = document.position(unit.first);
            (unit, Place { line: line as usize, char: Some(char as usize) })
        }
        (scope, _) => {
            let place = checked_place(document, request.place)?;
            let unit = match scope {
                ReadScope::File => ReadUnit::file(document),
                ReadScope::Section if request.runs_on => ReadUnit::section_with_next_page(document, place),
                ReadScope::Section => ReadUnit::section(document, place),
                ReadScope::Sections => ReadUnit::sections(document, place, max_sections),
                ReadScope::Passage => ReadUnit::passage(document, place, max_chars),
                ReadScope::Snippet | ReadScope::Lines => {
                    let Expand { before_chars: before, after_chars: after } = request.expand;
                    ReadUnit::snippet(document, place, Surroundings { before, after }, max_chars)
                }
            };
            (unit, place)
        }
    };
    let (start, asked_end) = match request.cursor {
        Some(cursor) => (checked_cursor(document, cursor, &unit)?, unit.range.end),
        None => (unit.first, unit.stop),
    };
    let available = start..unit.end_of_call(document, start).min(asked_end);
    let end = start + cut_length(document.text.get(available).unwrap_or_default(), max_chars);
    let skipped = document.text.get(unit.range.start..start).unwrap_or_default();
    let is_cut_before = request.cursor.is_none() && !skipped.trim_matches(['\n', '\r']).is_empty();
    let (first, last) = (document.position(start), document.lines.line_at(end.saturating_sub(1).max(start)));
    let start_line = first.line as usize;
    let start_node = node_index(document, Place { line: start_line, char: Some(first.char as usize) });
    let after = document.position(end);
    let headings = document.nodes.iter().skip(start_node).map(Node::start);
    let sections = headings.skip_while(|heading| *heading < first).take_while(|heading| *heading < after);
    let mut rev = file.sha256.to_string();
    rev.truncate(REV_DIGITS);
    Ok(ReadPart {
        manual_id: String::new(),
        path: file.path.clone(),
        text: document.text.get(start..end).unwrap_or_default().to_owned(),
        truncated: is_cut_before || end < unit.range.end,
        scope,
        max_sections,
        max_chars,
        sections: sections.count(),
        node_line: document.nodes.get(node_index(document, place)).map_or(1, |node| node.start_line),
        start_line,
        end_line: last,
        heading_path: document.heading_path(start_node),
        next_cursor: (end < unit.range.end).then_some(after),
        cut_until_line: (end < asked_end).then(|| document.lines.line_at(asked_end.saturating_sub(1))),
        span: first..end_of_span(document, end),
        total_lines: document.lines.count(),
        sha256: file.sha256,
        rev,
        encoding: file.encoding.other_name().map(str::to_owned),
    })
}

/// The position after the last character that was read. After the last character of a line it is the start of the next
/// one.
fn end_of_span(document: &Document, end: usize) -> Position {
    // The breaks behind the text say nothing that was not read.
    let rest = document.text.get(end..).unwrap_or_default();
    let end = end + (rest.len() - rest.trim_start_matches(['\n', '\r']).len());
    if end == document.text.len() {
        return Position::line_start(u32::try_from(document.lines.count() + 1).unwrap_or(u32::MAX));
    }
    let position = document.position(end);
    let is_line_end =
        position.char > 0 && document.lines.line(position.line as usize).is_none_or(|line| line.end <= end);
    match is_line_end {
        true => Position::line_start(position.line + 1),
        false => position,
    }
}

/// The place of a ref, which must exist in the document.
fn checked_place(document: &Document, place: &Ref) -> Result<Place, LibraryError> {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let (line, char) = (number(place.start_line.unwrap_or(1)), place.char.map(number));
    let last_line = document.lines.count().max(1);
    if line > last_line {
        let problem = format!("expected a line from 1 to {last_line}, got {line}");
        return Err(LibraryError::invalid("start_line", problem));
    }
    let length = document.lines.text_of(&document.text, line).chars().count();
    match char.filter(|char| *char > length) {
        Some(char) => {
            let problem =
                format!("expected a number from 0 to {length}, the length of line {line}, got {char}");
            Err(LibraryError::invalid("char", problem))
        }
        None => Ok(Place { line, char }),
    }
}

/// The first and the last line of a range, which must begin in the document.
fn checked_lines(document: &Document, lines: Option<Lines>) -> Result<(usize, usize), LibraryError> {
    let Lines { start, end } = lines.unwrap_or(Lines { start: 1, end: None });
    let last_line = document.lines.count().max(1);
    let start_line = usize::try_from(start).unwrap_or(usize::MAX);
    if start_line == 0 || start_line > last_line {
        let problem = format!("expected a line from 1 to {last_line}, the last one of the file, got {start}");
        return Err(LibraryError::invalid("lines.start", problem));
    }
    let end_line = end.map_or(last_line, |end| usize::try_from(end).unwrap_or(usize::MAX)).min(last_line);
    if end_line < start_line {
        let problem = format!("expected a line from {start} (lines.start) to {last_line}, got {end_line}");
        return Err(LibraryError::invalid("lines.end", problem));
    }
    Ok((start_line, end_line))
}

/// The byte at a cursor, which must be in what was asked for.
fn checked_cursor(document: &Document, cursor: Cursor, unit: &ReadUnit) -> Result<usize, LibraryError> {
    let range = &unit.range;
    let byte = document.lines.byte_at(&document.text, cursor.position());
    let is_inside = |byte: &usize| range.contains(byte) || (range.is_empty() && *byte == range.start);
    byte.filter(is_inside).ok_or_else(|| {
        let (first, last) = (document.position(range.start), document.position(range.end));
        let problem = format!(
            "expected a place from line {} character {} to before line {} character {}, got line {} character {}; pass the next_cursor of the previous call with the same other arguments",
            first.line,
            first.char,
            last.line,
            last.char,
            cursor.start_line,
            cursor.char.unwrap_or(0)
        );
        LibraryError::invalid("cursor", problem)
    })
}

/// Refuses a scope that the file type or the settings do not allow.
fn check_scope(
    structure: Option<Structure>,
    scope: Option<ReadScope>,
    settings: &config::LibrarySection,
    limits: ReadLimits,
    path: &str,
) -> Result<(), LibraryError> {
    let Some(scope) = scope else { return Ok(()) };
    match (structure, scope) {
        (Some(Structure::Values), ReadScope::Section | ReadScope::Sections) => {
            Err(LibraryError::invalid_scope(
                path,
                "is JSON, which has no sections; use scope file, passage or snippet, or lines",
            ))
        }
        (Some(Structure::Values) | None, ReadScope::File) => Ok(()),
        (Some(_), ReadScope::File) if !settings.allow_file_scope => Err(LibraryError::forbidden(
            path,
            "cannot be read as a whole, because the server does not allow whole files (ALLOW_FILE_SCOPE); use scope section, or lines",
        )),
        (Some(_), ReadScope::File) if limits.allow_file != Some(true) => Err(LibraryError::forbidden(
            path,
            "is read as a whole only with limits.allow_file: true; otherwise use scope section, or lines",
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "read_manual_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "read_manual_cut_tests.rs"]
mod cut_tests;
