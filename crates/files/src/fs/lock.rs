//! The write lock of a vault: one writer at a time among all processes that share it. The lock file is also a journal:
//! it names the write in progress, so that the next writer can undo what a killed process left half-done.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::time::{Duration, Instant};

use annai_core::ToolError;
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::folder::{EntryKind, Folder};
use super::io_error::errno_error;
use super::path::RelPath;
use super::read::incomplete_char_bytes;
use super::root::Root;
use super::temporary::is_temporary;
use crate::error::LibraryError;

/// The folder of a vault that is reserved for the server.
pub const SYSTEM_DIR: &str = ".system";
const LOCK_NAME: &str = "lock";
const LOCK_PATH: &str = ".system/lock";
/// The lock file names what is being written, so only its owner may read it.
const LOCK_MODE: u32 = 0o600;
/// How long a writer waits for the lock. Others hold it for milliseconds, so half a minute means that one of them hangs;
/// the call then fails with a conflict.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(30);
/// The first pause between two attempts; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_micros(200);
/// The longest pause between two attempts, so that a writer notices soon that the lock is free.
const MAX_PAUSE: Duration = Duration::from_millis(10);
/// How much of the journal is read. One path fits; an entry that is longer cannot be ours and is discarded.
const MAX_JOURNAL_BYTES: u64 = 8192;

/// What the journal says about the write in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JournalEntry {
    /// A temporary file is being written; the next writer removes it.
    Temporary,
    /// A file is being appended to; the next writer removes an incomplete character at its end.
    Append,
}

impl JournalEntry {
    const fn keyword(self) -> &'static str {
        match self {
            Self::Temporary => "tmp",
            Self::Append => "add",
        }
    }
}

/// The exclusive right to write. It ends when it is dropped, or with the process.
pub struct WriteLock {
    file: File,
    /// The folder that is reserved for the server.
    folder: Folder,
}

impl WriteLock {
    /// Waits for the lock of a root. `check` fails when the call was cancelled, and ends the waiting.
    pub fn acquire(root: &Root, check: &dyn Fn() -> Result<(), ToolError>) -> Result<Self, ToolError> {
        let top = root.top()?;
        let folder = match rustix::fs::mkdirat(top.fd(), SYSTEM_DIR, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => top.enter(SYSTEM_DIR)?,
            Err(errno) => return Err(errno_error(SYSTEM_DIR, errno)),
        };
        let (started, mut pause) = (Instant::now(), FIRST_PAUSE);
        let file = loop {
            let file = open(&folder)?;
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                // Another process may have replaced the lock file between opening and locking it.
                Ok(()) if is_current(&folder, &file) => break file,
                Ok(()) | Err(Errno::WOULDBLOCK | Errno::INTR) if started.elapsed() < MAX_LOCK_WAIT => {
                    check()?;
                    std::thread::sleep(pause);
                }
                Ok(()) | Err(Errno::WOULDBLOCK | Errno::INTR) => {
                    return Err(
                        LibraryError::conflict(LOCK_PATH, "is held by another writer; try again").into()
                    );
                }
                Err(errno) => return Err(errno_error(LOCK_PATH, errno)),
            }
            pause = (pause * 2).min(MAX_PAUSE);
        };
        let mut lock = Self { file, folder };
        lock.recover(root);
        Ok(lock)
    }

    /// The folder that is reserved for the server.
    pub(super) const fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Whether the file system stores who may execute a file. The lock file never has an execute bit, so that one which it
    /// shows is one that all files show.
    pub(super) fn stores_execute_bits(&self) -> bool {
        rustix::fs::fstat(&self.file).is_ok_and(|stat| stat.st_mode & 0o111 == 0)
    }

    /// Records in the journal what is about to be written.
    pub(super) fn begin(&mut self, entry: JournalEntry, path: &str) -> std::io::Result<()> {
        self.clear_journal()?;
        self.file.rewind()?;
        self.file.write_all(format!("{} {path}", entry.keyword()).as_bytes())
    }

    /// Records that no write is in progress any more.
    pub(super) fn clear_journal(&mut self) -> std::io::Result<()> {
        self.file.set_len(0)
    }

    /// Undoes what a killed writer left half-done.
    fn recover(&mut self, root: &Root) {
        let mut journal = String::new();
        let read = self
            .file
            .rewind()
            .and_then(|()| (&self.file).take(MAX_JOURNAL_BYTES).read_to_string(&mut journal));
        if read.is_err() || journal.is_empty() {
            return;
        }
        if let Some((keyword, path)) = journal.split_once(' ')
            && let Ok(path) = RelPath::parse(path)
            && let Ok(folder) = root.folder(path.parent().as_ref())
        {
            let is = |entry: JournalEntry| keyword == entry.keyword();
            if is(JournalEntry::Temporary) && is_temporary(path.name()) {
                folder.remove_file(path.name());
            } else if is(JournalEntry::Append) {
                truncate_incomplete_char(&folder, path.name());
            }
        }
        // If the journal cannot be cleared now, the next writer recovers once more, which changes nothing.
        let _ = self.clear_journal();
    }
}

/// Opens the lock file. It must have a single name: through a hard link, the journal would be written into another file.
fn open(folder: &Folder) -> Result<File, ToolError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder.fd(), LOCK_NAME, flags, Mode::from_raw_mode(LOCK_MODE));
    let file = File::from(file.map_err(|errno| errno_error(LOCK_PATH, errno))?);
    let stat = rustix::fs::fstat(&file).map_err(|errno| errno_error(LOCK_PATH, errno))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_nlink > 1 {
        let problem = "is not a regular file with a single name; remove it";
        return Err(LibraryError::forbidden(LOCK_PATH, problem).into());
    }
    if stat.st_mode & 0o077 != 0 {
        // Earlier versions let everybody read it. It may belong to another user, who then has to do it.
        let _ = rustix::fs::fchmod(&file, Mode::from_raw_mode(LOCK_MODE));
    }
    Ok(file)
}

/// Whether the lock file's name still refers to this open file.
fn is_current(folder: &Folder, file: &File) -> bool {
    let named = rustix::fs::statat(folder.fd(), LOCK_NAME, AtFlags::SYMLINK_NOFOLLOW);
    match (named, rustix::fs::fstat(file)) {
        (Ok(named), Ok(held)) => named.st_ino == held.st_ino && named.st_dev == held.st_dev,
        _ => false,
    }
}

/// Removes the first bytes of a UTF-8 character that an interrupted append left at the end of a file.
fn truncate_incomplete_char(folder: &Folder, name: &str) {
    if !matches!(folder.find(name), Ok(Some((_, EntryKind::File)))) {
        return;
    }
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::openat(folder.fd(), name, flags, Mode::empty()).map(File::from) else {
        return;
    };
    if let (Ok(incomplete @ 1..), Ok(stat)) = (incomplete_char_bytes(&file, name), rustix::fs::fstat(&file)) {
        let size = u64::try_from(stat.st_size).unwrap_or_default();
        let _ = file.set_len(size.saturating_sub(incomplete));
    }
}
