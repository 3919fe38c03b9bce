//! Where a file on disk belongs in the library.

use std::path::Path;

use annai_library::config::LibrarySection;
use annai_library::manual_paths;

use super::Failure;

/// A file of the library, as its tools name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FilePlace {
    /// A file of a manual.
    Manual {
        /// The manual.
        manual_id: String,
        /// The path of the file, relative to the manual.
        path: String,
    },
    /// A file of the vault, with its path relative to it.
    Vault(String),
}

impl FilePlace {
    /// The place of a file: a path on disk inside a manual or the vault, or the id of a manual (or `vault`), a slash and
    /// the path in it. `None` if it is neither.
    pub(super) fn of(settings: &LibrarySection, file: &str) -> Result<Option<Self>, Failure> {
        let manuals = manual_paths(settings)?;
        if let Ok(on_disk) = std::fs::canonicalize(file) {
            for (manual_id, folder) in &manuals {
                if let Some(path) = below(&on_disk, folder) {
                    return Ok(Some(Self::Manual { manual_id: manual_id.clone(), path }));
                }
            }
            if let Some(path) = below(&on_disk, &settings.vault_folder()) {
                return Ok(Some(Self::Vault(path)));
            }
        }
        let Some((first, path)) = file.split_once('/') else { return Ok(None) };
        Ok(match first {
            id if manuals.iter().any(|(known, _)| known == id) => {
                Some(Self::Manual { manual_id: id.to_owned(), path: path.to_owned() })
            }
            "vault" => Some(Self::Vault(path.to_owned())),
            _ => None,
        })
    }
}

/// The path of a file relative to a folder that contains it.
fn below(file: &Path, folder: &Path) -> Option<String> {
    let folder = std::fs::canonicalize(folder).ok()?;
    let path = file.strip_prefix(folder).ok()?.to_str()?;
    (!path.is_empty()).then(|| path.to_owned())
}
