//! The checks of `annai doctor` for this toolset: the manuals, the vault and the word files.

use annai_core::{ErrorKind, Finding};

use crate::config::LibrarySection;
use crate::explore::WordList;
use crate::manuals::Manuals;
use crate::vault::Vault;

/// Checks the manuals, the vault and the word files.
#[must_use]
pub fn check(settings: &LibrarySection) -> Vec<Finding> {
    let folders = settings.manual_folders();
    let shown: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
    let shown = shown.join(", ");
    let manuals = Manuals::new(folders);
    let words = check_word_files(&manuals);
    let manuals = match manuals.ids() {
        Ok(manuals) if manuals.is_empty() => Finding::bad(
            format!("library: there are no manuals in {shown}"),
            "put a folder with .md or .json files there",
        ),
        Ok(manuals) => Finding::good(format!("library: {} manuals in {shown}", manuals.len())),
        Err(error) => {
            let (what, fix) = error
                .message()
                .split_once("; ")
                .unwrap_or((error.message(), "set MANUALS_ROOT or --manuals"));
            Finding::bad(format!("library: {what}"), fix)
        }
    };
    let path = settings.vault_folder().display().to_string();
    let vault = match Vault::new(settings.vault_folder()).root() {
        Ok(_) => Finding::good(format!("library: the vault is {path}")),
        Err(error) if error.kind() == ErrorKind::NotFound => Finding::good(format!(
            "library: the vault {path} does not exist yet; it is created with the first file"
        )),
        Err(error) => Finding::bad(
            format!("library: {error}"),
            "set VAULT_ROOT to a folder that this user can read and write",
        ),
    };
    [manuals, vault].into_iter().chain(words).collect()
}

/// Checks the word files.
fn check_word_files(manuals: &Manuals) -> Vec<Finding> {
    let (files, unreadable) = manuals.word_files(&manuals.ids().unwrap_or_default());
    let wrong = files.iter().filter_map(|found| {
        let error = WordList::read(&found.file.text).err()?;
        let path = found.path.display();
        Some(Finding::bad(format!("library: {path}:{error}"), "write synonyms: [[a, b]] and exceptions: [c]"))
    });
    let mut findings: Vec<_> = wrong.collect();
    if unreadable > 0 {
        let what = format!("library: {unreadable} synonyms.yaml files cannot be read");
        findings.push(Finding::bad(what, "make them regular UTF-8 files of at most 1 MiB"));
    }
    findings
}
