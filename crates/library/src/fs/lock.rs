//! One writer at a time, in all processes that share a vault. The lock file also names the temporary file that its
//! holder is writing, so that the next one can clear up after a crash.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::time::{Duration, Instant};

use annai_core::ToolError;
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::path::RelPath;
use super::problem::problem;
use super::read::torn_bytes;
use super::root::{Folder, Kind, Root};
use super::write::is_temporary;
use crate::error::LibraryError;

/// The folder that is ours.
pub const SYSTEM: &str = ".system";
const NAME: &str = "lock";
const PLACE: &str = ".system/lock";
/// How long a writer waits for others, which write for milliseconds: half a minute means that one hangs, and the call
/// fails with a conflict.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// The right to write. It ends when it is dropped, or with the process.
pub struct Lock {
    file: File,
}

impl Lock {
    /// Waits for the right to write below a root, until `check` fails because the call was cancelled.
    pub fn acquire(root: &Root, check: &dyn Fn() -> Result<(), ToolError>) -> Result<Self, ToolError> {
        let top = root.top()?;
        let folder = match rustix::fs::mkdirat(top.fd(), SYSTEM, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => top.enter(SYSTEM)?,
            Err(errno) => return Err(problem(SYSTEM, errno)),
        };
        let (started, mut pause) = (Instant::now(), Duration::from_micros(200));
        let file = loop {
            let file = open(&folder)?;
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                // Somebody may have put another file there before we had it.
                Ok(()) if is_at(&folder, &file) => break file,
                Ok(()) | Err(Errno::WOULDBLOCK | Errno::INTR) if started.elapsed() < MAX_WAIT => {
                    check()?;
                    std::thread::sleep(pause);
                }
                Ok(()) | Err(Errno::WOULDBLOCK | Errno::INTR) => {
                    return Err(LibraryError::conflict(PLACE, "is held by another writer; try again").into());
                }
                Err(errno) => return Err(problem(PLACE, errno)),
            }
            pause = (pause * 2).min(Duration::from_millis(10));
        };
        let mut lock = Self { file };
        lock.clear_up(root);
        Ok(lock)
    }

    /// Notes what is about to be done: `tmp` and a temporary file, or `add` and a file that is appended to.
    pub(super) fn note(&mut self, what: &str, path: &str) -> std::io::Result<()> {
        self.forget()?;
        self.file.rewind()?;
        self.file.write_all(format!("{what} {path}").as_bytes())
    }

    /// Nothing is under way any more.
    pub(super) fn forget(&mut self) -> std::io::Result<()> {
        self.file.set_len(0)
    }

    /// Mends what a holder that was killed has left behind.
    fn clear_up(&mut self, root: &Root) {
        let mut left = String::new();
        let read = self.file.rewind().and_then(|()| (&self.file).take(8192).read_to_string(&mut left));
        if read.is_err() || left.is_empty() {
            return;
        }
        if let Some((what, path)) = left.split_once(' ')
            && let Ok(path) = RelPath::parse(path)
            && let Ok(folder) = root.folder(path.parent().as_ref())
        {
            match what {
                "tmp" if is_temporary(path.name()) => remove(&folder, path.name()),
                "add" => mend_end(&folder, path.name()),
                _ => {}
            }
        }
        // If it cannot be emptied now, the next one tries again.
        let _ = self.forget();
    }
}

/// The lock file. It must be ours alone: a link to it elsewhere would be written through.
fn open(folder: &Folder) -> Result<File, ToolError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder.fd(), NAME, flags, Mode::from_raw_mode(0o666));
    let file = File::from(file.map_err(|errno| problem(PLACE, errno))?);
    let stat = rustix::fs::fstat(&file).map_err(|errno| problem(PLACE, errno))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_nlink > 1 {
        return Err(LibraryError::forbidden(PLACE, "is not a file of its own; remove it").into());
    }
    Ok(file)
}

/// Whether the name still stands for this very file.
fn is_at(folder: &Folder, file: &File) -> bool {
    let named = rustix::fs::statat(folder.fd(), NAME, AtFlags::SYMLINK_NOFOLLOW);
    match (named, rustix::fs::fstat(file)) {
        (Ok(named), Ok(held)) => named.st_ino == held.st_ino && named.st_dev == held.st_dev,
        _ => false,
    }
}

/// Takes away the beginning of a character that an append was killed in.
fn mend_end(folder: &Folder, name: &str) {
    if !matches!(folder.find(name), Ok(Some((_, Kind::File)))) {
        return;
    }
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::openat(folder.fd(), name, flags, Mode::empty()).map(File::from) else {
        return;
    };
    if let (Ok(torn @ 1..), Ok(stat)) = (torn_bytes(&file, name), rustix::fs::fstat(&file)) {
        let size = u64::try_from(stat.st_size).unwrap_or_default();
        let _ = file.set_len(size.saturating_sub(torn));
    }
}

/// Removes a file of ours; whether it was there does not matter.
pub(super) fn remove(folder: &Folder, name: &str) {
    let _ = rustix::fs::unlinkat(folder.fd(), name, AtFlags::empty());
}
