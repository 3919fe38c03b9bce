//! `manual_ls`.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::manuals::FileType;
use crate::toolset::{LIBRARY_READ, Library};

/// Which manual.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The id of the manual (optional; default: all manuals).
    pub manual_id: Option<String>,
}

/// The files.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Output {
    /// The files, sorted by manual and path.
    pub items: Vec<Item>,
}

/// A file of a manual.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Item {
    /// The manual that the file belongs to.
    pub manual_id: String,
    /// The file's path, relative to the manual.
    pub path: String,
    /// The type of the file: `md` or `json`.
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
        widget: None,
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
        let items = set
            .read(move |state, _| {
                let ids = match input.manual_id {
                    Some(id) => vec![id],
                    None => state.manuals.ids()?,
                };
                let mut items = Vec::new();
                for id in ids {
                    let manual = state.manuals.get(&id)?;
                    for path in manual.files()? {
                        let file_type =
                            if FileType::of(&path) == Some(FileType::Json) { "json" } else { "md" };
                        items.push(Item { manual_id: manual.id.clone(), path, file_type });
                    }
                }
                Ok(items)
            })
            .await?;
        call.note("items", items.len());
        Ok(Reply::new(Output { items }))
    }
}
