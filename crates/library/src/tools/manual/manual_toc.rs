//! `manual_toc`.

use annai_core::{Access, Call, Effect, Facts, Reply, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::paging::{LineKey, Page, SkippedFile, SkippedFiles};
use crate::scopes::LIBRARY_READ;
use crate::tools::library_tool::{LibraryTool, facts};
use crate::toolset::{Library, LibraryState};
use annai_core::cancellation::Cancellation;
use annai_files::LibraryError;
use annai_files::fs::{RelPath, nfc};
use annai_text::{Node, Structure};

/// Which manual.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The id of the manual, as manual_list returns it.
    manual_id: String,
    /// List only this file, or the files in this folder, relative to the manual (optional).
    path: Option<String>,
    /// The deepest level of headings to list (default 6: all).
    #[schemars(range(min = 1, max = 6), extend("default" = 6))]
    depth: Option<u8>,
    /// The maximum number of sections to return (default: as many as fit into the server's HARD_MAX_CHARS, 20000
    /// characters, which always applies).
    #[schemars(range(min = 1, max = 10_000))]
    limit: Option<usize>,
    /// Where to continue: the next_cursor of the previous call, together with its other arguments (optional).
    cursor: Option<String>,
}

/// The nodes.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The sections, in the order of files and lines.
    items: Vec<TocEntry>,
    /// The number of sections on all pages.
    total: usize,
    /// The cursor of the next page; null when there are no more sections.
    next_cursor: Option<String>,
    /// Whether there are more sections than `items` shows.
    more: bool,
    /// The files that could not be read, at most 20 of them.
    skipped: Vec<SkippedFile>,
    /// The number of files that could not be read.
    warnings: usize,
}

/// A section, or a JSON file as a whole.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct TocEntry {
    /// `heading` for a section, `json_file` for a whole JSON file.
    #[schemars(extend("enum" = ["heading", "json_file"]))]
    kind: &'static str,
    /// The section's id: `path#L<line>`, or `path#L<line>.<char>` where several headings stand on one line of HTML.
    node_id: String,
    /// The file that contains it, relative to the manual.
    path: String,
    /// The text of the heading, or the name of the JSON file.
    title: String,
    /// The level of the heading, from 1 to 6.
    level: u8,
    /// The node_id of the enclosing section; null at the top level.
    parent_id: Option<String>,
    /// The first line of the section.
    line_start: usize,
    /// The last line of the section, including its subsections.
    line_end: usize,
}

pub(crate) struct ManualToc;

impl Tool for ManualToc {
    const FACTS: Facts = facts(LibraryTool {
        name: "manual_toc",
        title: "Table of contents / 目次",
        description: "List the headings of a manual as a tree: each section with its node_id, title, level and line numbers.",
        effect: Effect::Read,
        access: Access::Local(LIBRARY_READ),
        when: "To see the structure of a manual before you read it.",
        safe_defaults: r#"{"manual_id":"…"}"#,
        common_errors: &[("not_found", "manual_list returns the ids, manual_ls the paths")],
    });
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let (page, skipped) = set.read(move |state, cancellation| toc(state, &input, cancellation)).await?;
        call.note("items", page.items.len());
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

/// One page of the table of contents, and the files that could not be read.
fn toc(
    state: &LibraryState,
    input: &Input,
    cancellation: &Cancellation,
) -> Result<(Page<TocEntry>, SkippedFiles), ToolError> {
    let manual = state.manuals.get(&input.manual_id)?;
    let below = input.path.as_deref().map(RelPath::parse_folder).transpose()?.flatten();
    let depth = input.depth.unwrap_or(6);
    let list = ["manual_toc", &manual.id, below.as_ref().map_or("", RelPath::as_str), &depth.to_string()];
    let mut pager = state.pager(&list, input.cursor.as_deref(), input.limit)?;
    let mut skipped = SkippedFiles::default();
    let below = below.map(|below| nfc(below.as_str()));
    let is_wanted = |path: &str| {
        below.as_ref().is_none_or(|below| {
            let path = nfc(path);
            path.strip_prefix(below.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let mut files = manual.files()?;
    files.retain(|path| is_wanted(path));
    if let (true, Some(path)) = (files.is_empty(), &input.path) {
        let problem = "is neither a file of this manual nor a folder with such files; manual_ls lists them";
        return Err(LibraryError::not_found(path.as_str(), problem).into());
    }
    for path in files {
        cancellation.check()?;
        // A file that is not text, or was removed since it was listed, is skipped.
        let file = match RelPath::parse(&path).and_then(|path| manual.file(&path)) {
            Ok(file) => file,
            Err(error) => {
                skipped.add(&path, &error);
                continue;
            }
        };
        let nodes = &file.document.nodes;
        let id = |node: &Node| node.id(&file.path);
        let kind = if file.format.structure() == Structure::Values { "json_file" } else { "heading" };
        for node in nodes.iter().filter(|node| node.level <= depth) {
            let key = LineKey { path: file.path.clone(), line: node.start_line, char: node.start_char };
            pager.add(key, || TocEntry {
                kind,
                node_id: id(node),
                path: file.path.clone(),
                title: node.title.clone(),
                level: node.level,
                parent_id: node.parent.and_then(|parent| nodes.get(parent)).map(id),
                line_start: node.start_line,
                line_end: node.end_line,
            });
        }
    }
    Ok((pager.finish(false), skipped))
}
