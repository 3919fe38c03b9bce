//! One writer at a time, in all processes that share a vault. The lock file also names the temporary file that its
//! holder is writing, so that the next one can clear up after a crash.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::time::{Duration, Instant};

use annai_core::{ErrorKind, ToolError};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::path::RelPath;
use super::problem::{at, io_problem, problem};
use super::root::{Folder, Root};
use super::write::is_temporary;

/// The folder that is ours.
pub const SYSTEM: &str = ".system";
const NAME: &str = "lock";
const PATIENCE: Duration = Duration::from_secs(30);

/// The right to write. It ends when it is dropped, or with the process.
pub struct Lock {
    file: File,
}

impl Lock {
    /// Waits for the right to write below a root.
    pub fn acquire(root: &Root) -> Result<Self, ToolError> {
        let place = format!("{SYSTEM}/{NAME}");
        let top = root.top()?;
        let folder = match rustix::fs::mkdirat(top.fd(), SYSTEM, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => top.enter(SYSTEM)?,
            Err(errno) => return Err(problem(SYSTEM, errno)),
        };
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(folder.fd(), NAME, flags, Mode::from_raw_mode(0o666));
        let file = File::from(file.map_err(|errno| problem(&place, errno))?);
        let (started, mut pause) = (Instant::now(), Duration::from_micros(200));
        loop {
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => break,
                Err(Errno::WOULDBLOCK | Errno::INTR) if started.elapsed() < PATIENCE => {
                    std::thread::sleep(pause);
                }
                Err(Errno::WOULDBLOCK | Errno::INTR) => {
                    return Err(at(ErrorKind::Conflict, &place, "is held by another writer; try again"));
                }
                Err(errno) => return Err(problem(&place, errno)),
            }
            pause = (pause * 2).min(Duration::from_millis(10));
        }
        let mut lock = Self { file };
        lock.clear_up(root);
        Ok(lock)
    }

    /// Notes the temporary file that is about to be written; empty = none.
    pub(super) fn note(&mut self, path: &str) -> Result<(), ToolError> {
        let write = |file: &mut File| {
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(path.as_bytes())
        };
        write(&mut self.file).map_err(|error| io_problem(NAME, error))
    }

    /// Removes what a holder that was killed has left behind.
    fn clear_up(&mut self, root: &Root) {
        let mut left = String::new();
        let read = self.file.rewind().and_then(|()| (&self.file).take(8192).read_to_string(&mut left));
        if read.is_err() || left.is_empty() {
            return;
        }
        if let Ok(path) = RelPath::parse(&left)
            && is_temporary(path.name())
            && let Ok(folder) = root.folder(path.parent().as_ref())
        {
            remove(&folder, path.name());
        }
        // If it cannot be emptied now, the next one tries again.
        let _ = self.note("");
    }
}

/// Removes a file of ours; whether it was there does not matter.
pub(super) fn remove(folder: &Folder, name: &str) {
    let _ = rustix::fs::unlinkat(folder.fd(), name, AtFlags::empty());
}
