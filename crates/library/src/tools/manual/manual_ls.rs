//! `manual_ls`.

use annai_core::{Access, Call, Effect, Facts, Reply, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::paging::FileKey;
use crate::scopes::LIBRARY_READ;
use crate::tools::library_tool::{LibraryTool, facts};
use crate::toolset::Library;
use annai_text::{FORMATS, Format, format_of, name_list};

/// Which manual.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The id of the manual (optional; default: all manuals).
    manual_id: Option<String>,
    /// The maximum number of files to return (default: as many as fit into the server's HARD_MAX_CHARS, 20000
    /// characters, which always applies).
    #[schemars(range(min = 1, max = 10_000))]
    limit: Option<usize>,
    /// Where to continue: the next_cursor of the previous call, together with its other arguments (optional).
    cursor: Option<String>,
}

/// The files.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The files, sorted by manual and path.
    items: Vec<ManualFile>,
    /// The number of files on all pages.
    total: usize,
    /// The cursor of the next page; null when there are no more files.
    next_cursor: Option<String>,
}

/// A file of a manual.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ManualFile {
    /// The manual that the file belongs to.
    manual_id: String,
    /// The file's path, relative to the manual.
    path: String,
    /// The type of the file.
    #[schemars(
        description = format!("The type of the file: {}.", name_list()),
        extend("enum" = FORMATS.iter().map(|format| format.name()).collect::<Vec<_>>())
    )]
    file_type: &'static str,
}

pub(crate) struct ManualLs;

impl Tool for ManualLs {
    const FACTS: Facts = facts(LibraryTool {
        name: "manual_ls",
        title: "List files of manuals / マニュアルのファイル一覧",
        description: "List the files of one manual or of all manuals, with path and type.",
        effect: Effect::Read,
        access: Access::Local(LIBRARY_READ),
        when: "To see which files a manual has.",
        safe_defaults: r#"{"manual_id":"…"}"#,
        common_errors: &[("not_found", "manual_list returns the ids")],
    });
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let page = set
            .read(move |state, _| {
                let list = ["manual_ls", input.manual_id.as_deref().unwrap_or_default()];
                let mut pager = state.pager(&list, input.cursor.as_deref(), input.limit)?;
                let ids = match input.manual_id {
                    Some(id) => vec![id],
                    None => state.manuals.ids()?,
                };
                for id in ids {
                    let manual = state.manuals.get(&id)?;
                    for path in manual.files()? {
                        let key = FileKey { manual_id: manual.id.clone(), path: path.clone() };
                        let file_type = format_of(&path).map_or("", Format::name);
                        pager.add(key, || ManualFile { manual_id: manual.id.clone(), path, file_type });
                    }
                }
                Ok(pager.finish(false))
            })
            .await?;
        call.note("items", page.items.len());
        Ok(Reply::new(Output { items: page.items, total: page.total, next_cursor: page.next_cursor }))
    }
}
