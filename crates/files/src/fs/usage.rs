//! What a vault holds, as all processes that write to it know it: a small file beside the lock. Only the holder of the lock
//! reads and writes it. A file that is missing or damaged means that nothing is known, and the vault is measured again.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{FileType, Mode, OFlags};

use super::lock::WriteLock;

const USAGE_NAME: &str = "usage";
/// Only the owner of the vault has to know it.
const USAGE_MODE: u32 = 0o600;
/// How much of the file is read: three numbers fit.
const MAX_USAGE_BYTES: u64 = 128;

/// What a vault holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// The size of all files together, in bytes.
    pub bytes: u64,
    /// The number of files.
    pub files: u64,
    /// When it was measured, in seconds since 1970. Writes since then are added.
    measured: u64,
}

impl Usage {
    /// What was measured just now.
    pub fn measured_now(bytes: u64, files: u64) -> Self {
        Self { bytes, files, measured: now() }
    }

    /// How long ago it was measured; `None` when the clock was set back since.
    pub fn age(&self) -> Option<Duration> {
        now().checked_sub(self.measured).map(Duration::from_secs)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.strip_suffix('\n')?.split(' ').map(|number| number.parse().ok());
        let usage = Self { bytes: numbers.next()??, files: numbers.next()??, measured: numbers.next()?? };
        numbers.next().is_none().then_some(usage)
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

impl WriteLock {
    /// What the vault holds, if it is known.
    pub fn usage(&self) -> Option<Usage> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(self.folder().fd(), USAGE_NAME, flags, Mode::empty()).ok()?;
        let stat = rustix::fs::fstat(&file).ok()?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return None;
        }
        let mut text = String::new();
        File::from(file).take(MAX_USAGE_BYTES).read_to_string(&mut text).ok()?;
        Usage::parse(&text)
    }

    /// Records what the vault will hold after the write that follows, or that it is not known. When that cannot be recorded,
    /// it is not known, and the next writer measures.
    pub fn record_usage(&self, usage: Option<Usage>) {
        // The file is replaced and not changed, because a hard link could lead to another one.
        self.folder().remove_file(USAGE_NAME);
        let Some(Usage { bytes, files, measured }) = usage else { return };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(USAGE_MODE);
        if let Ok(file) = rustix::fs::openat(self.folder().fd(), USAGE_NAME, flags, mode) {
            let _ = File::from(file).write_all(format!("{bytes} {files} {measured}\n").as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_complete_record_is_read() {
        let usage = Usage { bytes: 10, files: 2, measured: 1_700_000_000 };
        assert_eq!(Usage::parse("10 2 1700000000\n"), Some(usage));
        for damaged in ["", "10", "10 2 1700000000", "10 2\n", "10 2 x\n", "10 2 3 4\n", "-1 2 3\n"] {
            assert_eq!(Usage::parse(damaged), None, "{damaged:?}");
        }
    }
}
