//! The errors that the API answers with.

use serde_json::{Value, json};

/// The error that the API answers a request with.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) message: String,
    pub(super) param: Option<String>,
    pub(super) code: Option<String>,
}

impl Refusal {
    /// An error with this HTTP status.
    pub(super) fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), param: None, code: None }
    }

    /// An error with status 400.
    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }

    /// Adds the error code.
    pub(super) fn code(self, code: impl Into<String>) -> Self {
        Self { code: Some(code.into()), ..self }
    }

    /// Adds the name of the invalid parameter.
    pub(super) fn param(self, param: impl Into<String>) -> Self {
        Self { param: Some(param.into()), ..self }
    }

    /// The body of the response.
    pub(super) fn body(&self) -> Value {
        error_body("invalid_request_error", self.code.as_deref(), self.param.as_deref(), &self.message)
    }
}

/// The body of an error response.
pub(super) fn error_body(kind: &str, code: Option<&str>, param: Option<&str>, message: &str) -> Value {
    json!({ "error": { "message": message, "type": kind, "param": param, "code": code } })
}
