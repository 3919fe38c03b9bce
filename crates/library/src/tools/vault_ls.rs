//! `vault_ls`.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fs::EntryKind;
use crate::toolset::{LIBRARY_READ, Library};
use crate::vault::{is_visible, parse_visible_folder};

/// Which folder.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The folder to list, relative to the vault (optional; default: the top).
    pub relative_dir: Option<String>,
}

/// The entries of the folder.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Output {
    /// The files and folders of this folder, sorted by name, without their contents.
    pub entries: Vec<VaultEntry>,
}

/// A file or a folder.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VaultEntry {
    /// The entry's path, relative to the vault.
    pub path: String,
    /// `file` or `dir`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The size of a file in bytes; null for a folder.
    pub size_bytes: Option<u64>,
}

/// List the files and folders in one folder of the vault.
pub struct VaultLs;

impl Tool for VaultLs {
    const FACTS: Facts = Facts {
        name: "vault_ls",
        title: "List the vault / 保管庫の一覧",
        description: "List the files and folders in one folder of the vault.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::Local(LIBRARY_READ),
        sponsor: Sponsor::Never,
        widget: None,
        guide: Guide {
            when: "To see which files the vault has.",
            safe_defaults: r#"{}"#,
            common_errors: &[("not_found", "omit relative_dir to list the top folder")],
        },
    };
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let entries = set
            .read(move |state, _| {
                let path = parse_visible_folder(input.relative_dir.as_deref())?;
                let folder = state.vault.root()?.folder(path.as_ref())?;
                let mut entries = Vec::new();
                for entry in folder.entries()? {
                    let path = folder.join(&entry.name);
                    if !is_visible(&path) {
                        continue;
                    }
                    match entry.kind {
                        EntryKind::Folder => entries.push(VaultEntry { path, kind: "dir", size_bytes: None }),
                        // A file that was removed since the folder was read is left out.
                        EntryKind::File => {
                            if let Ok(stamp) = folder.stamp(&entry.name) {
                                entries.push(VaultEntry { path, kind: "file", size_bytes: Some(stamp.size) });
                            }
                        }
                    }
                }
                Ok(entries)
            })
            .await?;
        call.note("entries", entries.len());
        Ok(Reply::new(Output { entries }))
    }
}
