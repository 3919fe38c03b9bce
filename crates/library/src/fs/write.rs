//! Writes that are there as a whole or not at all.

use std::fs::File;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use annai_core::{ErrorKind, ToolError};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::lock::{Lock, remove};
use super::path::RelPath;
use super::problem::{io_problem, problem};
use super::root::{Folder, Kind, Root, stamp_of};
use crate::error::LibraryError;

const TEMPORARY: &str = ".annai-tmp-";

/// Whether a name is that of a file we are writing, or left behind.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY)
}

/// The folder of this path; what is missing of it is made. `None` = the root.
pub fn make_folders(root: &Root, path: Option<&RelPath>) -> Result<Folder, ToolError> {
    let mut folder = root.top()?;
    for name in path.into_iter().flat_map(RelPath::segments) {
        let stored = match folder.find(name)? {
            Some((stored, Kind::Folder)) => stored,
            Some((stored, Kind::File)) => {
                return Err(LibraryError::wrong_path(folder.join(&stored), "is a file, not a folder").into());
            }
            None => {
                match rustix::fs::mkdirat(folder.fd(), name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => sync(&folder)?,
                    Err(errno) => return Err(problem(&folder.join(name), errno)),
                }
                name.to_owned()
            }
        };
        folder = folder.enter(&stored)?;
    }
    Ok(folder)
}

/// Makes a new file; one that is there is never replaced.
pub fn create(lock: &mut Lock, folder: &Folder, name: &str, content: &[u8]) -> Result<(), ToolError> {
    publish(lock, folder, name, content, None, &|temporary| {
        let renamed =
            rustix::fs::renameat_with(folder.fd(), temporary, folder.fd(), name, RenameFlags::NOREPLACE);
        match renamed {
            // Not every file system can; a second name can then be given, and the first taken away.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                rustix::fs::linkat(folder.fd(), temporary, folder.fd(), name, AtFlags::empty())?;
                rustix::fs::unlinkat(folder.fd(), temporary, AtFlags::empty())
            }
            other => other,
        }
    })
}

/// Puts new content in the place of a file.
pub fn overwrite(lock: &mut Lock, folder: &Folder, name: &str, content: &[u8]) -> Result<(), ToolError> {
    let path = folder.join(name);
    let stat = rustix::fs::statat(folder.fd(), name, AtFlags::SYMLINK_NOFOLLOW);
    let stat = stat.map_err(|errno| problem(&path, errno))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(LibraryError::out_of_scope(path, "is no longer a regular file").into());
    }
    let mode = Mode::from_raw_mode(stat.st_mode) & Mode::from_raw_mode(0o7777);
    publish(lock, folder, name, content, Some(mode), &|temporary| {
        rustix::fs::renameat(folder.fd(), temporary, folder.fd(), name)
    })
}

/// Writes a temporary file beside the target, flushes it, and lets `place` give it its name. Without a mode to keep it
/// is as open as the process makes files.
fn publish(
    lock: &mut Lock,
    folder: &Folder,
    name: &str,
    content: &[u8],
    keep: Option<Mode>,
    place: &dyn Fn(&str) -> Result<(), Errno>,
) -> Result<(), ToolError> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let path = folder.join(name);
    let temporary = format!("{TEMPORARY}{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let noted = lock.note("tmp", &folder.join(&temporary));
    noted.map_err(|error| io_problem(&path, error))?;
    // A process of the same number may have been killed here before.
    remove(folder, &temporary);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder.fd(), &temporary, flags, keep.unwrap_or(Mode::from_raw_mode(0o666)));
    let mut file = File::from(file.map_err(|errno| problem(&path, errno))?);
    // The mask of the process is no reason to close a file that was open to others.
    let opened = keep.map_or(Ok(()), |mode| rustix::fs::fchmod(&file, mode));
    let written = opened
        .map_err(std::io::Error::from)
        .and_then(|()| file.write_all(content))
        .and_then(|()| file.sync_all());
    let written = written.map_err(|error| io_problem(&path, error));
    let placed = written.and_then(|()| place(&temporary).map_err(|errno| problem(&path, errno)));
    if placed.is_err() {
        remove(folder, &temporary);
    }
    // What cannot be forgotten now, the next writer looks after.
    let _ = lock.forget();
    placed?;
    sync(folder).map_err(|error| {
        let sentence = format!("{path} was written, but might not survive a power cut: {error}");
        ToolError::new(ErrorKind::Internal, sentence).because(error)
    })
}

/// Adds at the end of a file. If that fails half-way, what was added is taken back.
pub fn append(lock: &mut Lock, folder: &Folder, name: &str, content: &[u8]) -> Result<(), ToolError> {
    let path = folder.join(name);
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder.fd(), name, flags, Mode::empty());
    let mut file = File::from(file.map_err(|errno| problem(&path, errno))?);
    let stat = rustix::fs::fstat(&file).map_err(|errno| problem(&path, errno))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(LibraryError::forbidden(path, "is not a regular file, and is never opened").into());
    }
    let before = stamp_of(&file, &path)?.size;
    lock.note("add", &path).map_err(|error| io_problem(&path, error))?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    if let Err(error) = written {
        // Nobody else writes through us now, so what is behind the old end is ours.
        let _ = file.set_len(before).and_then(|()| file.sync_all());
        let _ = lock.forget();
        return Err(io_problem(&path, error));
    }
    let _ = lock.forget();
    Ok(())
}

fn sync(folder: &Folder) -> Result<(), ToolError> {
    match rustix::fs::fsync(folder.fd()) {
        // Some file systems cannot flush a folder.
        Ok(()) | Err(Errno::INVAL | Errno::ROFS | Errno::BADF) => Ok(()),
        Err(errno) => Err(problem(&folder.path, errno)),
    }
}
