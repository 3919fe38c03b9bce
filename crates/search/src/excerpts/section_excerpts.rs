//! Excerpts of the sections that a find found: the best matching line and the lines around it, as they are written.

use std::ops::Range;

use annai_core::ToolError;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::FindContext;
use crate::excerpts::highlight::LineHighlighter;
use crate::query::dictionary::Dictionary;
use crate::trace::{TraceMatch, TraceRecord};
use annai_text::{Document, Structure, cut_around, line_ranges};

/// The maximum number of lines of an excerpt, because each has a number and costs more than its characters.
const MAX_LINES: usize = 20;
/// A line that does not fit is cut when at least this much of it fits; less says nothing.
const MIN_CUT_CHARS: usize = 20;

/// A line of a section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExcerptLine {
    /// The number of the line, counted from 1.
    pub line: u64,
    /// Its text. An ellipsis stands for what was cut.
    pub text: String,
}

/// Makes the excerpts of the sections of one trace. What they show does not count as read: they are parts of sections, and
/// a reader who acts on one still wants the rest.
pub struct SectionExcerpts<'a> {
    context: FindContext<'a>,
    record: &'a TraceRecord,
    highlighter: LineHighlighter,
    max_chars: usize,
    /// The file that was read last, because the sections of a file mostly come together; no text where it has changed.
    last_file: Option<(u32, Option<Document>)>,
}

impl<'a> SectionExcerpts<'a> {
    /// Excerpts of at most `max_chars` characters; none where that is 0.
    pub fn new(
        context: FindContext<'a>,
        record: &'a TraceRecord,
        max_chars: usize,
    ) -> Result<Option<Self>, ToolError> {
        if max_chars == 0 {
            return Ok(None);
        }
        let highlighter = LineHighlighter::new(&record.question, &Dictionary::new(&[]))?;
        Ok(Some(Self { context, record, highlighter, max_chars, last_file: None }))
    }

    /// The excerpt of a section around its best matching line; empty where the file has changed since the find, or the
    /// section has only a heading.
    pub fn excerpt(&mut self, found: &TraceMatch, best_line: u64) -> Vec<ExcerptLine> {
        self.lines_around(found, best_line).unwrap_or_default()
    }

    fn lines_around(&mut self, found: &TraceMatch, best_line: u64) -> Option<Vec<ExcerptLine>> {
        let (segment, index) = self.context.indexed_node(self.record, found)?;
        let node = segment.node(index)?;
        let structure = segment.file_of(node)?.structure;
        if self.last_file.as_ref().is_none_or(|(file, _)| *file != found.file) {
            let file = self.record.file_of(found)?;
            self.last_file = Some((found.file, self.context.original_text(file)));
        }
        let (_, Some(original)) = self.last_file.as_ref()? else { return None };
        let body = body(original, found, structure, node.heading_lines as usize)?;
        let lines = lines_in(original, &body);
        let best = lines.iter().position(|(number, _)| *number as u64 >= best_line).unwrap_or(0);
        let matched = self.highlighter.first_match(lines.get(best)?.1).start;
        Some(window(&lines, best, matched, self.max_chars))
    }
}

/// The bytes of the own text of a match without its heading.
fn body(
    original: &Document,
    found: &TraceMatch,
    structure: Structure,
    heading_lines: usize,
) -> Option<Range<usize>> {
    let byte_at = |position| original.lines.byte_at(&original.text, position);
    let start = byte_at(found.span.start)?;
    let end = byte_at(found.span.end).unwrap_or(original.text.len());
    let own = original.text.get(start..end)?;
    let heading_lines = match structure {
        // The heading of a paragraph is a part of its text.
        Structure::Paragraphs => usize::from(own.starts_with('#')),
        _ => heading_lines,
    };
    let body = line_ranges(own).nth(heading_lines).map_or(end, |line| start + line.start);
    Some(body..end)
}

/// The lines in a part of a text with their numbers, without blank ones.
fn lines_in<'a>(original: &'a Document, part: &Range<usize>) -> Vec<(usize, &'a str)> {
    if part.is_empty() {
        return Vec::new();
    }
    let numbers = original.lines.line_at(part.start)..=original.lines.line_at(part.end - 1);
    let line = |number: usize| {
        let line = original.lines.line(number)?;
        let text = original.text.get(line.start.max(part.start)..line.end.min(part.end))?.trim_end();
        (!text.trim().is_empty()).then_some((number, text))
    };
    numbers.filter_map(line).collect()
}

/// The best line, and as many lines after and before it as fit, in order. A best line that is too long is cut around the
/// match, and the line after the last whole one where it ends.
fn window(lines: &[(usize, &str)], best: usize, matched: usize, max_chars: usize) -> Vec<ExcerptLine> {
    let excerpt_line = |number: usize, text: String| ExcerptLine { line: number as u64, text };
    let mut shown = std::collections::VecDeque::new();
    let Some((number, text)) = lines.get(best) else { return Vec::new() };
    // Most of what is shown follows the match.
    let text = cut_around(text, matched, max_chars / 4, max_chars);
    let mut room = max_chars.saturating_sub(text.chars().count());
    shown.push_back(excerpt_line(*number, text));
    let mut after = lines.iter().skip(best + 1);
    let mut before = lines.iter().take(best).rev();
    let (mut is_full_after, mut is_full_before) = (false, false);
    while shown.len() < MAX_LINES && !(is_full_after && is_full_before) {
        if !is_full_after {
            match after.next() {
                Some((number, text)) if room >= MIN_CUT_CHARS.min(text.chars().count()) => {
                    let cut = cut_around(text, 0, 0, room);
                    is_full_after = cut != *text;
                    room = room.saturating_sub(cut.chars().count());
                    shown.push_back(excerpt_line(*number, cut));
                }
                _ => is_full_after = true,
            }
        }
        if !is_full_before && shown.len() < MAX_LINES {
            match before.next().map(|(number, text)| (number, text, text.chars().count())) {
                Some((number, text, chars)) if chars <= room => {
                    room -= chars;
                    shown.push_front(excerpt_line(*number, (*text).to_owned()));
                }
                _ => is_full_before = true,
            }
        }
    }
    shown.into()
}

#[cfg(test)]
#[path = "section_excerpts_tests.rs"]
mod tests;
