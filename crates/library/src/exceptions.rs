//! Every line of a manual, or of one of its sections, that holds a word of exception.

use annai_core::ToolError;

use crate::cancellation::Cancellation;
use crate::error::LibraryError;
use crate::explore::{Dictionary, DictionaryCache};
use crate::fs::RelPath;
use crate::manuals::{Document, Manuals};
use crate::search::{LineHit, SearchReport, snippet};
use crate::text::{Normalized, normalize_line};

/// The maximum number of lines that are listed at once: about what a model can read. The reply says that there are more,
/// and that a section can be named.
const MAX_LINES: usize = 1000;

/// Lists the lines of a manual that hold a word of exception; of one section only, where its id is given.
pub fn list(
    manuals: &Manuals,
    dictionaries: &DictionaryCache,
    manual_id: &str,
    node_id: Option<&str>,
    cancellation: &Cancellation,
) -> Result<SearchReport, ToolError> {
    let manual = manuals.get(manual_id)?;
    let (dictionary, bad_word_files) = dictionaries.of(manuals, std::slice::from_ref(&manual.id));
    let report = SearchReport { skipped: bad_word_files, ..SearchReport::default() };
    let mut lister = ExceptionLister { dictionary: &dictionary, normal: String::new(), report };
    if let Some(id) = node_id {
        let (path, line) = parse_node_id(id)?;
        let document = manual.document(&path)?;
        let node = document.nodes.iter().find(|node| node.start_line == line).ok_or_else(|| {
            LibraryError::not_found(id, "is no section of this manual; manual_toc has them")
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
    /// The normal form of the line at hand; kept between lines so that nothing is allocated for each.
    normal: String,
    report: SearchReport,
}

impl ExceptionLister<'_> {
    /// Adds the lines from `first` to `last` of a document that hold a word of exception.
    fn add(&mut self, document: &Document, first: usize, last: usize) {
        for number in first..=last {
            let line = document.text_of(number, number);
            // Most lines have no such word; where it stands in the original is worked out only for those that do.
            self.normal.clear();
            normalize_line(line, &mut self.normal);
            if self.dictionary.exception(&self.normal).is_none() {
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
        .ok_or_else(|| LibraryError::invalid("node_id", "expected path#L<line>, as manual_toc gives it"))?;
    Ok((RelPath::parse(path)?, line))
}
