//! A small file of lines that several processes add to: locked beside it, bounded, and never in anybody's way.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rustix::fs::{FlockOperation, OFlags};

use super::lock::SYSTEM;
use super::root::{Stamp, stamp_of};

/// The maximum size that is read of the file: a thousand records have less than 1 MiB, so a larger file holds something
/// else, and only its end is read.
const MAX_STATS_BYTES: u64 = 4 << 20;

/// A small file of lines.
pub struct StatsFile {
    path: PathBuf,
    /// The folder that must exist, where only the one below it is ours to make.
    inside: Option<PathBuf>,
    /// Its state when we last wrote or read it.
    seen: Mutex<Option<Stamp>>,
}

impl StatsFile {
    /// A file anywhere; its folder must exist.
    pub fn at(path: PathBuf) -> Self {
        Self { path, inside: None, seen: Mutex::default() }
    }

    /// The file in the vault's own folder. Where there is no vault, there is no file.
    pub fn in_vault(vault: PathBuf) -> Self {
        let path = vault.join(SYSTEM).join("adaptive_stats.jsonl");
        Self { path, inside: Some(vault), seen: Mutex::default() }
    }

    /// Whether somebody else changed it since we last read or wrote it.
    pub fn changed(&self) -> bool {
        let now = open(&self.path, OFlags::RDONLY, false).and_then(|file| stamp(&file));
        now != *self.seen()
    }

    /// Its text, as far as it is text.
    pub fn read(&self) -> Option<String> {
        let mut file = open(&self.path, OFlags::RDONLY, false)?;
        *self.seen() = stamp(&file);
        Some(text_of(&mut file))
    }

    /// Adds a line.
    pub fn append(&self, line: &str) {
        let Some(_lock) = self.lock() else { return };
        let Some(mut file) = open(&self.path, OFlags::RDWR | OFlags::APPEND, true) else { return };
        // A line that was cut short must not swallow this one.
        let mut last = [b'\n'];
        let whole = match file.seek(SeekFrom::End(-1)) {
            Ok(_) => file.read_exact(&mut last).is_ok() && last == [b'\n'],
            Err(_) => true,
        };
        let start = if whole { "" } else { "\n" };
        if file.write_all(format!("{start}{line}\n").as_bytes()).is_ok() {
            *self.seen() = stamp(&file);
        }
    }

    /// Replaces the text by another, made from it; whether that worked. What is no file of ours to write is left alone.
    pub fn rewrite(&self, make: &mut dyn FnMut(&str) -> String) -> bool {
        let Some(_lock) = self.lock() else { return false };
        let there = fs::symlink_metadata(&self.path).is_ok();
        let text = match open(&self.path, OFlags::RDWR, false) {
            Some(mut file) => text_of(&mut file),
            None if there => return false,
            None => String::new(),
        };
        let temporary = with_ending(&self.path, ".tmp");
        let _ = fs::remove_file(&temporary);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let Some(mut file) = open(&temporary, flags, true) else { return false };
        let written =
            file.write_all(make(&text).as_bytes()).and_then(|()| fs::rename(&temporary, &self.path));
        match written {
            Ok(()) => *self.seen() = stamp(&file),
            Err(_) => drop(fs::remove_file(&temporary)),
        }
        written.is_ok()
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Option<Stamp>> {
        self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits a little for its turn; without one, nothing is written.
    fn lock(&self) -> Option<File> {
        if let Some(inside) = &self.inside {
            if !inside.is_dir() {
                return None;
            }
            let folder = self.path.parent()?;
            // A link there would lead out of the vault.
            match fs::symlink_metadata(folder) {
                Ok(found) if found.is_dir() => {}
                Ok(_) => return None,
                Err(_) => fs::create_dir(folder).ok()?,
            }
        }
        let file = open(&with_ending(&self.path, ".lock"), OFlags::RDWR, true)?;
        for _ in 0..50 {
            if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
                return Some(file);
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        None
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Opens a regular file, not through a link.
fn open(path: &Path, flags: OFlags, create: bool) -> Option<File> {
    let mut options = OpenOptions::new();
    options.read(!flags.contains(OFlags::WRONLY)).write(flags.intersects(OFlags::RDWR | OFlags::WRONLY));
    options.append(flags.contains(OFlags::APPEND)).create(create && !flags.contains(OFlags::EXCL));
    options.create_new(flags.contains(OFlags::EXCL)).mode(0o600);
    let extra = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits();
    let file = options.custom_flags(i32::try_from(extra).ok()?).open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

fn stamp(file: &File) -> Option<Stamp> {
    stamp_of(file, "").ok()
}

/// The last part of a file, without what is no text.
fn text_of(file: &mut File) -> String {
    let size = file.metadata().map_or(0, |data| data.len());
    let _ = file.seek(SeekFrom::Start(size.saturating_sub(MAX_STATS_BYTES)));
    let mut bytes = Vec::new();
    let _ = file.take(MAX_STATS_BYTES).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
