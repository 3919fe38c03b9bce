//! What the system says, in words that a caller can use.

use annai_core::{ErrorKind, ToolError};
use rustix::io::Errno;
use serde_json::json;

/// An error about a path.
pub fn at(kind: ErrorKind, path: &str, what: &str) -> ToolError {
    ToolError::new(kind, format!("{path} {what}")).with_details(json!({ "path": path }))
}

/// An error of the system about a path.
pub fn problem(path: &str, errno: Errno) -> ToolError {
    let (kind, what) = match errno {
        Errno::NOENT => (ErrorKind::NotFound, "does not exist"),
        Errno::LOOP => (ErrorKind::OutOfScope, "is a symbolic link, and links are not followed"),
        Errno::NOTDIR => (ErrorKind::InvalidPath, "leads through something that is not a folder"),
        Errno::ISDIR => (ErrorKind::InvalidPath, "is a folder, not a file"),
        Errno::NAMETOOLONG => (ErrorKind::InvalidPath, "is too long for this disk"),
        Errno::ILSEQ | Errno::INVAL => (ErrorKind::InvalidPath, "is not a name that this disk can hold"),
        Errno::ACCESS | Errno::PERM => {
            (ErrorKind::Forbidden, "is not open to this process (permission denied)")
        }
        Errno::ROFS => (ErrorKind::Forbidden, "is on a disk that can only be read"),
        Errno::NOSPC | Errno::DQUOT => (ErrorKind::Conflict, "was not written: the disk is full"),
        Errno::FBIG => (ErrorKind::Conflict, "was not written: it would be larger than is allowed here"),
        Errno::EXIST => (ErrorKind::Conflict, "exists already"),
        Errno::MFILE | Errno::NFILE => {
            (ErrorKind::Conflict, "was not opened: too many files are open; try again")
        }
        _ => {
            let error = std::io::Error::from(errno);
            let sentence = format!("{path} could not be used: {error}");
            return ToolError::new(ErrorKind::Internal, sentence).because(error);
        }
    };
    at(kind, path, what)
}

/// The same for an error of the standard library.
pub fn io_problem(path: &str, error: std::io::Error) -> ToolError {
    match Errno::from_io_error(&error) {
        Some(errno) => problem(path, errno),
        None => {
            ToolError::new(ErrorKind::Internal, format!("{path} could not be used: {error}")).because(error)
        }
    }
}
