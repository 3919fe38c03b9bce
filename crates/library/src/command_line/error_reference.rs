//! The errors of the library for the documentation (`annai docs errors`).

use annai_core::ErrorKind;

/// The kinds of error that tools of the library return, and when.
pub const ERRORS: &[(ErrorKind, &str)] = &[
    (
        ErrorKind::InvalidParameter,
        "An argument is missing, unknown, of the wrong type or out of range. The message says what is right.",
    ),
    (
        ErrorKind::InvalidPath,
        "The path is absolute, contains `..` or control characters, is empty or too long, or names a folder where a file is expected.",
    ),
    (ErrorKind::OutOfScope, "The path contains a symbolic link."),
    (ErrorKind::NotFound, "There is no such file, folder, manual, section or trace. `details` names it."),
    (
        ErrorKind::Forbidden,
        "`artifacts/` accepts only `.md` and `.json`; `artifacts/daily/` only `YYYY-MM-DD.md`, created with `vault_create` and then only appended to; `.system/` is reserved. \
         Also: a file that is too large, a whole Markdown file without permission, a special file, a file that is not text in a supported encoding, a change to a vault file that is not UTF-8, missing permissions, a read-only disk.",
    ),
    (ErrorKind::InvalidScope, "The scope does not fit the file, such as a section of a JSON file."),
    (
        ErrorKind::Conflict,
        "The file already exists, does not exist yet, or is no longer the version that you read; the disk is full; or another writer held the lock for too long.",
    ),
    (ErrorKind::NotConfigured, "A folder or a setting is missing. The message says which."),
    (ErrorKind::TimedOut, "The call took longer than `server.call_timeout_ms`."),
    (ErrorKind::Cancelled, "The client cancelled the call."),
    (
        ErrorKind::Unauthorized,
        "The tool is for the owner of the machine, and the caller is not recognized as the owner and has no token with the scope.",
    ),
    (ErrorKind::Internal, "An internal error. The log of the server has the cause."),
];

#[cfg(test)]
mod tests {
    use annai_core::ToolError;

    use super::*;
    use annai_files::LibraryError;

    #[test]
    fn every_kind_of_library_error_is_documented_once() {
        let errors = [
            LibraryError::invalid("a", "b"),
            LibraryError::wrong_path("a", "b"),
            LibraryError::not_found("a", "b"),
            LibraryError::out_of_scope("a", "b"),
            LibraryError::forbidden("a", "b"),
            LibraryError::invalid_scope("a", "b"),
            LibraryError::conflict("a", "b"),
        ];
        for error in errors {
            let kind = ToolError::from(error).kind();
            assert_eq!(ERRORS.iter().filter(|(known, _)| *known == kind).count(), 1, "{kind:?}");
        }
    }
}
