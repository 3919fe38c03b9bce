//! `vault_ls`.

use annai_core::{Call, Effect, ErrorKind, Facts, Reply, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::paging::Page;
use crate::scopes::READS_VAULT;
use crate::tools::library_tool::{LibraryTool, facts};
use crate::toolset::Library;
use annai_files::LibraryError;
use annai_files::fs::{EntryKind, Membership, RelPath};
use annai_files::vault::visibility;

/// Which folder.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The folder to list, relative to the vault (optional; default: the top).
    relative_dir: Option<String>,
    /// The maximum number of entries to return (default: as many as fit into the server's HARD_MAX_CHARS, 20000
    /// characters, which always applies).
    #[schemars(range(min = 1, max = 10_000))]
    limit: Option<usize>,
    /// Where to continue: the next_cursor of the previous call, together with its other arguments (optional).
    cursor: Option<String>,
}

/// The entries of the folder.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The files and folders of this folder, sorted by name, without their contents.
    entries: Vec<VaultEntry>,
    /// The number of entries on all pages.
    total: usize,
    /// The cursor of the next page; null when there are no more entries.
    next_cursor: Option<String>,
    /// The number of files and folders that are not listed because their names begin with a dot; absent when there
    /// are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden: Option<usize>,
}

/// A file or a folder.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct VaultEntry {
    /// The entry's path, relative to the vault.
    path: String,
    /// `file` or `dir`.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["file", "dir"]))]
    kind: &'static str,
    /// The size of a file in bytes; null for a folder.
    size_bytes: Option<u64>,
}

pub(crate) struct VaultLs;

impl Tool for VaultLs {
    const FACTS: Facts = facts(LibraryTool {
        name: "vault_ls",
        title: "List the vault / 保管庫の一覧",
        description: "List the files and folders in one folder of the vault.",
        effect: Effect::Read,
        access: READS_VAULT,
        when: "To see which files the vault has.",
        safe_defaults: r#"{}"#,
        common_errors: &[("not_found", "omit relative_dir to list the top folder; vault_read reads a file")],
    });
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let (page, hidden) = set
            .read(move |state, _| {
                let path = state.vault.parse_visible_folder(input.relative_dir.as_deref())?;
                let shown = path.as_ref().map_or("", RelPath::as_str);
                let mut pager = state.pager(&["vault_ls", shown], input.cursor.as_deref(), input.limit)?;
                let folder =
                    state.vault.root()?.folder(path.as_ref()).map_err(|error| match error.kind() {
                        // The path itself is valid, so that it leads to a file, or through one.
                        ErrorKind::InvalidPath => {
                            LibraryError::not_found(shown, "is not a folder; vault_read reads files").into()
                        }
                        _ => error,
                    })?;
                let mut hidden = 0;
                for entry in folder.entries()? {
                    let path = folder.join(&entry.name);
                    match visibility(&path) {
                        Membership::Hidden => {
                            hidden += 1;
                            continue;
                        }
                        Membership::Ignored => continue,
                        Membership::Searched | Membership::Unsearchable => {}
                    }
                    match entry.kind {
                        EntryKind::Folder => {
                            pager.add(path.clone(), || VaultEntry { path, kind: "dir", size_bytes: None });
                        }
                        // A file that was removed since the folder was read is left out.
                        EntryKind::File => {
                            if let Ok(stamp) = folder.stamp(&entry.name) {
                                let size_bytes = Some(stamp.size);
                                pager.add(path.clone(), || VaultEntry { path, kind: "file", size_bytes });
                            }
                        }
                    }
                }
                Ok((pager.finish(false), hidden))
            })
            .await?;
        call.note("entries", page.items.len());
        let Page { items: entries, total, next_cursor } = page;
        Ok(Reply::new(Output { entries, total, next_cursor, hidden: (hidden > 0).then_some(hidden) }))
    }
}
