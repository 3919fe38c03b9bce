//! The parts of a document that a read can ask for, as ranges of its bytes.

use std::ops::Range;

use annai_core::ToolError;

use annai_files::LibraryError;
use annai_files::manuals::ManualFile;
use annai_text::{
    Document, NodeKind, PointerError, Position, cut_length, cut_length_with, cut_start, truncate_chars,
};

/// The default number of characters before and after the line of a snippet: about a paragraph.
const DEFAULT_EXPAND_CHARS: usize = 240;

/// The maximum number of characters of a passage: enough for a table or some paragraphs around a place.
const MAX_PASSAGE_CHARS: usize = 1200;

/// The maximum number of characters of a JSON Pointer that an error shows; the rest is left out.
const MAX_SHOWN_POINTER_CHARS: usize = 200;

/// How much text surrounds the line of a snippet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Surroundings {
    /// The number of characters before the line.
    pub(crate) before: Option<usize>,
    /// The number of characters after the line.
    pub(crate) after: Option<usize>,
}

/// What a read asks for. Calls with a cursor return all of it, piece by piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadUnit {
    /// All bytes of it. Those of a snippet and of a passage are their section, so that a cursor can continue in it.
    pub(crate) range: Range<usize>,
    /// Where a call without a cursor starts: later than the range only in a snippet, in a passage and in a long JSON value.
    pub(crate) first: usize,
    /// Where a call without a cursor ends, if not at a limit: earlier than the range only in a snippet and in a passage.
    pub(crate) stop: usize,
    /// The maximum number of headings in the text of one call.
    pub(crate) max_sections: usize,
}

impl ReadUnit {
    const fn new(range: Range<usize>) -> Self {
        Self { first: range.start, stop: range.end, range, max_sections: usize::MAX }
    }

    /// The whole file.
    pub(crate) fn file(document: &Document) -> Self {
        Self::new(0..document.text.len())
    }

    /// The section that contains a place, with its subsections.
    pub(crate) fn section(document: &Document, place: Place) -> Self {
        Self::new(document.section_range(node_index(document, place)))
    }

    /// The same, but a page runs on into the next one, because a sentence may.
    pub(crate) fn section_with_next_page(document: &Document, place: Place) -> Self {
        let node = node_index(document, place);
        let Range { start, end } = document.section_range(node);
        let next = next_page(document, node).map(|next| document.section_range(next).end);
        Self::new(start..next.unwrap_or(end))
    }

    /// That section and everything after it, of which each call returns at most `max_sections` sections.
    pub(crate) fn sections(document: &Document, place: Place, max_sections: usize) -> Self {
        let node = document.nodes.get(node_index(document, place));
        let rest = node.map_or(0, |node| node.own.start)..document.text.len();
        Self { max_sections, ..Self::new(document.without_last_break(rest)) }
    }

    /// Some lines, without the last break.
    pub(crate) fn lines(document: &Document, first: usize, last: usize) -> Self {
        let start = byte_at(document, Position::new(first, 0_u32));
        let end = document.lines.line(last).map_or(start, |line| line.end);
        Self::new(start..end.max(start))
    }

    /// A value of a JSON file, in its original formatting.
    pub(crate) fn json_value(file: &ManualFile, pointer: &str) -> Result<Self, ToolError> {
        match file.format.value_at(&file.document, pointer) {
            Ok(range) => Ok(Self::new(range)),
            Err(PointerError::NotAPointer) => {
                let problem = "expected a JSON Pointer, such as /items/0/name (RFC 6901)";
                Err(LibraryError::invalid("ref.json_path", problem).into())
            }
            Err(PointerError::Invalid(problem)) => {
                let problem =
                    format!("{} is not valid JSON ({problem}); read it without json_path", file.path);
                Err(LibraryError::invalid("ref.json_path", problem).into())
            }
            Err(PointerError::NotFound(existing)) => {
                let problem = if existing.is_empty() {
                    "has no value at ref.json_path; not even its first part exists".to_owned()
                } else {
                    let existing = truncate_chars(&existing, MAX_SHOWN_POINTER_CHARS).0;
                    format!("has no value at ref.json_path; the part that exists is {existing}")
                };
                Err(LibraryError::not_found(file.path.as_str(), problem).into())
            }
        }
    }

