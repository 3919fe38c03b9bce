//! The folders of the configuration in which manuals are looked for, and which of their subfolders are manuals.

use std::path::{Path, PathBuf};

use annai_core::ToolError;

use crate::error::LibraryError;
use crate::fs::{
    self, DirEntry, EntryKind, Folder, FolderContent, MAX_PATH_BYTES, Membership, Root, Unsearchable,
    UnsearchableReason,
};
use annai_text::format_of;

/// The file with additional synonyms and exception words.
pub const WORD_FILE: &str = "synonyms.yaml";

/// A folder of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ManualFolder {
    /// Each subfolder is a manual (`MANUALS_ROOT`).
    Root(PathBuf),
    /// A single manual if it has searchable files of its own; otherwise each subfolder is one (`--manuals`).
    Folder(PathBuf),
    /// A manual with an id of its own (`--manual-dir`).
    Named {
        /// The id.
        id: String,
        /// Its folder.
        path: PathBuf,
    },
}

impl ManualFolder {
    /// Parses `ID=DIR`.
    pub fn parse_named(text: &str) -> Result<Self, String> {
        let Some((id, path)) = text.split_once('=') else {
            return Err(format!("expected ID=DIR, such as handbook=/srv/handbook, got \"{text}\""));
        };
        if !is_manual_id(id) {
            return Err(format!(
                "expected an id without separators and control characters before the = of ID=DIR, got \"{id}\""
            ));
        }
        if path.is_empty() {
            return Err(format!("expected a folder after the = of ID=DIR, got \"{text}\""));
        }
        Ok(Self::Named { id: id.to_owned(), path: PathBuf::from(path) })
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Root(path) | Self::Folder(path) | Self::Named { path, .. } => path,
        }
    }

    /// The same folder, where its path is a link by the path that the link leads to now: a link that is changed while the
    /// program runs leads nowhere else.
    pub fn resolved(self) -> Self {
        // A separator at the end would lead through the link.
        let resolve = |path: PathBuf| {
            let plain: PathBuf = path.components().collect();
            if plain.is_symlink() { fs::real_path(&plain) } else { path }
        };
        match self {
            Self::Root(path) => Self::Root(resolve(path)),
            Self::Folder(path) => Self::Folder(resolve(path)),
            Self::Named { id, path } => Self::Named { id, path: resolve(path) },
        }
    }

    /// Opens it.
    pub fn open(&self) -> Result<Root, ToolError> {
        Root::open(self.path()).map_err(|errno| {
            let folder = self.path().display().to_string();
            let error = std::io::Error::from(errno);
            let failure = match (self, error.kind()) {
                (Self::Named { id, .. }, std::io::ErrorKind::NotFound) => {
                    LibraryError::NamedManualNotFound { id: id.clone(), folder }
                }
                (_, std::io::ErrorKind::NotFound) => LibraryError::ManualsFolderNotFound { folder },
                _ => LibraryError::ManualsFolderClosed { folder, cause: error.to_string() },
            };
            failure.into()
        })
    }

    /// Looks for manuals in it.
    pub fn look(&self) -> Result<FoundManuals, ToolError> {
        let root = self.open()?;
        if let Self::Named { .. } = self {
            return Ok(FoundManuals::Itself);
        }
        let top = root.top()?;
        let content = top.content()?;
        Ok(match self.is_one_manual(&top, &content) {
            true => FoundManuals::Itself,
            false => FoundManuals::below(content),
        })
    }

    /// Whether it is a manual itself: it has searchable files of its own, and no manuals below it.
    fn is_one_manual(&self, top: &Folder, content: &FolderContent) -> bool {
        let mut files = content.entries.iter().filter(|entry| is_member(entry, EntryKind::File)).peekable();
        let has_files = files.peek().is_some();
        let has_own_text = match self {
            Self::Root(_) => false,
            Self::Folder(_) | Self::Named { .. } => !files.all(|file| describes_folder(&file.name)),
        };
        has_files && (has_own_text || !has_text_below(top, content))
    }
}

/// The manuals in a folder of the configuration.
pub enum FoundManuals {
    /// The folder itself is a manual.
    Itself,
    /// Its subfolders are.
    Below {
        /// The names of the subfolders.
        folders: Vec<String>,
        /// What lies beside them and is not searched.
        beside: Vec<Unsearchable>,
    },
}

impl FoundManuals {
    fn below(content: FolderContent) -> Self {
        let is_visible = |name: &String| membership(name, EntryKind::File) != Membership::Ignored;
        let left_out = |names: Vec<String>, reason: UnsearchableReason| {
            names.into_iter().filter(is_visible).map(move |path| Unsearchable { path, reason })
        };
        let (files, folders): (Vec<_>, Vec<_>) =
            content.entries.into_iter().partition(|entry| entry.kind == EntryKind::File);
        let files = files.into_iter().map(|entry| entry.name).collect();
        let beside = left_out(files, UnsearchableReason::Stray)
            .chain(left_out(content.links, UnsearchableReason::Link))
            .chain(left_out(content.unreadable, UnsearchableReason::Unreadable))
            .collect();
        let folders = folders.into_iter().filter(|entry| is_member(entry, EntryKind::Folder));
        Self::Below { folders: folders.map(|entry| entry.name).collect(), beside }
    }
}

/// Whether a text can be the id of a manual.
pub fn is_manual_id(id: &str) -> bool {
    !matches!(id, "" | "." | "..") && !id.contains(['/', '\\']) && !id.chars().any(char::is_control)
}

/// Whether a folder is entered, and a file is searched. Hidden ones do not belong to a manual, such as `.git`, and neither
/// does the word file; all other files do, whether they can be searched or not.
pub fn membership(path: &str, kind: EntryKind) -> Membership {
    let is_hidden = path.rsplit('/').next().is_some_and(|name| name.starts_with('.'));
    match kind {
        _ if is_hidden || path == WORD_FILE => Membership::Ignored,
        EntryKind::File if format_of(path).is_none() => Membership::Unsearchable,
        EntryKind::File | EntryKind::Folder => Membership::Searched,
    }
}

fn is_member(entry: &DirEntry, kind: EntryKind) -> bool {
    entry.kind == kind && membership(&entry.name, kind) == Membership::Searched
}

/// Whether a file says something about the folders beside it, so that it is no page of a manual.
fn describes_folder(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    ["readme", "license", "licence"].iter().any(|known| stem.eq_ignore_ascii_case(known))
}

/// Whether a subfolder contains a searchable file: folders of pictures are no manuals.
fn has_text_below(folder: &Folder, content: &FolderContent) -> bool {
    let mut folders = content.entries.iter().filter(|entry| is_member(entry, EntryKind::Folder));
    folders.any(|entry| {
        let below = folder.enter(&entry.name).and_then(|below| Ok((below.content()?, below)));
        below.is_ok_and(|(content, below)| {
            content.entries.iter().any(|entry| is_member(entry, EntryKind::File))
                || (below.path.len() <= MAX_PATH_BYTES && has_text_below(&below, &content))
        })
    })
}

#[cfg(test)]
#[path = "folders_tests.rs"]
mod tests;
