//! What the token file needs of Unix.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use annai_core::owner_only::others_can_open;
use rustix::fs::OFlags;

/// What changes when a file is replaced or edited, or its mode is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: u64,
    size: u64,
    changed_at: (i64, i64),
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let changed_at = (metadata.ctime(), metadata.ctime_nsec());
        Self { inode: metadata.ino(), size: metadata.size(), changed_at }
    }
}

/// Opens the file itself: a symbolic link is not followed, and nothing waits for the other end of a pipe.
pub(super) fn open_itself(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed()).open(path)
}

/// Why somebody else could read or replace the tokens, and what to do about it.
pub(super) fn others_can_use(metadata: &Metadata) -> Option<(&'static str, &'static str)> {
    if others_can_open(metadata) {
        return Some(("can be read or changed by other users", "take their permissions away (chmod 600)"));
    }
    let is_ours = [rustix::process::geteuid().as_raw(), 0].contains(&metadata.uid());
    (!is_ours).then_some(("belongs to another user", "give it to the user that runs the server (chown)"))
}

/// Gives the owner their rights, which the umask may have taken away.
pub(super) fn give_to_owner(file: &File) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(0o600))
}

/// Makes the names of the files in a folder durable.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
