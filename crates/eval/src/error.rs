//! Why an evaluation cannot be finished.

use annai_core::{ErrorKind, ToolError};

/// Why an evaluation cannot be finished: a file that is wrong, or a call that failed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct EvalError {
    /// What kind of failure it is; wrong files are [`ErrorKind::InvalidParameter`].
    pub kind: ErrorKind,
    /// A sentence for the user.
    pub message: String,
}

impl EvalError {
    /// Something is wrong with a file or an argument.
    #[must_use]
    pub const fn input(message: String) -> Self {
        Self { kind: ErrorKind::InvalidParameter, message }
    }

    /// The same error, with what it is about in front of it.
    #[must_use]
    pub fn about(self, subject: &str) -> Self {
        Self { message: format!("{subject}: {}", self.message), ..self }
    }
}

impl From<ToolError> for EvalError {
    fn from(error: ToolError) -> Self {
        Self { kind: error.kind(), message: error.message().to_owned() }
    }
}
