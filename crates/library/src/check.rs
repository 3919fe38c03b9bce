//! What `annai doctor` wants to know of the library: its folders.

use annai_core::{ErrorKind, Finding};

use crate::config::Library;
use crate::manuals::Manuals;
use crate::vault::Vault;

/// Looks at the folders of manuals and vault.
#[must_use]
pub fn check(settings: &Library) -> Vec<Finding> {
    let folders = settings.manual_folders();
    let shown: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
    let shown = shown.join(", ");
    let manuals = match Manuals::new(folders).ids() {
        Ok(manuals) if manuals.is_empty() => Finding::bad(
            format!("library: no manual below {shown}"),
            "put a folder with .md or .json files there",
        ),
        Ok(manuals) => Finding::good(format!("library: {} manuals below {shown}", manuals.len())),
        Err(error) => {
            let (what, fix) = error
                .message()
                .split_once("; ")
                .unwrap_or((error.message(), "set MANUALS_ROOT or --manuals"));
            Finding::bad(format!("library: {what}"), fix)
        }
    };
    let place = settings.vault_folder().display().to_string();
    let vault = match Vault::new(settings.vault_folder()).root() {
        Ok(_) => Finding::good(format!("library: the vault is {place}")),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Finding::good(format!("library: the vault {place} does not exist yet; the first file makes it"))
        }
        Err(error) => {
            Finding::bad(format!("library: {error}"), "set VAULT_ROOT to a folder that this user may use")
        }
    };
    vec![manuals, vault]
}
