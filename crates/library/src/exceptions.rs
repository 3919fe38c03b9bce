//! Lists the lines of a manual, or of one of its sections, that contain an exception word.

use annai_core::ToolError;

use crate::cancellation::Cancellation;
use crate::error::LibraryError;
use crate::explore::{Dictionary, DictionaryCache};
use crate::fs::RelPath;
use crate::manuals::{Document, Manuals};
use crate::search::{LineHit, SearchReport, snippet};
use crate::text::{Normalized, normalize_line};

/// The maximum number of lines in a reply, about as many as a model can read. The reply says when there are more, and
/// that node_id selects a section.
const MAX_LINES: usize = 1000;

/// Lists the lines of a manual that contain an exception word; with `node_id`, only those of that section.
pub fn list(
    manuals: &Manuals,
    dictionaries: &DictionaryCache,
    manual_id: &str,
    node_id: Option<&str>,
    cancellation: &Cancellation,
) -> Result<SearchReport, ToolError> {
    let manual = manuals.get(manual_id)?;
    let (dictionary, unreadable_word_files) = dictionaries.of(manuals, std::slice::from_ref(&manual.id));
    let report = SearchReport { skipped: unreadable_word_files, ..SearchReport::default() };
    let mut lister = ExceptionLister { dictionary: &dictionary, normalized: String::new(), report };
    if let Some(id) = node_id {
        let (path, line) = parse_node_id(id)?;
        let document = manual.document(&path)?;
        let node = document.nodes.iter().find(|node| node.start_line == line).ok_or_else(|| {
            LibraryError::not_found(id, "is not a section of this manual; manual_toc returns the node_ids")
        })?;
        lister.add(&document, node.start_line, node.end_line);
        return Ok(lister.report);
    }
    for path in manual.files()? {
        cancellation.check()?;
        match RelPath::parse(&path).and_then(|path| manual.document(&path)) {
            Ok(document) => lister.add(&document, 1, document.lines.count()),
            Err(_) => lister.report.skipped += 1,
        }
    }
    Ok(lister.report)
}

struct ExceptionLister<'a> {
    dictionary: &'a Dictionary,
    /// The current line, normalized; reused between lines to avoid allocations.
    normalized: String,
    report: SearchReport,
}

impl ExceptionLister<'_> {
    /// Adds the lines from `first` to `last` that contain an exception word.
    fn add(&mut self, document: &Document, first: usize, last: usize) {
        for number in first..=last {
            let line = document.text_of(number, number);
            // Most lines contain none; the mapping to the original is only computed for those that do.
            self.normalized.clear();
            normalize_line(line, &mut self.normalized);
            if self.dictionary.exception(&self.normalized).is_none() {
                continue;
            }
            let normal = Normalized::new(line);
            let Some(range) = self.dictionary.exception(&normal.text) else { continue };
            if self.report.hits.len() == MAX_LINES {
                self.report.more = true;
                return;
            }
            let place = normal.original(range);
            self.report.hits.push(LineHit {
                path: document.path.clone(),
                start_line: number,
                snippet: snippet(line, place.start, place.end),
            });
        }
    }
}

/// The path and the line of an id such as `rules.md#L12`.
fn parse_node_id(id: &str) -> Result<(RelPath, usize), ToolError> {
    let parts = id.rsplit_once("#L").and_then(|(path, line)| Some((path, line.parse().ok()?)));
    let (path, line) = parts
        .ok_or_else(|| LibraryError::invalid("node_id", "expected path#L<line>, as manual_toc returns it"))?;
    Ok((RelPath::parse(path)?, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_id_is_a_path_and_a_line() {
        let parsed = parse_node_id("a/b#c.md#L12").unwrap();
        assert_eq!((parsed.0.as_str(), parsed.1), ("a/b#c.md", 12));
        for id in ["a.md", "a.md#12", "a.md#Lx", "#L1", "../a.md#L1"] {
            assert!(parse_node_id(id).is_err(), "{id}");
        }
    }
}
