//! Completion of the arguments of prompts and resources: ids of manuals and paths.

use annai_core::ToolError;

use super::state::LibraryState;
use annai_files::fs::{EntryKind, Membership, fold_name};
use annai_files::vault::visibility;

/// The manual ids or paths that begin with what the user has typed.
pub(super) fn completions(
    state: &LibraryState,
    argument: &str,
    typed: &str,
    manual: Option<&str>,
) -> Result<Vec<String>, ToolError> {
    let mut values: Vec<String> = match (argument, manual) {
        ("manual_id" | "other_manual_id", _) => state.manuals.ids()?,
        ("path" | "from_path", Some(manual)) => state.manuals.get(manual)?.files()?,
        ("path" | "to_path" | "relative_dir" | "source_path", _) => {
            // The entries of the folder that has been typed so far.
            let folder =
                state.vault.parse_visible_folder(typed.rsplit_once('/').map(|(folder, _)| folder))?;
            let folder = state.vault.root()?.folder(folder.as_ref())?;
            let named = folder.entries()?.into_iter().map(|entry| {
                let suffix = if entry.kind == EntryKind::Folder { "/" } else { "" };
                format!("{}{suffix}", folder.join(&entry.name))
            });
            named.filter(|path| visibility(path.trim_end_matches('/')) == Membership::Searched).collect()
        }
        _ => Vec::new(),
    };
    let typed = fold_name(typed);
    values.retain(|value| fold_name(value).starts_with(&typed));
    Ok(values)
}