    /// The same, but a call without a cursor starts at a place inside it, if the whole does not fit into one call.
    pub(crate) fn starting_at(self, document: &Document, place: Place, max_chars: usize) -> Self {
        let start = byte_at(document, place.position());
        if self.fits(document, max_chars) || !self.range.contains(&start) {
            self
        } else {
            Self { first: start, ..self }
        }
    }

    /// A line with the text around it, inside its own section, or a place inside a line with the text around that. When the
    /// limit does not suffice, the line itself comes first.
    pub(crate) fn snippet(document: &Document, place: Place, around: Surroundings, max_chars: usize) -> Self {
        let text = &document.text;
        let section = section_around(document, place);
        // A place inside a line stands for itself: the line may be as long as the file.
        let center = match place.char {
            Some(_) => Center::Place(position_in(document, place, &section)),
            None => Center::Line(line_in(document, place, &section)),
        };
        let line = center.range();
        let (before, after) =
            (around.before.unwrap_or(DEFAULT_EXPAND_CHARS), around.after.unwrap_or(DEFAULT_EXPAND_CHARS));
        let lead = text.get(section.start..line.start).unwrap_or_default();
        let start = section.start + cut_start(lead, before, center.longest_line(before, max_chars));
        let tail = text.get(line.end..section.end).unwrap_or_default();
        let end = line.end + cut_length_with(tail, after, center.longest_line(after, max_chars));
        // Breaks at the ends would only be empty lines.
        let is_break = ['\n', '\r'];
        let lead = text.get(start..line.start).unwrap_or_default();
        let start = line.start - lead.trim_start_matches(is_break).len();
        let tail = text.get(line.end..end).unwrap_or_default();
        let end = line.end + tail.trim_end_matches(is_break).len();
        let first = first_byte(text, &(start..end), &center, max_chars);
        Self { first, stop: end, ..Self::new(section) }
    }

    /// The whole lines around a place, inside its section. A line that is longer than the limit is read from the place on.
    pub(crate) fn passage(document: &Document, place: Place, max_chars: usize) -> Self {
        let text = &document.text;
        let section = section_around(document, place);
        let max_chars = max_chars.min(MAX_PASSAGE_CHARS);
        let line = line_in(document, place, &section);
        let center = match place.char {
            Some(_) if !fits(text, &line, max_chars) => Center::Place(position_in(document, place, &section)),
            _ => Center::Line(line),
        };
        let first = first_byte(text, &section, &center, max_chars);
        let stop = first + cut_length(text.get(first..section.end).unwrap_or_default(), max_chars);
        Self { first, stop, ..Self::new(section) }
    }

    /// Whether all of it fits into one call.
    pub(crate) fn fits(&self, document: &Document, max_chars: usize) -> bool {
        fits(&document.text, &self.range, max_chars)
    }

    /// Where the text of a call that starts at a byte must end.
    pub(crate) fn end_of_call(&self, document: &Document, start: usize) -> usize {
        if self.max_sections == usize::MAX {
            return self.range.end;
        }
        let first = document.nodes.partition_point(|node| node.own.start < start);
        let next = document.nodes.get(first.saturating_add(self.max_sections));
        let end = next.map(|next| document.without_last_break(start..next.own.start).end);
        end.map_or(self.range.end, |end| end.min(self.range.end))
    }
}

/// The place of a ref.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The line, counted from 1.
    pub(crate) line: usize,
    /// How many characters of the line come before the place, when the ref says so.
    pub(crate) char: Option<usize>,
}

impl Place {
    /// The position in the text.
    pub(crate) fn position(self) -> Position {
        Position::new(self.line, self.char.unwrap_or(0))
    }
}

