//! Atomic writes: a reader, or a crash at any moment, sees the old file or the new one, never a mix.

use std::fs::File;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use annai_core::{ErrorKind, ToolError};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::folder::{EntryKind, Folder};
use super::io_error::{HAS_SEVERAL_NAMES, IS_FILE, NOT_REGULAR, errno_error, io_error};
use super::lock::{JournalEntry, WriteLock};
use super::path::RelPath;
use super::root::Root;
use super::stamp::stamp_of;
use super::temporary::temporary_name;
use crate::error::LibraryError;

/// The permissions of a new file: at most these, less what the umask takes away.
const NEW_FILE_MODE: u32 = 0o644;
/// The permissions that a file keeps when its content is replaced.
const KEPT_MODE: u32 = 0o777;
/// The bits of who may execute a file.
const EXECUTE_BITS: u32 = 0o111;

/// Whether a file that somebody may execute is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecuteBit {
    /// It is not: the caller would change a program.
    Refused,
    /// It is, and stays executable.
    Accepted,
}

/// Refuses to change a program.
fn check_execute_bit(
    lock: &WriteLock,
    path: &str,
    mode: Mode,
    execute_bit: ExecuteBit,
) -> Result<(), ToolError> {
    let is_executable = mode.intersects(Mode::from_raw_mode(EXECUTE_BITS));
    if execute_bit == ExecuteBit::Accepted || !is_executable || !lock.stores_execute_bits() {
        return Ok(());
    }
    let problem = "has an execute bit, and programs are not changed; remove the bit with chmod a-x, or allow the name with library.vault_allow_names";
    Err(LibraryError::forbidden(path, problem).into())
}

/// Opens a folder, and creates it and its parents when they are missing. `None` is the root.
pub fn create_folders(root: &Root, path: Option<&RelPath>) -> Result<Folder, ToolError> {
    let mut folder = root.top()?;
    for name in path.into_iter().flat_map(RelPath::segments) {
        let stored = match folder.find(name)? {
            Some((stored, EntryKind::Folder)) => stored,
            Some((stored, EntryKind::File)) => {
                return Err(LibraryError::wrong_path(folder.join(&stored), IS_FILE).into());
            }
            None => {
                match rustix::fs::mkdirat(folder.fd(), name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => sync(&folder)?,
                    Err(errno) => return Err(errno_error(&folder.join(name), errno)),
                }
                name.to_owned()
            }
        };
        folder = folder.enter(&stored)?;
    }
    Ok(folder)
}

/// Creates a new file. An existing one is never replaced.
pub fn create(lock: &mut WriteLock, folder: &Folder, name: &str, content: &[u8]) -> Result<(), ToolError> {
    publish(lock, folder, name, content, None, &|temporary| {
        let renamed =
            rustix::fs::renameat_with(folder.fd(), temporary, folder.fd(), name, RenameFlags::NOREPLACE);
        match renamed {
            // Not every file system supports this flag; a hard link does not replace an existing file either.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                rustix::fs::linkat(folder.fd(), temporary, folder.fd(), name, AtFlags::empty())?;
                rustix::fs::unlinkat(folder.fd(), temporary, AtFlags::empty())
            }
            other => other,
        }
    })
}

/// Replaces the content of a file, and keeps its mode.
pub fn overwrite(
    lock: &mut WriteLock,
    folder: &Folder,
    name: &str,
    content: &[u8],
    execute_bit: ExecuteBit,
) -> Result<(), ToolError> {
    let path = folder.join(name);
    let stat = rustix::fs::statat(folder.fd(), name, AtFlags::SYMLINK_NOFOLLOW);
    let stat = stat.map_err(|errno| errno_error(&path, errno))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(LibraryError::out_of_scope(path, "is no longer a regular file").into());
    }
    let mode = Mode::from_raw_mode(stat.st_mode) & Mode::from_raw_mode(KEPT_MODE);
    check_execute_bit(lock, &path, mode, execute_bit)?;
    publish(lock, folder, name, content, Some(mode), &|temporary| {
        rustix::fs::renameat(folder.fd(), temporary, folder.fd(), name)
    })
}

