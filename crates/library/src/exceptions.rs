//! Every line of a manual, or of one of its sections, that holds a word of exception.

use annai_core::{ErrorKind, ToolError};

use crate::fs::{RelPath, at};
use crate::manuals::Document;
use crate::search::{Found, Hit, snippet};
use crate::text::{Normalized, normalize_line};
use crate::toolset::{Shelves, Wanted};

/// So many lines are listed at once.
const MOST: usize = 1000;

/// Lists the lines of a manual that hold a word of exception; of a section only, where one is named.
pub fn list(
    shelves: &Shelves,
    manual_id: &str,
    node_id: Option<&str>,
    wanted: &Wanted,
) -> Result<Found, ToolError> {
    let manual = shelves.manuals.get(manual_id)?;
    let (dictionary, bad) = shelves.dictionaries.of(&shelves.manuals, std::slice::from_ref(&manual.id));
    let mut found = Found { skipped: bad, ..Found::default() };
    let mut quick = String::new();
    let mut look = |document: &Document, first: usize, last: usize| {
        for number in first..=last {
            let line = document.text_of(number, number);
            // Most lines have no such word; where it stands in the original is worked out for those that do.
            quick.clear();
            normalize_line(line, &mut quick);
            if dictionary.exception(&quick).is_none() {
                continue;
            }
            let normal = Normalized::new(line);
            let Some(range) = dictionary.exception(&normal.text) else { continue };
            if found.hits.len() == MOST {
                found.more = true;
                return;
            }
            let place = normal.original(range);
            found.hits.push(Hit {
                path: document.path.clone(),
                start_line: number,
                snippet: snippet(line, place.start, place.end),
            });
        }
    };
    if let Some(id) = node_id {
        let (path, line) = parse(id)?;
        let document = manual.document(&path)?;
        let node = document.nodes.iter().find(|node| node.start_line == line).ok_or_else(|| {
            at(ErrorKind::NotFound, id, "is no section of this manual; manual_toc has them")
        })?;
        look(&document, node.start_line, node.end_line);
        return Ok(found);
    }
    let mut skipped = 0;
    for path in manual.files()? {
        wanted.check()?;
        match RelPath::parse(&path).and_then(|path| manual.document(&path)) {
            Ok(document) => look(&document, 1, document.lines.count()),
            Err(_) => skipped += 1,
        }
    }
    found.skipped += skipped;
    Ok(found)
}

/// `path#L<line>`.
fn parse(id: &str) -> Result<(RelPath, usize), ToolError> {
    let parts = id.rsplit_once("#L").and_then(|(path, line)| Some((path, line.parse().ok()?)));
    let (path, line) =
        parts.ok_or_else(|| ToolError::invalid("node_id: expected path#L<line>, as manual_toc gives it"))?;
    Ok((RelPath::parse(path)?, line))
}
