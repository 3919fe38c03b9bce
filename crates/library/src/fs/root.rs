//! A folder that was opened once, and everything below it: found one name at a time, relative to a handle,
//! without following a link at any of them, even one that is swapped in while we look.

use std::cell::Cell;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use annai_core::ToolError;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::path::{RelPath, nfc};
use super::problem::problem;
use crate::error::LibraryError;

/// How folders are opened: never through a link.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// How files are opened: never through a link, and without waiting for a writer of a FIFO.
const FILE: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// A folder that callers' paths start from.
#[derive(Debug)]
pub struct Root {
    folder: OwnedFd,
    path: PathBuf,
}

/// A folder below a root.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    /// Its path from the root as it is stored; empty for the root.
    pub path: String,
    /// How many files and folders in it have names that no path can name, once it was read.
    unnameable: Cell<usize>,
}

/// What stands in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name as it is stored.
    pub name: String,
    /// The kind of problem.
    pub kind: Kind,
}

/// What a name stands for. Links, FIFOs, sockets and devices are none of these, and are passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A folder.
    Folder,
    /// A regular file.
    File,
}

/// What tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Bytes.
    pub size: u64,
    /// When its content changed, in nanoseconds.
    pub modified: i64,
    /// When anything of it changed, in nanoseconds.
    pub changed: i64,
    /// Which file it is.
    pub inode: u64,
}

impl Stamp {
    #[expect(clippy::useless_conversion, reason = "the widths differ between systems")]
    pub(super) fn of(stat: &Stat) -> Self {
        let nanos = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        Self {
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: nanos(stat.st_mtime.into(), i64::try_from(stat.st_mtime_nsec).unwrap_or_default()),
            changed: nanos(stat.st_ctime.into(), i64::try_from(stat.st_ctime_nsec).unwrap_or_default()),
            inode: stat.st_ino.into(),
        }
    }
}

/// Where a path leads: the folder that holds its last name, and what stands there now.
#[derive(Debug)]
pub struct Place {
    /// The folder.
    pub folder: Folder,
    /// The last name as it is stored, or as it was asked for where nothing is.
    pub name: String,
    /// What stands there.
    pub found: Option<Kind>,
}

impl Place {
    /// The whole path as it is stored.
    pub fn path(&self) -> String {
        self.folder.join(&self.name)
    }
}

impl Root {
    /// Opens a root. The configuration names it, so links on the way to it are the owner's business.
    pub fn open(path: &Path) -> Result<Self, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { folder: rustix::fs::open(path, flags, Mode::empty())?, path: path.to_owned() })
    }

    /// The path that it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether its folder still has a name somewhere.
    pub fn is_there(&self) -> bool {
        rustix::fs::fstat(&self.folder).is_ok_and(|stat| stat.st_nlink > 0)
    }

    /// A folder below it as a root of its own.
    pub fn below(&self, name: &str) -> Result<Self, ToolError> {
        let folder = self.top()?.enter(name)?;
        Ok(Self { folder: folder.fd, path: self.path.join(name) })
    }

    /// A folder below it; `None` = itself.
    pub fn folder(&self, path: Option<&RelPath>) -> Result<Folder, ToolError> {
        let mut folder = self.top()?;
        for name in path.into_iter().flat_map(RelPath::segments) {
            folder = match folder.find(name)? {
                Some((name, Kind::Folder)) => folder.enter(&name)?,
                Some((name, Kind::File)) => {
                    return Err(
                        LibraryError::wrong_path(folder.join(&name), "is a file, not a folder").into()
                    );
                }
                None => return Err(LibraryError::not_found(folder.join(name), "does not exist").into()),
            };
        }
        Ok(folder)
    }

    /// Where a path leads. Its folder must exist.
    pub fn find(&self, path: &RelPath) -> Result<Place, ToolError> {
        let folder = self.folder(path.parent().as_ref())?;
        let found = folder.find(path.name())?;
        let (name, found) = match found {
            Some((name, kind)) => (name, Some(kind)),
            None => (path.name().to_owned(), None),
        };
        Ok(Place { folder, name, found })
    }

    /// A file, opened for reading, with its stored path.
    pub fn open_file(&self, path: &RelPath) -> Result<(File, String), ToolError> {
        let place = self.find(path)?;
        match place.found {
            Some(Kind::File) => Ok((place.folder.open_file(&place.name)?, place.path())),
            Some(Kind::Folder) => {
                Err(LibraryError::wrong_path(place.path(), "is a folder, not a file").into())
            }
            None => Err(LibraryError::not_found(place.path(), "does not exist").into()),
        }
    }

    /// The root itself as a folder.
    pub fn top(&self) -> Result<Folder, ToolError> {
        let fd = rustix::fs::openat(&self.folder, ".", FOLDER, Mode::empty());
        let fd = fd.map_err(|errno| problem(&self.path.display().to_string(), errno))?;
        Ok(Folder { fd, path: String::new(), unnameable: Cell::new(0) })
    }
}

