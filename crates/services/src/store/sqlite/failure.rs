//! Failures of use cases: rules that were broken, and databases that cannot be used.

use rusqlite::ErrorCode;

use crate::domain::text::FieldError;
use crate::error::ServicesError;

/// Why a use case failed.
#[derive(Debug)]
pub enum Failure {
    /// By the rules.
    Rule(ServicesError),
    /// Because of the database.
    Database(rusqlite::Error),
}

impl From<ServicesError> for Failure {
    fn from(error: ServicesError) -> Self {
        Self::Rule(error)
    }
}

impl From<FieldError> for Failure {
    fn from(error: FieldError) -> Self {
        Self::Rule(error.into())
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl Failure {
    /// Something in the database that this program cannot have written.
    pub fn unreadable(what: &str) -> Self {
        Self::Rule(ServicesError::internal(format!("the database has {what} that cannot be read")))
    }

    /// Whether the connection should be opened again: the file may have been replaced or repaired meanwhile.
    pub fn needs_new_connection(&self) -> bool {
        let Self::Database(error) = self else { return false };
        !matches!(
            error.sqlite_error_code(),
            None | Some(
                ErrorCode::DatabaseBusy
                    | ErrorCode::DatabaseLocked
                    | ErrorCode::ConstraintViolation
                    | ErrorCode::OperationInterrupted
            )
        )
    }

    /// The error for the caller. The details are only logged.
    pub fn into_error(self) -> ServicesError {
        let error = match self {
            Self::Rule(error) => return error,
            Self::Database(error) => error,
        };
        let problem = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                "the database is locked by another program; try again in a moment"
            }
            Some(ErrorCode::ReadOnly) => {
                "the database is read-only; give this program write access to the file and its folder"
            }
            Some(ErrorCode::DiskFull) => "the disk with the database is full; free some space and try again",
            Some(ErrorCode::SystemIoFailure) => {
                "the disk with the database failed or is full; check it and try again"
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                "the database file is damaged; restore it from a backup, or move it away to begin anew"
            }
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                "the database cannot be opened; check its path and that this program may write there"
            }
            Some(ErrorCode::OutOfMemory) => "there is not enough memory for the database; try again later",
            _ => return ServicesError::internal(error.to_string()),
        };
        ServicesError::unavailable(problem, error)
    }
}
