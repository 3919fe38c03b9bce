//! A small file of lines that several processes append to. A lock file beside it orders the writers. A failure is at most
//! logged, because statistics must never make a call fail.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags};

use super::lock::SYSTEM_DIR;
use super::stamp::{FileStamp, stamp_of};

/// How much of the file is read. A thousand records take less than 1 MiB; of a larger file, only the last 4 MiB are
/// read.
const MAX_STATS_BYTES: u64 = 4 << 20;

/// How often a writer tries to get the lock, 2 ms apart; after that the line is not written.
const MAX_LOCK_ATTEMPTS: usize = 50;
/// The pause between two attempts.
const LOCK_PAUSE: Duration = Duration::from_millis(2);

/// A small file of lines.
pub struct StatsFile {
    path: PathBuf,
    /// The vault, which must exist; only the folder directly below it is created.
    vault: Option<PathBuf>,
    /// Whether a failure was logged. It would be the same with every find.
    has_warned: AtomicBool,
    /// Its stamp when this process last read or wrote it.
    last_stamp: Mutex<Option<FileStamp>>,
}

impl StatsFile {
    /// A file at any path; its folder is created.
    pub fn at(path: PathBuf) -> Self {
        Self { path, vault: None, has_warned: AtomicBool::new(false), last_stamp: Mutex::default() }
    }

    /// The file in the reserved folder of a vault. Without a vault, nothing is written.
    pub fn in_vault(vault: PathBuf) -> Self {
        let path = vault.join(SYSTEM_DIR).join("adaptive_stats.jsonl");
        Self { path, vault: Some(vault), has_warned: AtomicBool::new(false), last_stamp: Mutex::default() }
    }

    /// Another file in the same folder, whose name has this ending.
    pub fn beside(&self, ending: &str) -> Self {
        Self {
            path: with_ending(&self.path, ending),
            vault: self.vault.clone(),
            has_warned: AtomicBool::new(false),
            last_stamp: Mutex::default(),
        }
    }

    /// Whether another process changed it since this one last read or wrote it.
    pub fn has_changed(&self) -> bool {
        let now = open(&self.path, OFlags::RDONLY, false).and_then(|file| stamp(&file));
        now != *self.last_stamp()
    }

    /// Its text, with invalid UTF-8 replaced.
    pub fn read(&self) -> Option<String> {
        let mut file = open(&self.path, OFlags::RDONLY, false)?;
        *self.last_stamp() = stamp(&file);
        Some(text_of(&mut file))
    }

    /// Appends a line.
    pub fn append(&self, line: &str) {
        let Some(_lock) = self.lock() else { return };
        let Some(mut file) = open(&self.path, OFlags::RDWR | OFlags::APPEND, true) else { return };
        // An incomplete last line must not be joined with this one.
        let mut last = [b'\n'];
        let ends_line = match file.seek(SeekFrom::End(-1)) {
            Ok(_) => file.read_exact(&mut last).is_ok() && last == [b'\n'],
            Err(_) => true,
        };
        let start = if ends_line { "" } else { "\n" };
        if file.write_all(format!("{start}{line}\n").as_bytes()).is_ok() {
            *self.last_stamp() = stamp(&file);
        }
    }

    /// Replaces the text by what `make` returns for it, and returns whether that succeeded. Something other than a regular
    /// file is left alone.
    pub fn rewrite(&self, make: &mut dyn FnMut(&str) -> String) -> bool {
        let Some(_lock) = self.lock() else { return false };
        let exists = fs::symlink_metadata(&self.path).is_ok();
        let text = match open(&self.path, OFlags::RDWR, false) {
            Some(mut file) => text_of(&mut file),
            None if exists => return false,
            None => String::new(),
        };
        let temporary = with_ending(&self.path, ".tmp");
        let _ = fs::remove_file(&temporary);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let Some(mut file) = open(&temporary, flags, true) else { return false };
        let written =
            file.write_all(make(&text).as_bytes()).and_then(|()| fs::rename(&temporary, &self.path));
        match written {
            Ok(()) => *self.last_stamp() = stamp(&file),
            Err(_) => drop(fs::remove_file(&temporary)),
        }
        written.is_ok()
    }

    fn last_stamp(&self) -> std::sync::MutexGuard<'_, Option<FileStamp>> {
        self.last_stamp.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits up to a tenth of a second for the lock.
    fn lock(&self) -> Option<File> {
        if let Some(vault) = &self.vault {
            if !vault.is_dir() {
                return None;
            }
            let folder = self.path.parent()?;
            // A symbolic link could lead out of the vault.
            match fs::symlink_metadata(folder) {
                Ok(found) if found.is_dir() => {}
                Ok(_) => return None,
                Err(_) => fs::create_dir(folder).ok()?,
            }
        } else if let Some(folder) = self.path.parent()
            && let Err(error) = fs::create_dir_all(folder)
        {
            self.warn(&format!("its folder cannot be created: {error}"));
            return None;
        }
        let lock = open(&with_ending(&self.path, ".lock"), OFlags::RDWR, true);
        if lock.is_none() && self.vault.is_none() {
            self.warn("no file can be created in its folder");
        }
        let file = lock?;
        for _ in 0..MAX_LOCK_ATTEMPTS {
            if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
                return Some(file);
            }
            std::thread::sleep(LOCK_PAUSE);
        }
        None
    }

    /// Logs once why the statistics are not kept.
    fn warn(&self, problem: &str) {
        if !self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(path = %self.path.display(), "the statistics of searches are not kept in ADAPTIVE_STATS_PATH: {problem}");
        }
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Opens a regular file, without following a link.
fn open(path: &Path, flags: OFlags, create: bool) -> Option<File> {
    let mut options = OpenOptions::new();
    options.read(!flags.contains(OFlags::WRONLY)).write(flags.intersects(OFlags::RDWR | OFlags::WRONLY));
    options.append(flags.contains(OFlags::APPEND)).create(create && !flags.contains(OFlags::EXCL));
    options.create_new(flags.contains(OFlags::EXCL)).mode(0o600);
    let extra = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits();
    let file = options.custom_flags(i32::try_from(extra).ok()?).open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

fn stamp(file: &File) -> Option<FileStamp> {
    stamp_of(file, "").ok()
}

/// The last part of a file, with invalid UTF-8 replaced.
fn text_of(file: &mut File) -> String {
    let size = file.metadata().map_or(0, |data| data.len());
    let _ = file.seek(SeekFrom::Start(size.saturating_sub(MAX_STATS_BYTES)));
    let mut bytes = Vec::new();
    let _ = file.take(MAX_STATS_BYTES).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
