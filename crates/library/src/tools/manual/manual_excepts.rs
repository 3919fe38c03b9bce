//! `manual_excepts`.

use std::ops::Range;

use annai_core::{Access, Call, Effect, Facts, Reply, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::line_search::{LineHit, snippet};
use crate::paging::{LineKey, Page, Pager, SkippedFile, SkippedFiles};
use crate::scopes::LIBRARY_READ;
use crate::tools::library_tool::{LibraryTool, facts};
use crate::toolset::{Library, LibraryState};
use annai_core::cancellation::Cancellation;
use annai_files::LibraryError;
use annai_files::fs::RelPath;
use annai_files::manuals::ManualFile;
use annai_search::Dictionary;
use annai_text::{Node, Normalized, normalize_line};

/// Where to look.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The id of the manual, as manual_list returns it.
    manual_id: String,
    /// List only this section (optional): a node_id of manual_toc, such as `guide.md#L12`.
    node_id: Option<String>,
    /// The maximum number of lines to return (default: as many as fit into the server's HARD_MAX_CHARS, 20000
    /// characters, which always applies).
    #[schemars(range(min = 1, max = 10_000))]
    limit: Option<usize>,
    /// Where to continue: the next_cursor of the previous call, together with its other arguments (optional).
    cursor: Option<String>,
}

/// What was found.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The matching lines, sorted by path and line number.
    items: Vec<LineHit>,
    /// The number of lines on all pages.
    total: usize,
    /// The cursor of the next page; null when there are no more lines.
    next_cursor: Option<String>,
    /// Whether there are more lines than `items` shows.
    more: bool,
    /// The files that could not be read, at most 20 of them.
    skipped: Vec<SkippedFile>,
    /// The number of files that could not be read, including files with exception words.
    warnings: usize,
}

pub(crate) struct ManualExcepts;

impl Tool for ManualExcepts {
    const FACTS: Facts = facts(LibraryTool {
        name: "manual_excepts",
        title: "List exceptions / 例外を一覧",
        description: "List the lines of a manual that contain an exception word, such as 対象外, ただし, except or not covered.",
        effect: Effect::Read,
        access: Access::Local(LIBRARY_READ),
        when: "To see every exception in a manual or a section.",
        safe_defaults: r#"{"manual_id":"…"}"#,
        common_errors: &[
            ("not_found", "manual_list returns the manuals, manual_toc the sections"),
            ("invalid_parameter", "node_id is path#L<line>"),
        ],
    });
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let (page, skipped) =
            set.read(move |state, cancellation| exceptions(state, &input, cancellation)).await?;
        call.note("results", page.items.len());
        call.note("warnings", skipped.count);
        Ok(Reply::new(Output {
            items: page.items,
            total: page.total,
            more: page.next_cursor.is_some(),
            next_cursor: page.next_cursor,
            warnings: skipped.count,
            skipped: skipped.into_named(),
        }))
    }
}

/// One page of the lines that contain an exception word, and the files that could not be read.
fn exceptions(
    state: &LibraryState,
    input: &Input,
    cancellation: &Cancellation,
) -> Result<(Page<LineHit>, SkippedFiles), ToolError> {
    let list = ["manual_excepts", &input.manual_id, input.node_id.as_deref().unwrap_or_default()];
    let pager = state.pager(&list, input.cursor.as_deref(), input.limit)?;
    let manual = state.manuals.get(&input.manual_id)?;
    let (dictionary, unreadable_word_files) =
        state.dictionaries.of(&state.manuals, std::slice::from_ref(&manual.id));
    let mut skipped = SkippedFiles::unnamed(unreadable_word_files);
    let mut lister = ExceptionLister { dictionary: &dictionary, normalized: String::new(), pager };
    if let Some(id) = &input.node_id {
        let (path, start) = parse_node_id(id)?;
        let file = manual.file(&path)?;
        let is_wanted = |node: &Node| (node.start_line, node.start_char) == (start.line, start.char);
        let node = file.document.nodes.iter().position(is_wanted).ok_or_else(|| {
            LibraryError::not_found(
                id.as_str(),
                "is not a section of this manual; manual_toc returns the node_ids",
            )
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

/// The path and the place of an id such as `rules.md#L12` or `page.html#L1.250`, which has the form of a line key.
fn parse_node_id(id: &str) -> Result<(RelPath, LineKey), ToolError> {
    let key: LineKey = id
        .parse()
        .map_err(|_| LibraryError::invalid("node_id", "expected path#L<line>, as manual_toc returns it"))?;
    Ok((RelPath::parse(&key.path)?, key))
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
