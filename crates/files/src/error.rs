//! The errors of the library. Each becomes a [`ToolError`] of one kind, with a sentence for the caller; an error about a
//! path or a manual names it in the details.

use std::borrow::Cow;

use annai_core::{ErrorKind, ToolError};
use serde_json::{Value, json};

/// An error of the library's tools.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum LibraryError {
    /// An argument with an invalid value.
    #[error("{argument}: {problem}")]
    InvalidArgument {
        /// The name of the argument, with the names of the objects around it.
        argument: Cow<'static, str>,
        /// What is wrong with it, and what was expected.
        problem: String,
    },
    /// An argument that this call needs.
    #[error("{argument} is required {condition}")]
    MissingArgument {
        /// The argument's name.
        argument: &'static str,
        /// When it is required.
        condition: &'static str,
    },
    /// A text that is not a relative path.
    #[error("\"{shown}\" {problem}; give a path below the root, such as notes/plan.md")]
    InvalidPath {
        /// The text, shortened and without control characters.
        shown: String,
        /// Why it is not a valid path.
        problem: &'static str,
    },
    /// A path that does not exist, leads elsewhere, or is not in the state that the call needs.
    #[error("{path} {problem}")]
    Path {
        /// What kind of problem it is.
        kind: ErrorKind,
        /// The path, or the id of a section.
        path: String,
        /// What is wrong with it, and what to do, as the rest of a sentence that starts with the path.
        problem: String,
    },
    /// An id that no manual can have.
    #[error(
        "manual_id: expected the name of a manual, without separators or `..`; manual_list returns the ids"
    )]
    InvalidManualId,
    /// An id that several manuals match.
    #[error(
        "manual_id: several manuals have names that differ only in their Unicode normalization form; give the exact name"
    )]
    AmbiguousManualId,
    /// An id that no manual has.
    #[error("manual_id: no manual is named \"{id}\"; there are: {known}")]
    ManualNotFound {
        /// The id, shortened.
        id: String,
        /// The ids of the first manuals.
        known: String,
    },
    /// An id whose folder is a link.
    #[error(
        "manual_id: the folder of \"{id}\" is a symbolic link, and links among the manuals are not followed; start the server with --manual-dir ID=DIR, which names the folder that it leads to"
    )]
    LinkedManual {
        /// The id.
        id: String,
    },
    /// A manual that was given by name and whose folder does not exist.
    #[error(
        "the folder {folder} of the manual \"{id}\" does not exist; correct --manual-dir or library.manual_dirs"
    )]
    NamedManualNotFound {
        /// The id.
        id: String,
        /// The folder.
        folder: String,
    },
    /// A folder of manuals that does not exist.
    #[error("the manuals folder {folder} does not exist; create it, or set MANUALS_ROOT or --manuals")]
    ManualsFolderNotFound {
        /// The folder.
        folder: String,
    },
    /// A folder of manuals that cannot be opened.
    #[error(
        "the manuals folder {folder} cannot be opened ({cause}); correct that, or set MANUALS_ROOT or --manuals"
    )]
    ManualsFolderClosed {
        /// The folder.
        folder: String,
        /// What the system says.
        cause: String,
    },
    /// There is no vault, and nobody chose a folder for one.
    #[error(
        "no vault is set; choose the folder that the tools may read and change: start the program with --vault DIR, or set VAULT_ROOT or WORKSPACE_ROOT"
    )]
    VaultNotSet,
    /// The vault does not exist.
    #[error("the vault {folder} does not exist; create the folder, or set VAULT_ROOT or --vault")]
    VaultNotFound {
        /// Its folder.
        folder: String,
    },
    /// The vault cannot be opened.
    #[error("the vault {folder} cannot be opened: {cause}; set VAULT_ROOT")]
    VaultClosed {
        /// Its folder.
        folder: String,
        /// What the system says.
        cause: String,
    },
    /// A trace that is not kept, or belongs to another principal.
    #[error(
        "{argument}: no trace with this id is kept for you (traces expire after {ttl_secs} s, and only the newest {max_kept} are kept); call manual_find or vault_find again"
    )]
    TraceNotFound {
        /// The argument that names it.
        argument: &'static str,
        /// How long traces are kept, in seconds.
        ttl_secs: u64,
        /// How many traces are kept.
        max_kept: usize,
    },
}

