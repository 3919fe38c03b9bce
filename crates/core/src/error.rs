//! The one error of all tools: what the caller may read, apart from what caused it.

use std::error::Error as StdError;
use std::fmt;

use serde_json::Value;

use crate::JsonObject;

type Source = Box<dyn StdError + Send + Sync>;

/// What kind of failure it is; the code that clients see is derived from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// An argument is missing, unknown, of the wrong type or out of range.
    InvalidParameter,
    /// What was named does not exist.
    NotFound,
    /// A path that no file of ours can have.
    InvalidPath,
    /// A path that leads outside its root.
    OutOfScope,
    /// Understood, and not allowed.
    Forbidden,
    /// A scope that does not fit the thing it is asked of.
    InvalidScope,
    /// The state is not what the caller assumed.
    Conflict,
    /// No identity, or not a good one.
    Unauthorized,
    /// Something has to be set up first.
    NotConfigured,
    /// Too many calls in too little time.
    RateLimited,
    /// A server that we depend on failed.
    Upstream,
    /// The call's time ran out.
    TimedOut,
    /// The caller no longer wants the answer.
    Cancelled,
    /// Our own fault.
    Internal,
}

impl ErrorKind {
    /// The code in `{code, message, details?}`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::InvalidParameter => "invalid_parameter",
            Self::NotFound => "not_found",
            Self::InvalidPath => "invalid_path",
            Self::OutOfScope => "out_of_scope",
            Self::Forbidden => "forbidden",
            Self::InvalidScope => "invalid_scope",
            Self::Conflict => "conflict",
            Self::Unauthorized => "unauthorized",
            Self::NotConfigured => "not_configured",
            Self::RateLimited => "rate_limited",
            Self::Upstream => "upstream_error",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Internal => "internal",
        }
    }
}

/// A failed call: a kind, a sentence for the caller, optional details, and a private cause.
#[derive(Debug)]
pub struct ToolError {
    kind: ErrorKind,
    message: String,
    details: Option<Value>,
    source: Option<Source>,
}

impl ToolError {
    /// An error whose sentence the caller may read.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), details: None, source: None }
    }

    /// An argument that does not fit.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidParameter, message)
    }

    /// A failure of a server that we depend on; the cause stays private.
    pub fn upstream(message: impl Into<String>, source: impl Into<Source>) -> Self {
        Self::new(ErrorKind::Upstream, message).because(source)
    }

    /// Our own fault; the cause is logged, never shown.
    pub fn internal(source: impl Into<Source>) -> Self {
        Self::new(ErrorKind::Internal, "internal error; the server's log has the cause").because(source)
    }

    /// The caller no longer wants the answer.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "the call was cancelled")
    }

    /// Adds what a program can read.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// Adds the private cause.
    #[must_use]
    pub fn because(mut self, source: impl Into<Source>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What kind of failure it is.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The sentence for the caller.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The toolset's own failure that this error was made from, for [`crate::Toolset::wire`].
    #[must_use]
    pub fn failure<F: StdError + 'static>(&self) -> Option<&F> {
        self.source.as_deref().and_then(|source| (source as &dyn StdError).downcast_ref())
    }

    /// What a program can read, if anything.
    #[must_use]
    pub const fn details(&self) -> Option<&Value> {
        self.details.as_ref()
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for ToolError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// How a failure looks on the wire; a toolset chooses the form for its tools.
#[derive(Debug, Clone, PartialEq)]
pub enum WireError {
    /// A JSON-RPC error with its own code.
    Rpc {
        /// The JSON-RPC error code.
        code: i32,
        /// The JSON-RPC error message.
        message: String,
        /// The JSON-RPC error data.
        data: Option<Value>,
    },
    /// A result with `isError: true` that holds `{code, message, details?}`.
    Result {
        /// A word for programs.
        code: String,
        /// A sentence for people.
        message: String,
        /// What a program can read.
        details: Option<Value>,
    },
    /// An HTTP status with a JSON body, for toolsets that also have REST routes. MCP has no such form, so there it
    /// becomes a result with the status among its details.
    Http {
        /// The HTTP status code.
        status: u16,
        /// A word for programs.
        code: String,
        /// A sentence for people.
        message: String,
        /// What a program can read.
        details: Option<Value>,
    },
}

impl WireError {
    /// The second form, straight from the error.
    #[must_use]
    pub fn result(error: &ToolError) -> Self {
        Self::Result {
            code: error.kind.code().to_owned(),
            message: error.message.clone(),
            details: error.details.clone(),
        }
    }

    /// The second form of any: peers of 2026-07-28 keep JSON-RPC's own codes for the protocol, so a tool's code moves
    /// into `details`.
    #[must_use]
    pub fn into_result(self, kind: ErrorKind) -> Self {
        match self {
            Self::Rpc { code, message, data } => {
                let details = Some(with_member("code", code.into(), "data", data));
                Self::Result { code: kind.code().to_owned(), message, details }
            }
            Self::Http { status, code, message, details } => {
                let details = Some(with_member("status", status.into(), "details", details));
                Self::Result { code, message, details }
            }
            result @ Self::Result { .. } => result,
        }
    }
}

/// `{key: value}` joined with the members of `more`; where that is no object, it becomes the member `otherwise`.
fn with_member(key: &str, value: Value, otherwise: &str, more: Option<Value>) -> Value {
    let mut object = JsonObject::from_iter([(key.to_owned(), value)]);
    match more {
        Some(Value::Object(more)) => object.extend(more.into_iter().filter(|(name, _)| name != key)),
        Some(other) => drop(object.insert(otherwise.to_owned(), other)),
        None => {}
    }
    Value::Object(object)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_cause_is_not_part_of_the_sentence() {
        let error = ToolError::upstream("search is unavailable", "key sk-123 refused");
        assert_eq!(error.to_string(), "search is unavailable");
        assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("key sk-123 refused"));
    }

    #[test]
    fn a_json_rpc_code_moves_into_the_details() {
        let wire = WireError::Rpc {
            code: -32050,
            message: "openai responses failed".into(),
            data: Some(json!({ "retries": 3 })),
        };
        assert_eq!(
            wire.into_result(ErrorKind::Upstream),
            WireError::Result {
                code: "upstream_error".into(),
                message: "openai responses failed".into(),
                details: Some(json!({ "code": -32050, "retries": 3 })),
            }
        );
        let wire = WireError::Http {
            status: 402,
            code: "payment_required".into(),
            message: "the budget is spent".into(),
            details: None,
        };
        assert_eq!(
            wire.into_result(ErrorKind::Conflict),
            WireError::Result {
                code: "payment_required".into(),
                message: "the budget is spent".into(),
                details: Some(json!({ "status": 402 })),
            }
        );
    }

    #[derive(Debug, thiserror::Error, PartialEq)]
    #[error("the key is missing")]
    struct KeyMissing;

    #[test]
    fn a_toolsets_own_failure_can_be_found_again() {
        let error = ToolError::new(ErrorKind::NotConfigured, "set KEY first").because(KeyMissing);
        assert_eq!(error.failure::<KeyMissing>(), Some(&KeyMissing));
        assert_eq!(ToolError::cancelled().failure::<KeyMissing>(), None);
    }
}
