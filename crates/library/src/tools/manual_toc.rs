//! `manual_toc`.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fs::RelPath;
use crate::manuals::FileType;
use crate::toolset::{LIBRARY_READ, Library};

/// The maximum number of sections in a reply, about as many as fit into a large context. The reply says when there are
/// more.
const MAX_ITEMS: usize = 20_000;

/// Which manual.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The id of the manual, as manual_list returns it.
    pub manual_id: String,
}

/// The nodes.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Output {
    /// The sections, in the order of files and lines.
    pub items: Vec<Item>,
}

/// A section, or a JSON file as a whole.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Item {
    /// `heading` for a section, `json_file` for a whole JSON file.
    pub kind: &'static str,
    /// The section's id: `path#L<line>`.
    pub node_id: String,
    /// The file that contains it, relative to the manual.
    pub path: String,
    /// The text of the heading, or the name of the JSON file.
    pub title: String,
    /// The level of the heading, from 1 to 6.
    pub level: u8,
    /// The node_id of the enclosing section; null at the top level.
    pub parent_id: Option<String>,
    /// The first line of the section.
    pub line_start: usize,
    /// The last line of the section, including its subsections.
    pub line_end: usize,
}

/// List the headings of a manual as a tree: each section with its node_id, title, level and line numbers.
pub struct ManualToc;

impl Tool for ManualToc {
    const FACTS: Facts = Facts {
        name: "manual_toc",
        title: "Table of contents / 目次",
        description: "List the headings of a manual as a tree: each section with its node_id, title, level and line numbers.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::Local(LIBRARY_READ),
        sponsor: Sponsor::Never,
        widget: None,
        guide: Guide {
            when: "To see the structure of a manual before you read it.",
            safe_defaults: r#"{"manual_id":"…"}"#,
            common_errors: &[("not_found", "manual_list returns the ids")],
        },
    };
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let (items, skipped, more) = set
            .read(move |state, _| {
                let manual = state.manuals.get(&input.manual_id)?;
                let (mut items, mut skipped, mut more) = (Vec::new(), 0_usize, false);
                for path in manual.files()? {
                    // A file that is not text, or was removed since it was listed, is skipped.
                    let Ok(document) = RelPath::parse(&path).and_then(|path| manual.document(&path)) else {
                        skipped += 1;
                        continue;
                    };
                    let id = |line: usize| format!("{}#L{line}", document.path);
                    more |= items.len() + document.nodes.len() > MAX_ITEMS;
                    let kind = if document.file_type == FileType::Json { "json_file" } else { "heading" };
                    for node in document.nodes.iter().take(MAX_ITEMS.saturating_sub(items.len())) {
                        let parent = node.parent.and_then(|parent| document.nodes.get(parent));
                        items.push(Item {
                            kind,
                            node_id: id(node.start_line),
                            path: document.path.clone(),
                            title: node.title.clone(),
                            level: node.level,
                            parent_id: parent.map(|parent| id(parent.start_line)),
                            line_start: node.start_line,
                            line_end: node.end_line,
                        });
                    }
                }
                Ok((items, skipped, more))
            })
            .await?;
        call.note("items", items.len());
        call.note("warnings", skipped);
        Ok(Reply::new(Output { items }).with_meta("annai/warnings", skipped).with_meta("annai/more", more))
    }
}
