//! What the system says, in words that a caller can use.

use annai_core::{ErrorKind, ToolError};
use rustix::io::Errno;

use crate::error::LibraryError;

/// An error of the system about a path.
pub fn problem(path: &str, errno: Errno) -> ToolError {
    let failure = match errno {
        Errno::NOENT => LibraryError::not_found(path, "does not exist"),
        Errno::LOOP => LibraryError::out_of_scope(path, "is a symbolic link, and links are not followed"),
        Errno::NOTDIR => LibraryError::wrong_path(path, "leads through something that is not a folder"),
        Errno::ISDIR => LibraryError::wrong_path(path, "is a folder, not a file"),
        Errno::NAMETOOLONG => LibraryError::wrong_path(path, "is too long for this disk"),
        Errno::ILSEQ | Errno::INVAL => {
            LibraryError::wrong_path(path, "is not a name that this disk can hold")
        }
        Errno::ACCESS | Errno::PERM => {
            LibraryError::forbidden(path, "is not open to this process (permission denied)")
        }
        Errno::ROFS => LibraryError::forbidden(path, "is on a disk that can only be read"),
        Errno::NOSPC | Errno::DQUOT => LibraryError::conflict(path, "was not written: the disk is full"),
        Errno::FBIG => {
            LibraryError::conflict(path, "was not written: it would be larger than is allowed here")
        }
        Errno::EXIST => LibraryError::conflict(path, "exists already"),
        Errno::MFILE | Errno::NFILE => {
            LibraryError::conflict(path, "was not opened: too many files are open; try again")
        }
        _ => return unknown(path, std::io::Error::from(errno)),
    };
    failure.into()
}

/// The same for an error of the standard library.
pub fn io_problem(path: &str, error: std::io::Error) -> ToolError {
    match Errno::from_io_error(&error) {
        Some(errno) => problem(path, errno),
        None => unknown(path, error),
    }
}

/// An error that no caller can do anything about.
fn unknown(path: &str, error: std::io::Error) -> ToolError {
    ToolError::new(ErrorKind::Internal, format!("{path} could not be used: {error}")).because(error)
}