/// Writes a temporary file beside the target, flushes it, and renames it with `rename`. Without a mode to keep, the
/// umask of the process decides.
fn publish(
    lock: &mut WriteLock,
    folder: &Folder,
    name: &str,
    content: &[u8],
    kept_mode: Option<Mode>,
    rename: &dyn Fn(&str) -> Result<(), Errno>,
) -> Result<(), ToolError> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let path = folder.join(name);
    let temporary = temporary_name(COUNT.fetch_add(1, Ordering::Relaxed));
    let begun = lock.begin(JournalEntry::Temporary, &folder.join(&temporary));
    begun.map_err(|error| io_error(&path, error))?;
    // A killed process with the same id may have left a file of this name.
    folder.remove_file(&temporary);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(
        folder.fd(),
        &temporary,
        flags,
        kept_mode.unwrap_or(Mode::from_raw_mode(NEW_FILE_MODE)),
    );
    let mut file = File::from(file.map_err(|errno| errno_error(&path, errno))?);
    // The umask would take permissions away that the replaced file had.
    let mode_set = kept_mode.map_or(Ok(()), |mode| rustix::fs::fchmod(&file, mode));
    let written = mode_set
        .map_err(std::io::Error::from)
        .and_then(|()| file.write_all(content))
        .and_then(|()| file.sync_all());
    let written = written.map_err(|error| io_error(&path, error));
    let renamed = written.and_then(|()| rename(&temporary).map_err(|errno| errno_error(&path, errno)));
    if renamed.is_err() {
        folder.remove_file(&temporary);
    }
    // If the journal cannot be cleared now, the next writer does it.
    let _ = lock.clear_journal();
    renamed?;
    sync(folder).map_err(|error| {
        let sentence = format!("{path} was written, but may not survive a power failure: {error}");
        ToolError::new(ErrorKind::Internal, sentence).because(error)
    })
}

/// Appends to a file. If that fails half-way, the file is truncated to its former size.
pub fn append(
    lock: &mut WriteLock,
    folder: &Folder,
    name: &str,
    content: &[u8],
    execute_bit: ExecuteBit,
) -> Result<(), ToolError> {
    let path = folder.join(name);
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder.fd(), name, flags, Mode::empty());
    let mut file = File::from(file.map_err(|errno| errno_error(&path, errno))?);
    let stat = rustix::fs::fstat(&file).map_err(|errno| errno_error(&path, errno))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(LibraryError::forbidden(path, NOT_REGULAR).into());
    }
    // The other names may be outside of the root. Overwriting is safe: it replaces the name, and leaves the others alone.
    if stat.st_nlink > 1 {
        return Err(LibraryError::out_of_scope(path, HAS_SEVERAL_NAMES).into());
    }
    check_execute_bit(lock, &path, Mode::from_raw_mode(stat.st_mode), execute_bit)?;
    let before = stamp_of(&file, &path)?.size;
    lock.begin(JournalEntry::Append, &path).map_err(|error| io_error(&path, error))?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    if let Err(error) = written {
        // This process holds the lock, so everything after the former end is its own.
        let _ = file.set_len(before).and_then(|()| file.sync_all());
        let _ = lock.clear_journal();
        return Err(io_error(&path, error));
    }
    let _ = lock.clear_journal();
    Ok(())
}

/// Flushes a folder, so that a rename in it survives a power failure.
fn sync(folder: &Folder) -> Result<(), ToolError> {
    match rustix::fs::fsync(folder.fd()) {
        // Some file systems do not support flushing a folder.
        Ok(()) | Err(Errno::INVAL | Errno::ROFS | Errno::BADF) => Ok(()),
        Err(errno) => Err(errno_error(&folder.path, errno)),
    }
}
