//! JSON. A file is read as a whole; its values are ranked on their own.

pub mod passages;
pub mod pointer;

use std::borrow::Cow;
use std::ops::Range;

use self::passages::passages;
use self::pointer::{check, locate, without_mark};
use super::format::{Format, PointerError, Structure};
use crate::document::Document;
use crate::lines::truncate_chars;
use crate::sections::{MAX_TITLE_CHARS, Node};

/// The maximum length of a value that is ranked as a whole, as of a section.
const MAX_VALUE_CHARS: usize = 4000;

/// JSON.
pub struct Json;

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn structure(&self) -> Structure {
        Structure::Values
    }

    fn media_type(&self) -> &'static str {
        "application/json"
    }

    fn parse(&self, original: String, name: &str) -> Document {
        let is_sound = check(without_mark(&original)).is_ok();
        Document { is_sound, ..Document::whole(original, name) }
    }

    /// The values of a file, each short enough to be read at once.
    fn ranked_nodes<'a>(&self, document: &'a Document) -> Cow<'a, [Node]> {
        let Document { text, lines, nodes, .. } = document;
        let values = if document.is_sound { passages(text, MAX_VALUE_CHARS) } else { Vec::new() };
        let Some((whole, count)) = nodes.first().zip(values.len().checked_sub(1)) else {
            return Cow::Borrowed(nodes);
        };
        let mut start = 0;
        let node = |(index, (pointer, value)): (usize, (String, Range<usize>))| {
            // The keys and brackets before a value belong to it, and those at the end to the last one.
            let own = start..if index == count { text.len() } else { value.end };
            start = own.end;
            let title = if pointer.is_empty() { &whole.title } else { &pointer };
            let (start_line, end_line) = (lines.line_at(own.start), lines.line_at(own.end.saturating_sub(1)));
            Node {
                title: truncate_chars(title, MAX_TITLE_CHARS).0.to_owned(),
                start_line,
                end_line,
                own_end_line: end_line,
                own,
                json_path: Some(pointer.into()),
                ..whole.clone()
            }
        };
        values.into_iter().enumerate().map(node).collect()
    }

    fn searched_line<'a>(&self, line: Cow<'a, str>) -> Cow<'a, str> {
        if line.contains("\\u") { unescaped(&line).into() } else { line }
    }

    fn value_at(&self, document: &Document, pointer: &str) -> Result<Range<usize>, PointerError> {
        locate(&document.text, pointer)
    }
}

/// A line of JSON with its `\uXXXX` escapes decoded; invalid escapes are kept.
fn unescaped(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut units: Vec<u16> = Vec::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\\u") {
        if !before.is_empty() {
            out.extend(char::decode_utf16(units.drain(..)).map(|ch| ch.unwrap_or('\u{fffd}')));
            out.push_str(before);
        }
        match after.get(..4).and_then(|digits| u16::from_str_radix(digits, 16).ok()) {
            Some(unit) => {
                units.push(unit);
                rest = after.get(4..).unwrap_or_default();
            }
            None => {
                out.push_str("\\u");
                rest = after;
            }
        }
    }
    out.extend(char::decode_utf16(units.drain(..)).map(|ch| ch.unwrap_or('\u{fffd}')));
    out.push_str(rest);
    out
}
