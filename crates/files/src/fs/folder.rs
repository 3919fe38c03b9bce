//! Folders below a root. Every name is resolved relative to an open folder, one at a time and without following
//! symbolic links, so that a link that is swapped in during the call cannot lead out of the root.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use annai_core::ToolError;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::io_error::{IS_FILE, IS_LINK, NOT_REGULAR, errno_error};
use super::path::{RelPath, nfc};
use super::stamp::FileStamp;
use super::system_files::is_system_file;
use super::temporary::is_temporary;
use crate::error::LibraryError;

/// How folders are opened: never through a link.
const FOLDER_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// How files are opened: never through a link, and without waiting for a writer of a FIFO.
const FILE_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// A folder below a root.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    /// Its path from the root, as stored; empty for the root.
    pub path: String,
}

/// The content of a folder.
#[derive(Debug, Default)]
pub struct FolderContent {
    /// Its files and folders, sorted by name.
    pub entries: Vec<DirEntry>,
    /// The names of its symbolic links.
    pub links: Vec<String>,
    /// The names of what cannot be opened: FIFOs, sockets and devices, and files and folders that no [`RelPath`] can name.
    /// Bytes that are not UTF-8 and control characters are replaced.
    pub unreadable: Vec<String>,
}

/// A file or a folder in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// Its name as it is stored.
    pub name: String,
    /// Whether it is a file or a folder.
    pub kind: EntryKind,
}

/// The kind of a directory entry. Links, FIFOs, sockets and devices are neither, and are skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A folder.
    Folder,
    /// A regular file.
    File,
}

impl Folder {
    /// The folder that a handle refers to, as the top of a root; `path` is for errors.
    pub(super) fn reopen(handle: &OwnedFd, path: &std::path::Path) -> Result<Self, ToolError> {
        let fd = rustix::fs::openat(handle, ".", FOLDER_FLAGS, Mode::empty());
        let fd = fd.map_err(|errno| errno_error(&path.display().to_string(), errno))?;
        Ok(Self { fd, path: String::new() })
    }

    /// Its handle.
    pub(super) fn into_fd(self) -> OwnedFd {
        self.fd
    }

