//! File stamps: the metadata by which a changed file is recognized without reading it.

use std::fs::File;

use annai_core::ToolError;
use rustix::fs::Stat;
use serde::{Deserialize, Serialize};

use super::io_error::errno_error;

/// The metadata that differs between two versions of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileStamp {
    /// The size in bytes.
    pub size: u64,
    /// The modification time (mtime), in nanoseconds since 1970.
    pub modified: i64,
    /// The status change time (ctime), in nanoseconds since 1970. Unlike the mtime, no program can set it.
    pub changed: i64,
    /// The inode number.
    pub inode: u64,
}

impl FileStamp {
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

/// The stamp of an open file.
pub fn stamp_of(file: &File, path: &str) -> Result<FileStamp, ToolError> {
    Ok(FileStamp::of(&rustix::fs::fstat(file).map_err(|errno| errno_error(path, errno))?))
}
