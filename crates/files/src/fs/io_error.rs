//! Errors of the operating system as sentences that a caller can act on.

use annai_core::{ErrorKind, ToolError};
use rustix::io::Errno;

use crate::error::LibraryError;

/// The problem of a file where a folder is needed.
pub const IS_FILE: &str = "is a file, not a folder";
/// The problem of a folder where a file is needed.
pub const IS_FOLDER: &str = "is a folder, not a file";
/// The problem of a path that nothing exists at.
pub const DOES_NOT_EXIST: &str = "does not exist";
/// The problem of a symbolic link.
pub const IS_LINK: &str = "is a symbolic link, and links are not followed";
/// The problem of a file with several hard links, which an addition would reach through all of them.
pub const HAS_SEVERAL_NAMES: &str = "has several names (hard links), and an addition would change the file under all of them; overwrite it, or create a new file";
/// The problem of a FIFO, a socket or a device.
pub const NOT_REGULAR: &str = "is not a regular file, and is never opened";

/// The error for a system call that failed on a path.
pub fn errno_error(path: &str, errno: Errno) -> ToolError {
    let failure = match errno {
        Errno::NOENT => LibraryError::not_found(path, DOES_NOT_EXIST),
        Errno::LOOP => LibraryError::out_of_scope(path, IS_LINK),
        Errno::NOTDIR => LibraryError::wrong_path(path, "has a parent that is not a folder"),
        Errno::ISDIR => LibraryError::wrong_path(path, IS_FOLDER),
        Errno::NAMETOOLONG => LibraryError::wrong_path(path, "is longer than this file system allows"),
        Errno::ILSEQ | Errno::INVAL => {
            LibraryError::wrong_path(path, "is not a valid name on this file system")
        }
        Errno::ACCESS | Errno::PERM => {
            LibraryError::forbidden(path, "cannot be accessed by this process (permission denied)")
        }
        Errno::ROFS => LibraryError::forbidden(path, "is on a read-only file system"),
        Errno::NOSPC | Errno::DQUOT => LibraryError::conflict(path, "was not written: the disk is full"),
        Errno::FBIG => LibraryError::conflict(
            path,
            "was not written: it would exceed the maximum file size of this system",
        ),
        Errno::EXIST => LibraryError::conflict(path, "already exists"),
        Errno::MFILE | Errno::NFILE => {
            LibraryError::conflict(path, "was not opened: too many files are open; try again")
        }
        _ => return internal(path, std::io::Error::from(errno)),
    };
    failure.into()
}

/// The same for an error of the standard library.
pub fn io_error(path: &str, error: std::io::Error) -> ToolError {
    match Errno::from_io_error(&error) {
        Some(errno) => errno_error(path, errno),
        None => internal(path, error),
    }
}

/// An error that the caller can do nothing about.
fn internal(path: &str, error: std::io::Error) -> ToolError {
    ToolError::new(ErrorKind::Internal, format!("{path} could not be used: {error}")).because(error)
}
