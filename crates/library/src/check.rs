//! What `annai doctor` wants to know of the library: its folders.

use annai_core::{ErrorKind, Finding};

use crate::config::Library;
use crate::explore::WordList;
use crate::manuals::Manuals;
use crate::vault::Vault;

/// Looks at the folders of manuals and vault.
#[must_use]
pub fn check(settings: &Library) -> Vec<Finding> {
    let folders = settings.manual_folders();
    let shown: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
    let shown = shown.join(", ");
    let manuals = Manuals::new(folders);
    let words = words(&manuals);
    let manuals = match manuals.ids() {
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
    [manuals, vault].into_iter().chain(words).collect()
}

/// What is wrong with the files of words.
fn words(manuals: &Manuals) -> Vec<Finding> {
    let (files, closed) = manuals.word_files(&manuals.ids().unwrap_or_default());
    let wrong = files.iter().filter_map(|found| {
        let error = WordList::read(&found.file.text).err()?;
        let place = found.place.display();
        Some(Finding::bad(
            format!("library: {place}:{error}"),
            "write synonyms: [[a, b]] and exceptions: [c]",
        ))
    });
    let mut findings: Vec<_> = wrong.collect();
    if closed > 0 {
        let what = format!("library: {closed} files synonyms.yaml cannot be read");
        findings.push(Finding::bad(what, "make them regular UTF-8 files of at most 1 MiB"));
    }
    findings
}
