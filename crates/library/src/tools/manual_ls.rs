//! `manual_ls`.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, Widget, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::paging::{FileKey, Pager};
use crate::scopes::LIBRARY_READ;
use crate::toolset::Library;
use annai_text::{FORMATS, Format, format_of, name_list};

/// Which manual.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The id of the manual (optional; default: all manuals).
    pub manual_id: Option<String>,
    /// The maximum number of files to return (default: as many as fit into the server's HARD_MAX_CHARS, 20000
    /// characters, which always applies).
    #[schemars(range(min = 1, max = 10_000))]
    pub limit: Option<usize>,
    /// Where to continue: the next_cursor of the previous call, together with its other arguments (optional).
    pub cursor: Option<String>,
}

/// The files.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Output {
    /// The files, sorted by manual and path.
    pub items: Vec<Item>,
    /// The number of files on all pages.
    pub total: usize,
    /// The cursor of the next page; null when there are no more files.
    pub next_cursor: Option<String>,
}

/// A file of a manual.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Item {
    /// The manual that the file belongs to.
    pub manual_id: String,
    /// The file's path, relative to the manual.
    pub path: String,
    /// The type of the file.
    #[schemars(
        description = format!("The type of the file: {}.", name_list()),
        extend("enum" = FORMATS.iter().map(|format| format.name()).collect::<Vec<_>>())
    )]
    pub file_type: &'static str,
}

/// List the files of one manual or of all manuals, with path and type.
pub struct ManualLs;

impl Tool for ManualLs {
    const FACTS: Facts = Facts {
        name: "manual_ls",
        title: "List files of manuals / マニュアルのファイル一覧",
        description: "List the files of one manual or of all manuals, with path and type.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::Local(LIBRARY_READ),
        sponsor: Sponsor::Never,
        status: None,
        widget: Widget::None,
        guide: Guide {
            when: "To see which files a manual has.",
            safe_defaults: r#"{"manual_id":"…"}"#,
            common_errors: &[("not_found", "manual_list returns the ids")],
        },
    };
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let page = set
            .read(move |state, _| {
                let list = ["manual_ls", input.manual_id.as_deref().unwrap_or_default()];
                let max_chars = state.settings.hard_max_chars;
                let mut pager = Pager::new(&list, input.cursor.as_deref(), input.limit, max_chars)?;
                let ids = match input.manual_id {
                    Some(id) => vec![id],
                    None => state.manuals.ids()?,
                };
                for id in ids {
                    let manual = state.manuals.get(&id)?;
                    for path in manual.files()? {
                        let key = FileKey { manual_id: manual.id.clone(), path: path.clone() };
                        let file_type = format_of(&path).map_or("", Format::name);
                        pager.add(key, || Item { manual_id: manual.id.clone(), path, file_type });
                    }
                }
                Ok(pager.finish(false))
            })
            .await?;
        call.note("items", page.items.len());
        Ok(Reply::new(Output { items: page.items, total: page.total, next_cursor: page.next_cursor }))
    }
}
