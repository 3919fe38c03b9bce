//! Lists the lines of a manual, or of one of its sections, that contain an exception word.

use std::ops::Range;

use annai_core::ToolError;

use crate::line_search::{LineHit, snippet};
use crate::paging::{LineKey, Page, Pager, SkippedFiles};
use annai_core::cancellation::Cancellation;
use annai_files::LibraryError;
use annai_files::fs::RelPath;
use annai_files::manuals::{ManualFile, Manuals};
use annai_search::{Dictionary, DictionaryCache};
use annai_text::{Normalized, Position, normalize_line};

/// Lists the lines of a manual that contain an exception word; with `node_id`, only those of that section. Also returns the
/// files that could not be read.
pub fn list(
    manuals: &Manuals,
    dictionaries: &DictionaryCache,
    manual_id: &str,
    node_id: Option<&str>,
    pager: Pager<LineKey, LineHit>,
    cancellation: &Cancellation,
) -> Result<(Page<LineHit>, SkippedFiles), ToolError> {
    let manual = manuals.get(manual_id)?;
    let (dictionary, unreadable_word_files) = dictionaries.of(manuals, std::slice::from_ref(&manual.id));
    let mut skipped = SkippedFiles::unnamed(unreadable_word_files);
    let mut lister = ExceptionLister { dictionary: &dictionary, normalized: String::new(), pager };
    if let Some(id) = node_id {
        let (path, start) = parse_node_id(id)?;
        let file = manual.file(&path)?;
        let node = file.document.nodes.iter().position(|node| node.start() == start).ok_or_else(|| {
            LibraryError::not_found(id, "is not a section of this manual; manual_toc returns the node_ids")
        })?;
        lister.add(&file, file.document.section_range(node));
        return Ok((lister.pager.finish(false), skipped));
    }
    for path in manual.files()? {
        cancellation.check()?;
        match RelPath::parse(&path).and_then(|path| manual.file(&path)) {
            Ok(file) => lister.add(&file, 0..file.document.text.len()),
            Err(error) => skipped.add(&path, &error),
        }
    }
    Ok((lister.pager.finish(false), skipped))
}

struct ExceptionLister<'a> {
    dictionary: &'a Dictionary,
    /// The current line, normalized; reused between lines to avoid allocations.
    normalized: String,
    pager: Pager<LineKey, LineHit>,
}

impl ExceptionLister<'_> {
    /// Adds the lines of a part of a document that contain an exception word.
    fn add(&mut self, file: &ManualFile, part: Range<usize>) {
        let document = &file.document;
        let last = document.lines.line_at(part.end.saturating_sub(1).max(part.start));
        for number in document.lines.line_at(part.start)..=last {
            let line = document.lines.line(number).unwrap_or(0..0);
            // In HTML, a line may have parts of several sections.
            let line = line.start.max(part.start)..line.end.min(part.end);
            let line = document.text.get(line).unwrap_or_default();
            self.normalized.clear();
            normalize_line(line, &mut self.normalized);
            if self.dictionary.exception(&self.normalized).is_none() {
                continue;
            }
            let key = LineKey { path: file.path.clone(), line: number, char: 0 };
            let dictionary = self.dictionary;
            self.pager.add(key, || {
                // The mapping to the original is only computed for the lines that are shown.
                let normal = Normalized::new(line);
                let place = dictionary.exception(&normal.text).map_or(0..0, |range| normal.original(range));
                LineHit {
                    path: file.path.clone(),
                    start_line: number,
                    snippet: snippet(line, place.start, place.end),
                }
            });
        }
    }
}

/// The path and the place of an id such as `rules.md#L12` or `page.html#L1.250`.
fn parse_node_id(id: &str) -> Result<(RelPath, Position), ToolError> {
    let parts = id.rsplit_once("#L").and_then(|(path, place)| {
        let (line, char) = place.split_once('.').unwrap_or((place, "0"));
        Some((path, Position { line: line.parse().ok()?, char: char.parse().ok()? }))
    });
    let (path, place) = parts
        .ok_or_else(|| LibraryError::invalid("node_id", "expected path#L<line>, as manual_toc returns it"))?;
    Ok((RelPath::parse(path)?, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_id_is_a_path_and_a_line() {
        let parsed = parse_node_id("a/b#c.md#L12").unwrap();
        assert_eq!((parsed.0.as_str(), parsed.1.line, parsed.1.char), ("a/b#c.md", 12, 0));
        let parsed = parse_node_id("a.html#L1.250").unwrap();
        assert_eq!((parsed.0.as_str(), parsed.1.line, parsed.1.char), ("a.html", 1, 250));
        for id in ["a.md", "a.md#12", "a.md#Lx", "#L1", "../a.md#L1"] {
            assert!(parse_node_id(id).is_err(), "{id}");
        }
    }
}