impl LibraryError {
    /// An argument with an invalid value.
    pub fn invalid(argument: impl Into<Cow<'static, str>>, problem: impl Into<String>) -> Self {
        Self::InvalidArgument { argument: argument.into(), problem: problem.into() }
    }

    fn path(kind: ErrorKind, path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Path { kind, path: path.into(), problem: problem.into() }
    }

    /// A path that leads to something else, such as a folder instead of a file.
    pub fn wrong_path(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::path(ErrorKind::InvalidPath, path, problem)
    }

    /// A path or a section that does not exist.
    pub fn not_found(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::path(ErrorKind::NotFound, path, problem)
    }

    /// A path that leaves its root.
    pub fn out_of_scope(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::path(ErrorKind::OutOfScope, path, problem)
    }

    /// An operation that is not allowed on a path.
    pub fn forbidden(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::path(ErrorKind::Forbidden, path, problem)
    }

    /// A scope that the type of the file does not support.
    pub fn invalid_scope(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::path(ErrorKind::InvalidScope, path, problem)
    }

    /// A file whose state is not what the caller assumed.
    pub fn conflict(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::path(ErrorKind::Conflict, path, problem)
    }

    const fn kind(&self) -> ErrorKind {
        match self {
            Self::InvalidArgument { .. } | Self::MissingArgument { .. } => ErrorKind::InvalidParameter,
            Self::InvalidPath { .. } | Self::InvalidManualId => ErrorKind::InvalidPath,
            Self::Path { kind, .. } => *kind,
            Self::ManualNotFound { .. }
            | Self::NamedManualNotFound { .. }
            | Self::LinkedManual { .. }
            | Self::ManualsFolderNotFound { .. }
            | Self::VaultNotFound { .. }
            | Self::TraceNotFound { .. } => ErrorKind::NotFound,
            Self::VaultNotSet => ErrorKind::NotConfigured,
            Self::ManualsFolderClosed { .. } | Self::VaultClosed { .. } => ErrorKind::Forbidden,
            Self::AmbiguousManualId => ErrorKind::Conflict,
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Path { path, .. } => Some(json!({ "path": path })),
            Self::ManualNotFound { id, .. }
            | Self::NamedManualNotFound { id, .. }
            | Self::LinkedManual { id } => Some(json!({ "manual_id": id })),
            _ => None,
        }
    }
}

impl From<LibraryError> for ToolError {
    fn from(error: LibraryError) -> Self {
        let tool_error = Self::new(error.kind(), error.to_string());
        match error.details() {
            Some(details) => tool_error.with_details(details),
            None => tool_error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_has_its_kind_sentence_and_details() {
        for (error, kind, message, details) in [
            (
                LibraryError::conflict("a.md", "already exists"),
                ErrorKind::Conflict,
                "a.md already exists",
                Some(json!({ "path": "a.md" })),
            ),
            (
                LibraryError::invalid("query", "expected letters"),
                ErrorKind::InvalidParameter,
                "query: expected letters",
                None,
            ),
            (
                LibraryError::ManualNotFound { id: "x".into(), known: "a, b".into() },
                ErrorKind::NotFound,
                "manual_id: no manual is named \"x\"; there are: a, b",
                Some(json!({ "manual_id": "x" })),
            ),
            (
                LibraryError::MissingArgument { argument: "range", condition: "unless full is true" },
                ErrorKind::InvalidParameter,
                "range is required unless full is true",
                None,
            ),
        ] {
            let error = ToolError::from(error);
            assert_eq!((error.kind(), error.message(), error.details()), (kind, message, details.as_ref()));
        }
    }
}