    /// The path of a name in this folder.
    pub fn join(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}/{name}", self.path) }
    }

    /// Opens the folder with this stored name.
    pub fn enter(&self, name: &str) -> Result<Self, ToolError> {
        let fd = rustix::fs::openat(&self.fd, name, FOLDER_FLAGS, Mode::empty());
        let path = self.join(name);
        match fd {
            Ok(fd) => Ok(Self { fd, path }),
            // It was a folder when it was looked up, and has been replaced since.
            Err(Errno::LOOP | Errno::NOTDIR) => match self.find(name) {
                Ok(Some((_, EntryKind::File))) => Err(LibraryError::wrong_path(path, IS_FILE).into()),
                Ok(_) => Err(link_error(&path)),
                Err(error) => Err(error),
            },
            Err(errno) => Err(errno_error(&path, errno)),
        }
    }

    /// Opens the file with this stored name for reading.
    pub fn open_file(&self, name: &str) -> Result<File, ToolError> {
        let path = self.join(name);
        let fd = match rustix::fs::openat(&self.fd, name, FILE_FLAGS, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::LOOP) => return Err(link_error(&path)),
            Err(errno) => return Err(errno_error(&path, errno)),
        };
        let stat = rustix::fs::fstat(&fd).map_err(|errno| errno_error(&path, errno))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(File::from(fd)),
            _ => Err(special_file_error(&path)),
        }
    }

    /// Looks a name up and returns its stored spelling: the exact name, or else the only one that differs from it in
    /// nothing but its Unicode normalization form. A link or a special file is an error.
    pub fn find(&self, name: &str) -> Result<Option<(String, EntryKind)>, ToolError> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => self.kind(name, &stat).map(|kind| Some((name.to_owned(), kind))),
            Err(Errno::NOENT) => self.find_normalized(name),
            Err(errno) => Err(errno_error(&self.join(name), errno)),
        }
    }

    fn find_normalized(&self, name: &str) -> Result<Option<(String, EntryKind)>, ToolError> {
        if name.is_ascii() {
            return Ok(None);
        }
        let wanted = nfc(name);
        let mut same: Vec<_> = self.names()?.into_iter().filter(|stored| nfc(stored) == wanted).collect();
        match (same.pop(), same.is_empty()) {
            (None, _) => Ok(None),
            (Some(stored), true) => {
                let stat = rustix::fs::statat(&self.fd, &stored, AtFlags::SYMLINK_NOFOLLOW);
                let stat = stat.map_err(|errno| errno_error(&self.join(&stored), errno))?;
                self.kind(&stored, &stat).map(|kind| Some((stored, kind)))
            }
            (Some(_), false) => {
                let problem = "matches several files whose names differ only in their Unicode normalization form; give the exact name";
                Err(LibraryError::conflict(self.join(name), problem).into())
            }
        }
    }

    fn kind(&self, name: &str, stat: &Stat) -> Result<EntryKind, ToolError> {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Ok(EntryKind::Folder),
            FileType::RegularFile => Ok(EntryKind::File),
            FileType::Symlink => Err(link_error(&self.join(name))),
            _ => Err(special_file_error(&self.join(name))),
        }
    }

    /// The files and folders in it, sorted by name, without links and special files.
    pub fn entries(&self) -> Result<Vec<DirEntry>, ToolError> {
        Ok(self.content()?.entries)
    }

    /// Everything in it, except temporary files and what operating systems leave behind.
    pub fn content(&self) -> Result<FolderContent, ToolError> {
        let mut content = FolderContent::default();
        for entry in self.read()? {
            let entry = entry.map_err(|errno| errno_error(&self.path, errno))?;
            // A name that is not UTF-8 cannot be returned as JSON.
            let Ok(name) = entry.file_name().to_str() else {
                content.unreadable.push(entry.file_name().to_string_lossy().into_owned());
                continue;
            };
            if matches!(name, "." | "..") || is_temporary(name) || is_system_file(name) {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not store the type in the directory.
                FileType::Unknown => rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
                known => known,
            };
            let kind = match kind {
                FileType::Symlink => {
                    content.links.push(name.to_owned());
                    continue;
                }
                FileType::Directory if self.can_be_named(name) => EntryKind::Folder,
                FileType::RegularFile if self.can_be_named(name) => EntryKind::File,
                _ => {
                    content.unreadable.push(name.replace(char::is_control, "\u{fffd}"));
                    continue;
                }
            };
            content.entries.push(DirEntry { name: name.to_owned(), kind });
        }
        content.entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(content)
    }

    /// Whether a [`RelPath`] can name an entry: file systems allow names that it refuses, such as `a\\b`.
    fn can_be_named(&self, name: &str) -> bool {
        let is_refused = name.contains(|ch: char| ch.is_control() || ch == '\\');
        !is_refused && (!self.path.is_empty() || RelPath::parse(name).is_ok())
    }

    fn names(&self) -> Result<Vec<String>, ToolError> {
        let names = self.read()?.filter_map(|entry| Some(entry.ok()?.file_name().to_str().ok()?.to_owned()));
        Ok(names.collect())
    }

    fn read(&self) -> Result<Dir, ToolError> {
        Dir::read_from(&self.fd).map_err(|errno| errno_error(&self.path, errno))
    }

    /// The stamp of a file in it.
    pub fn stamp(&self, name: &str) -> Result<FileStamp, ToolError> {
        let stat = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW);
        Ok(FileStamp::of(&stat.map_err(|errno| errno_error(&self.join(name), errno))?))
    }

    /// Removes a file, if it exists. The caller does not depend on it: a temporary file that stays is removed later.
    pub(super) fn remove_file(&self, name: &str) {
        let _ = rustix::fs::unlinkat(&self.fd, name, AtFlags::empty());
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn link_error(path: &str) -> ToolError {
    LibraryError::out_of_scope(path, IS_LINK).into()
}

fn special_file_error(path: &str) -> ToolError {
    LibraryError::forbidden(path, NOT_REGULAR).into()
}
