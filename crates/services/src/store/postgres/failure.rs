//! Failures of use cases: rules that were broken, and databases that cannot be used.

use std::time::Duration;

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;

use super::tls::TlsError;
use crate::domain::text::{FieldError, Problem};
use crate::error::ServicesError;

/// Why a use case failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// By the rules.
    #[error(transparent)]
    Rule(#[from] ServicesError),
    /// Because of the database.
    #[error(transparent)]
    Database(#[from] tokio_postgres::Error),
    /// Because there was no connection.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// Because no encrypted connection can be made.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Because the database did not answer in time.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// Because the connection broke while the transaction was being committed: nobody knows whether it was.
    #[error("the outcome of a commit is unknown: {0}")]
    UnknownOutcome(Box<Failure>),
}

impl From<FieldError> for Failure {
    fn from(error: FieldError) -> Self {
        Self::Rule(error.into())
    }
}

impl Failure {
    /// Something in the database that this program cannot have written.
    pub fn unreadable(what: &str) -> Self {
        Self::Rule(ServicesError::internal(format!("the database has {what} that cannot be read")))
    }

    /// The code of the server's error, if the server answered with one.
    fn state(&self) -> Option<&SqlState> {
        match self {
            Self::Database(error) | Self::Pool(PoolError::Backend(error)) => error.code(),
            _ => None,
        }
    }

    /// Whether the same use case may succeed when it is tried again at once. Nothing of it has happened.
    pub fn is_transient(&self) -> bool {
        match self.state() {
            // Two transactions met. A unique value that another transaction has just taken is found by the next try.
            Some(state) => {
                [
                    SqlState::T_R_SERIALIZATION_FAILURE,
                    SqlState::T_R_DEADLOCK_DETECTED,
                    SqlState::UNIQUE_VIOLATION,
                ]
                .contains(state)
                    || self.is_connection_lost()
            }
            None => self.is_connection_lost(),
        }
    }

    /// Whether the connection must not be used again: it is closed, silent, or leads to a server that cannot be written to.
    pub fn is_connection_lost(&self) -> bool {
        match self {
            Self::Database(error) => match error.code() {
                Some(state) => {
                    [
                        SqlState::ADMIN_SHUTDOWN,
                        SqlState::CRASH_SHUTDOWN,
                        SqlState::CANNOT_CONNECT_NOW,
                        SqlState::READ_ONLY_SQL_TRANSACTION,
                        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
                        // A pooler in between has changed the server behind the connection.
                        SqlState::INVALID_SQL_STATEMENT_NAME,
                    ]
                    .contains(state)
                        || state.code().starts_with("08")
                }
                None => error.is_closed() || has_io_error(error),
            },
            _ => false,
        }
    }

    /// The error for the caller. The details are only logged.
    pub fn into_error(self) -> ServicesError {
        if let Self::Rule(error) = self {
            return error;
        }
        if let Self::UnknownOutcome(_) = &self {
            let problem = "the connection to the database was lost while a change was being recorded, so it may or may not have been made; look before repeating it";
            return ServicesError::unavailable(problem, self);
        }
        if self.state() == Some(&SqlState::CHARACTER_NOT_IN_REPERTOIRE) {
            return Problem::new("must not contain NUL characters").of("text").into();
        }
        match self.problem() {
            Some(problem) => ServicesError::unavailable(problem, self),
            None => ServicesError::internal(self.to_log()),
        }
    }

    /// What is wrong with the database and what to do, or nothing for a bug of this program.
    fn problem(&self) -> Option<&'static str> {
        const AWAY: &str = "the database cannot be reached; check that it runs, or try again in a moment";
        const INSECURE: &str =
            "no secure connection to the database can be made; check sslmode and sslrootcert of its URL";
        let Some(state) = self.state() else {
            return match self {
                Self::Pool(PoolError::Timeout(deadpool_postgres::TimeoutType::Wait)) => {
                    Some("all connections to the database are in use; try again in a moment")
                }
                Self::TimedOut(_) => Some("the database did not answer in time; try again in a moment"),
                Self::Tls(_) => Some(INSECURE),
                // The library tells its own kinds of errors apart by their texts only.
                Self::Pool(PoolError::Backend(error)) if error.to_string().contains("TLS") => Some(INSECURE),
                Self::Pool(_) => Some(AWAY),
                Self::Database(error) if error.is_closed() || has_io_error(error) => Some(AWAY),
                _ => None,
            };
        };
        Some(match state.code() {
            "57014" => "the database took too long; try again in a moment",
            "55P03" => "the database is locked by another program; try again in a moment",
            "40001" | "40P01" => "the database is busy with other changes; try again in a moment",
            "25006" => "the database is read-only at present; try again when the primary server is back",
            "53100" => "the disk of the database is full; free some space and try again",
            "53300" => "the database accepts no more connections; try again in a moment",
            "28000" | "28P01" => "the database refuses this program; check user and password of its URL",
            "3D000" => "the database does not exist on its server; create it, or correct its URL",
            "42501" => "the user of the database lacks a permission; let it own the tables of this program",
            code if code.starts_with("08") || code.starts_with("57P") => AWAY,
            code if code.starts_with("53") => "the database is short of resources; try again in a moment",
            _ => return None,
        })
    }

    /// The failure with its causes, for the log.
    fn to_log(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        text
    }
}

/// Whether an error of the client, not of the server, comes from the network.
fn has_io_error(error: &tokio_postgres::Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if error.is::<std::io::Error>() {
            return true;
        }
        cause = error.source();
    }
    false
}