impl Folder {
    /// The path of a name in it.
    pub fn join(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}/{name}", self.path) }
    }

    /// The folder below it of this stored name.
    pub fn enter(&self, name: &str) -> Result<Self, ToolError> {
        let fd = rustix::fs::openat(&self.fd, name, FOLDER, Mode::empty());
        let path = self.join(name);
        match fd {
            Ok(fd) => Ok(Self { fd, path, unnameable: Cell::new(0) }),
            // It was a folder when we looked.
            Err(Errno::LOOP | Errno::NOTDIR) => match self.find(name) {
                Ok(Some((_, Kind::File))) => {
                    Err(LibraryError::wrong_path(path, "is a file, not a folder").into())
                }
                Ok(_) => Err(link(&path)),
                Err(error) => Err(error),
            },
            Err(errno) => Err(problem(&path, errno)),
        }
    }

    /// The file in it of this stored name, opened for reading.
    pub fn open_file(&self, name: &str) -> Result<File, ToolError> {
        let path = self.join(name);
        let fd = match rustix::fs::openat(&self.fd, name, FILE, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::LOOP) => return Err(link(&path)),
            Err(errno) => return Err(problem(&path, errno)),
        };
        let stat = rustix::fs::fstat(&fd).map_err(|errno| problem(&path, errno))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(File::from(fd)),
            _ => Err(special(&path)),
        }
    }

    /// What stands under a name: that very name, else the one that differs only in its Unicode form. The stored
    /// spelling is given. A link or a special file is an error.
    pub fn find(&self, name: &str) -> Result<Option<(String, Kind)>, ToolError> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => self.kind(name, &stat).map(|kind| Some((name.to_owned(), kind))),
            Err(Errno::NOENT) => self.find_form(name),
            Err(errno) => Err(problem(&self.join(name), errno)),
        }
    }

    fn find_form(&self, name: &str) -> Result<Option<(String, Kind)>, ToolError> {
        if name.is_ascii() {
            return Ok(None);
        }
        let wanted = nfc(name);
        let mut same: Vec<_> = self.names()?.into_iter().filter(|stored| nfc(stored) == wanted).collect();
        match (same.pop(), same.is_empty()) {
            (None, _) => Ok(None),
            (Some(stored), true) => {
                let stat = rustix::fs::statat(&self.fd, &stored, AtFlags::SYMLINK_NOFOLLOW);
                let stat = stat.map_err(|errno| problem(&self.join(&stored), errno))?;
                self.kind(&stored, &stat).map(|kind| Some((stored, kind)))
            }
            (Some(_), false) => {
                let problem = "could be several files whose names differ only in their Unicode form; give the exact one";
                Err(LibraryError::conflict(self.join(name), problem).into())
            }
        }
    }

    fn kind(&self, name: &str, stat: &Stat) -> Result<Kind, ToolError> {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Ok(Kind::Folder),
            FileType::RegularFile => Ok(Kind::File),
            FileType::Symlink => Err(link(&self.join(name))),
            _ => Err(special(&self.join(name))),
        }
    }

    /// The files and folders in it, sorted by name; links and special files are not among them.
    pub fn entries(&self) -> Result<Vec<Entry>, ToolError> {
        let mut entries = Vec::new();
        self.unnameable.set(0);
        for entry in self.read()? {
            let entry = entry.map_err(|errno| problem(&self.path, errno))?;
            let odd = || {
                if matches!(entry.file_type(), FileType::Directory | FileType::RegularFile) {
                    self.unnameable.set(self.unnameable.get() + 1);
                }
            };
            // A name that is not UTF-8 cannot be told to anybody.
            let Ok(name) = entry.file_name().to_str() else {
                odd();
                continue;
            };
            if matches!(name, "." | "..") || super::write::is_temporary(name) {
                continue;
            }
            if !self.can_be_named(name) {
                odd();
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Directory => Kind::Folder,
                FileType::RegularFile => Kind::File,
                // Some file systems do not say.
                FileType::Unknown => match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => Kind::Folder,
                    Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => Kind::File,
                    _ => continue,
                },
                _ => continue,
            };
            entries.push(Entry { name: name.to_owned(), kind });
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    /// How many files and folders were passed over when it was read last, because no path can name them.
    pub const fn unnameable(&self) -> usize {
        self.unnameable.get()
    }

    /// Whether a path can name it: some names of the disk are none of ours.
    fn can_be_named(&self, name: &str) -> bool {
        let odd = name.contains(|letter: char| letter.is_control() || letter == '\\');
        !odd && (!self.path.is_empty() || RelPath::parse(name).is_ok())
    }

    fn names(&self) -> Result<Vec<String>, ToolError> {
        let names = self.read()?.filter_map(|entry| Some(entry.ok()?.file_name().to_str().ok()?.to_owned()));
        Ok(names.collect())
    }

    fn read(&self) -> Result<Dir, ToolError> {
        Dir::read_from(&self.fd).map_err(|errno| problem(&self.path, errno))
    }

    /// The state of a file in it.
    pub fn stamp(&self, name: &str) -> Result<Stamp, ToolError> {
        let stat = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW);
        Ok(Stamp::of(&stat.map_err(|errno| problem(&self.join(name), errno))?))
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Makes the folder of a root, and those above it.
pub fn make_root(path: &Path) -> Result<(), ToolError> {
    std::fs::create_dir_all(path)
        .map_err(|error| super::problem::io_problem(&path.display().to_string(), error))
}

/// Where a path really leads, or the path itself where it leads nowhere.
pub fn real_path(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The name of the folder that a path leads to.
pub fn folder_name(path: &Path) -> Option<String> {
    std::fs::canonicalize(path).ok()?.file_name()?.to_str().map(str::to_owned)
}

/// The state of an open file.
pub fn stamp_of(file: &File, path: &str) -> Result<Stamp, ToolError> {
    Ok(Stamp::of(&rustix::fs::fstat(file).map_err(|errno| problem(path, errno))?))
}

fn link(path: &str) -> ToolError {
    LibraryError::out_of_scope(path, "is a symbolic link, and links are not followed").into()
}

fn special(path: &str) -> ToolError {
    LibraryError::forbidden(path, "is not a regular file, and is never opened").into()
}
