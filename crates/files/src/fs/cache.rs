//! A folder in the user's cache directory. Its files may be removed at any time, and are replaced atomically. Its content is
//! input: what another user could have written, what is no regular file, and what is too large is never read.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};

/// Temporary files are removed after an hour: until then, another process may still be writing them.
const TEMPORARY_FILE_AGE: Duration = Duration::from_secs(3600);
/// Folders that were not used for 60 days are removed; a collection that is used again later is indexed anew.
const UNUSED_FOLDER_AGE: Duration = Duration::from_secs(60 * 24 * 3600);
/// The end of the names of temporary files.
const TEMPORARY_SUFFIX: &str = ".tmp";
/// The file that names the folder whose index this is.
const SOURCE_NAME: &str = "source";
/// The maximum size of that file; no path is longer.
const MAX_SOURCE_BYTES: u64 = 8192;

/// Numbers the temporary files of this process.
static NEXT_NUMBER: AtomicUsize = AtomicUsize::new(0);

/// A folder in the user's cache directory.
#[derive(Debug)]
pub struct CacheFolder {
    fd: OwnedFd,
}

impl CacheFolder {
    /// Opens the folder with this name, and creates it for its owner alone when it is missing. It is the cache of the folder
    /// `source`. `None` when that fails, when it is a link, or when anybody else could have written to it.
    pub fn open(parent: &Path, name: &str, source: &Path) -> Option<Self> {
        let path = parent.join(name);
        let is_new = fs::symlink_metadata(&path).is_err();
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&path).ok()?;
        if is_new {
            remove_unused_folders(parent);
        }
        let folder = Self { fd: open_own_folder(&path)? };
        let source = source.as_os_str().as_encoded_bytes();
        if folder.read(SOURCE_NAME, MAX_SOURCE_BYTES).as_deref() != Some(source) {
            folder.write(SOURCE_NAME, source).ok()?;
        }
        Some(folder)
    }

    /// Reads a regular file of this user of at most `max_bytes`.
    pub fn read(&self, name: &str, max_bytes: u64) -> Option<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.fd, name, flags, Mode::empty()).ok()?;
        let stat = rustix::fs::fstat(&file).ok()?;
        if !is_readable(&stat, max_bytes) {
            return None;
        }
        let mut bytes = Vec::with_capacity(usize::try_from(stat.st_size).ok()?);
        File::from(file).take(max_bytes).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Whether a file exists that [`Self::read`] would read.
    pub fn has(&self, name: &str, max_bytes: u64) -> bool {
        let stat = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW);
        stat.is_ok_and(|stat| is_readable(&stat, max_bytes))
    }

    /// Writes a file atomically. Whatever has its name, also a link or a FIFO, is replaced.
    pub fn write(&self, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        let temporary = format!("{name}.{}.{number}{TEMPORARY_SUFFIX}", std::process::id());
        // A killed process with the same id may have left a file of this name.
        self.remove(&temporary);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.fd, &temporary, flags, Mode::from_raw_mode(0o600));
        let written = file.map_err(std::io::Error::from).and_then(|file| File::from(file).write_all(bytes));
        let renamed = written.and_then(|()| {
            rustix::fs::renameat(&self.fd, &temporary, &self.fd, name).map_err(std::io::Error::from)
        });
        if renamed.is_err() {
            self.remove(&temporary);
        }
        renamed
    }

    /// Removes a file.
    pub fn remove(&self, name: &str) {
        let _ = rustix::fs::unlinkat(&self.fd, name, AtFlags::empty());
    }

    /// Records that a file was used now.
    pub fn touch(&self, name: &str) {
        let now = rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
        let times = rustix::fs::Timestamps { last_access: now, last_modification: now };
        let _ = rustix::fs::utimensat(&self.fd, name, &times, AtFlags::SYMLINK_NOFOLLOW);
    }

    /// Removes the files that `is_kept` does not name. A process that has just read their names indexes them again.
    pub fn remove_unused(&self, is_kept: &dyn Fn(&str) -> bool) {
        let Ok(entries) = rustix::fs::Dir::read_from(&self.fd) else { return };
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().to_str() else { continue };
            let is_removed = match name {
                "." | ".." | SOURCE_NAME => false,
                temporary if temporary.ends_with(TEMPORARY_SUFFIX) => self.is_old(temporary),
                other => !is_kept(other),
            };
            if is_removed {
                self.remove(name);
            }
        }
    }

    fn is_old(&self, name: &str) -> bool {
        let stat = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW);
        let seconds = stat.ok().and_then(|stat| u64::try_from(stat.st_mtime).ok()).unwrap_or_default();
        is_older(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds), TEMPORARY_FILE_AGE)
    }
}

/// Opens a folder of this user that nobody else can write to, and not through a link.
fn open_own_folder(path: &Path) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&fd).ok()?;
    if is_own(&stat) {
        return Some(fd);
    }
    tracing::warn!(path = %path.display(), "the cache is not used, because another user owns it or can write to it");
    None
}

/// Whether something is a regular file of this user of at most `max_bytes`.
fn is_readable(stat: &Stat, max_bytes: u64) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
        && is_own(stat)
        && u64::try_from(stat.st_size).is_ok_and(|size| size <= max_bytes)
}

/// Whether this user owns something, and nobody else can write to it.
fn is_own(stat: &Stat) -> bool {
    let others = Mode::WGRP | Mode::WOTH;
    stat.st_uid == rustix::process::geteuid().as_raw()
        && !Mode::from_raw_mode(stat.st_mode).intersects(others)
}

/// The folders of caches: only names that the index cache gives (32 hexadecimal digits).
fn cache_folders(parent: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let is_cache = |name: &str| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    entries.filter(move |entry| entry.file_name().to_str().is_some_and(is_cache)).map(|entry| entry.path())
}

/// Removes the caches of folders that no longer exist: what they contained is not kept.
pub fn remove_orphaned_caches(parent: &Path) {
    for path in cache_folders(parent) {
        let Some(folder) = open_own_folder(&path).map(|fd| CacheFolder { fd }) else { continue };
        let source =
            folder.read(SOURCE_NAME, MAX_SOURCE_BYTES).and_then(|bytes| String::from_utf8(bytes).ok());
        let is_gone = source.is_some_and(|source| {
            let found = fs::symlink_metadata(source);
            found.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
        });
        if is_gone {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// Removes the folders that were not used for a long time.
fn remove_unused_folders(parent: &Path) {
    for path in cache_folders(parent) {
        let files = fs::read_dir(&path).into_iter().flatten().flatten();
        let last_use = files.filter_map(|file| file.metadata().and_then(|data| data.modified()).ok()).max();
        if last_use.is_some_and(|time| is_older(time, UNUSED_FOLDER_AGE)) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

fn is_older(time: SystemTime, than: Duration) -> bool {
    SystemTime::now().duration_since(time).is_ok_and(|age| age > than)
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
