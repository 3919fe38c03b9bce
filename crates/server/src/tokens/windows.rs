//! What the token file needs of Windows. The access control list of the file is not read: the default place is in the user's
//! profile, which other users cannot open, and docs/security.md says so for other places.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Opens a symbolic link or another reparse point itself.
const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;

/// What changes when a file is replaced or edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    created_at: u64,
    changed_at: u64,
    size: u64,
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let (created_at, changed_at) = (metadata.creation_time(), metadata.last_write_time());
        Self { created_at, changed_at, size: metadata.file_size() }
    }
}

/// Opens the file itself: a symbolic link is not followed.
pub(super) fn open_itself(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)
}

/// Why somebody else could read or replace the tokens; not known here.
pub(super) const fn others_can_use(_metadata: &Metadata) -> Option<(&'static str, &'static str)> {
    None
}

/// The file has inherited the rights of its folder.
pub(super) const fn give_to_owner(_file: &File) -> io::Result<()> {
    Ok(())
}

/// The names of files are durable without it, and folders cannot be opened as files.
pub(super) const fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}
