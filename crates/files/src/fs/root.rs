//! A root: a folder that is opened once, below which all paths of callers are resolved.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use annai_core::ToolError;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::folder::{EntryKind, Folder};
use super::io_error::{DOES_NOT_EXIST, IS_FILE, IS_FOLDER, io_error};
use super::path::RelPath;
use crate::error::LibraryError;

/// A folder that callers' paths start from.
#[derive(Debug)]
pub struct Root {
    folder: OwnedFd,
    path: PathBuf,
}

/// The result of resolving a path: the folder that contains its last name, and what exists there now.
#[derive(Debug)]
pub struct ResolvedPath {
    /// The folder.
    pub folder: Folder,
    /// The last name as it is stored, or as the caller gave it when nothing exists there.
    pub name: String,
    /// What exists there; `None` for nothing.
    pub kind: Option<EntryKind>,
}

impl ResolvedPath {
    /// The whole path as it is stored.
    pub fn path(&self) -> String {
        self.folder.join(&self.name)
    }
}

impl Root {
    /// Opens a root. Its path comes from the configuration, so links on the way to it are followed.
    pub fn open(path: &Path) -> Result<Self, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { folder: rustix::fs::open(path, flags, Mode::empty())?, path: path.to_owned() })
    }

    /// The path that it was opened with.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the folder still exists: a folder that was removed while it is open has no links left.
    pub fn still_exists(&self) -> bool {
        rustix::fs::fstat(&self.folder).is_ok_and(|stat| stat.st_nlink > 0)
    }

    /// A folder directly below it, as a root of its own.
    pub fn below(&self, name: &str) -> Result<Self, ToolError> {
        let folder = self.top()?.enter(name)?;
        Ok(Self { folder: folder.into_fd(), path: self.path.join(name) })
    }

    /// A folder below it; `None` is the root itself.
    pub fn folder(&self, path: Option<&RelPath>) -> Result<Folder, ToolError> {
        let mut folder = self.top()?;
        for name in path.into_iter().flat_map(RelPath::segments) {
            folder = match folder.find(name)? {
                Some((name, EntryKind::Folder)) => folder.enter(&name)?,
                Some((name, EntryKind::File)) => {
                    return Err(LibraryError::wrong_path(folder.join(&name), IS_FILE).into());
                }
                None => return Err(LibraryError::not_found(folder.join(name), DOES_NOT_EXIST).into()),
            };
        }
        Ok(folder)
    }

    /// Resolves a path. Its folder must exist.
    pub fn resolve(&self, path: &RelPath) -> Result<ResolvedPath, ToolError> {
        let folder = self.folder(path.parent().as_ref())?;
        let found = folder.find(path.name())?;
        let (name, kind) = match found {
            Some((name, kind)) => (name, Some(kind)),
            None => (path.name().to_owned(), None),
        };
        Ok(ResolvedPath { folder, name, kind })
    }

    /// A file, opened for reading, with its stored path.
    pub fn open_file(&self, path: &RelPath) -> Result<(File, String), ToolError> {
        let resolved = self.resolve(path)?;
        match resolved.kind {
            Some(EntryKind::File) => Ok((resolved.folder.open_file(&resolved.name)?, resolved.path())),
            Some(EntryKind::Folder) => Err(LibraryError::wrong_path(resolved.path(), IS_FOLDER).into()),
            None => Err(LibraryError::not_found(resolved.path(), DOES_NOT_EXIST).into()),
        }
    }

    /// The root itself as a folder.
    pub fn top(&self) -> Result<Folder, ToolError> {
        Folder::reopen(&self.folder, &self.path)
    }
}

/// Creates the folder of a root, and those above it.
pub fn create_root(path: &Path) -> Result<(), ToolError> {
    std::fs::create_dir_all(path).map_err(|error| io_error(&path.display().to_string(), error))
}

/// The canonical path, without links; the path itself when it does not exist.
pub fn real_path(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The name of the folder that a path refers to, after links are resolved.
pub fn folder_name(path: &Path) -> Option<String> {
    std::fs::canonicalize(path).ok()?.file_name()?.to_str().map(str::to_owned)
}