fn byte_at(document: &Document, position: Position) -> usize {
    document.lines.byte_at(&document.text, position).unwrap_or(document.text.len())
}

/// The innermost section that contains a place. Without a character, it is the first one that starts on the line, if any.
pub(crate) fn node_index(document: &Document, place: Place) -> usize {
    let nodes = &document.nodes;
    let after = match place.char {
        Some(char) => nodes.partition_point(|node| (node.start_line, node.start_char) <= (place.line, char)),
        None => {
            let before = nodes.partition_point(|node| node.start_line < place.line);
            before + usize::from(nodes.get(before).is_some_and(|node| node.start_line == place.line))
        }
    };
    after.saturating_sub(1)
}

/// The page that follows a page directly, on the same level.
fn next_page(document: &Document, node: usize) -> Option<usize> {
    let next = document.next_section(node)?;
    let (page, after) = (document.nodes.get(node)?, document.nodes.get(next)?);
    let are_pages = page.kind == NodeKind::PageBreak && after.kind == NodeKind::PageBreak;
    (are_pages && page.level == after.level && page.parent == after.parent).then_some(next)
}

/// The bytes of the section that contains a place, without breaks at its end, and with the line of the place, which may come
/// before the first section.
fn section_around(document: &Document, place: Place) -> Range<usize> {
    let section = document.section_range(node_index(document, place));
    let line = document.lines.line(place.line).unwrap_or(0..0);
    let start = section.start.min(line.start);
    let all = document.text.get(start..section.end).unwrap_or_default();
    let end = start + all.trim_end_matches(['\n', '\r']).len();
    // In HTML, a line may have parts of several sections.
    start..end.max(line.end.min(section.end)).max(start)
}

/// The part of the line of a place that is in a section.
fn line_in(document: &Document, place: Place, section: &Range<usize>) -> Range<usize> {
    let line = document.lines.line(place.line).unwrap_or(0..0);
    let inside = |byte: usize| byte.clamp(section.start, section.end);
    inside(line.start)..inside(line.end)
}

/// The byte of a place in a section.
fn position_in(document: &Document, place: Place, section: &Range<usize>) -> usize {
    byte_at(document, place.position()).clamp(section.start, section.end)
}

/// What a snippet or a passage is around.
enum Center {
    /// A whole line.
    Line(Range<usize>),
    /// A place inside a line, which may be cut.
    Place(usize),
}

impl Center {
    fn range(&self) -> Range<usize> {
        match self {
            Self::Line(line) => line.clone(),
            Self::Place(place) => *place..*place,
        }
    }

    /// The maximum length of a line that is shown as a whole or not at all, where `chars` characters are shown on one side.
    const fn longest_line(&self, chars: usize, max_chars: usize) -> usize {
        match self {
            Self::Line(_) => max_chars,
            Self::Place(_) => chars,
        }
    }
}

/// Where a call begins that shows a line or a place and as much of the text around it as fits.
fn first_byte(text: &str, around: &Range<usize>, center: &Center, max_chars: usize) -> usize {
    let line = center.range();
    let count = |range: Range<usize>| text.get(range).map_or(0, |text| text.chars().count());
    match max_chars.checked_sub(count(line.clone())) {
        Some(room) => {
            // Both sides get half of the room, and one of them more when the other needs less.
            let take = (room / 2).max(room.saturating_sub(count(line.end..around.end)));
            let before = text.get(around.start..line.start).unwrap_or_default();
            around.start + cut_start(before, take, center.longest_line(take, max_chars))
        }
        // The beginning of a line that exceeds the limit; a cursor continues with the rest.
        None => line.start,
    }
}

/// Whether a part of a text has at most `max_chars` characters.
fn fits(text: &str, range: &Range<usize>, max_chars: usize) -> bool {
    text.get(range.clone()).is_none_or(|part| part.chars().nth(max_chars).is_none())
}
