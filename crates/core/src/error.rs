//! The error type of all tools, which separates the message for the caller from the private cause, and the forms that an
//! error takes on the wire.

use std::error::Error as StdError;
use std::fmt;

use serde_json::Value;

use crate::JsonObject;

type Source = Box<dyn StdError + Send + Sync>;

/// The kind of an error; the error code that clients see is derived from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// An argument is missing, unknown, of the wrong type or out of range.
    InvalidParameter,
    /// The named file, manual, tool or other object does not exist.
    NotFound,
    /// The path cannot name a file: it is absolute, contains `..`, or is a directory.
    InvalidPath,
    /// The path leads outside of its root directory.
    OutOfScope,
    /// The caller is not allowed to do this.
    Forbidden,
    /// The scope of the request, such as `section` or `file`, is not available here.
    InvalidScope,
    /// The current state conflicts with what the caller assumed, such as a file that changed meanwhile.
    Conflict,
    /// The caller has no token, or an invalid one.
    Unauthorized,
    /// A required setting, such as an API key, is missing.
    NotConfigured,
    /// Nobody pays for what the caller asked for.
    PaymentRequired,
    /// The caller must do something else first, such as the task of a sponsor.
    PreconditionRequired,
    /// The caller sent too many calls in too short a time.
    RateLimited,
    /// A server that the tool depends on failed.
    Upstream,
    /// The call exceeded its deadline.
    TimedOut,
    /// The caller cancelled the call.
    Cancelled,
    /// Something that this server needs, such as its database, cannot be used at present.
    Unavailable,
    /// A bug or a failure of this server.
    Internal,
}

impl ErrorKind {
    /// The error code for clients, in `{code, message, details?}`.
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
            Self::PaymentRequired => "payment_required",
            Self::PreconditionRequired => "precondition_required",
            Self::RateLimited => "rate_limited",
            Self::Upstream => "upstream_error",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
        }
    }
}

/// Who can do something about an error; it decides the severity of the log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The caller, who sent something that cannot be done.
    Caller,
    /// Whoever runs this server or one that it depends on.
    Server,
}

impl ErrorKind {
    /// Who is usually at fault.
    #[must_use]
    pub const fn fault(self) -> Fault {
        match self {
            Self::InvalidParameter
            | Self::NotFound
            | Self::InvalidPath
            | Self::OutOfScope
            | Self::Forbidden
            | Self::InvalidScope
            | Self::Conflict
            | Self::Unauthorized
            | Self::PaymentRequired
            | Self::PreconditionRequired
            | Self::RateLimited
            | Self::Cancelled => Fault::Caller,
            Self::NotConfigured | Self::Upstream | Self::TimedOut | Self::Unavailable | Self::Internal => {
                Fault::Server
            }
        }
    }
}

/// The error of a tool: a kind, a message for the caller, optional details, and a private cause.
#[derive(Debug)]
pub struct ToolError {
    kind: ErrorKind,
    fault: Fault,
    message: String,
    details: Option<Value>,
    source: Option<Source>,
}

impl ToolError {
    /// An error with a message that the caller may read.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, fault: kind.fault(), message: message.into(), details: None, source: None }
    }

    /// An invalid argument.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidParameter, message)
    }

    /// A failure of a server that the tool depends on. The cause is logged, never sent.
    pub fn upstream(message: impl Into<String>, source: impl Into<Source>) -> Self {
        Self::new(ErrorKind::Upstream, message).because(source)
    }

    /// A bug or a failure of this server. The cause is logged, never sent.
    pub fn internal(source: impl Into<Source>) -> Self {
        Self::new(ErrorKind::Internal, "internal error; the server's log has the cause").because(source)
    }

    /// The caller cancelled the call.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "the call was cancelled")
    }

    /// Says who is at fault, where the kind alone does not tell: a server that the tool depends on may refuse the key of
    /// this server, for example.
    #[must_use]
    pub const fn with_fault(mut self, fault: Fault) -> Self {
        self.fault = fault;
        self
    }

    /// Adds details for programs.
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

    /// The kind of the error.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Who is at fault.
    #[must_use]
    pub const fn fault(&self) -> Fault {
        self.fault
    }

    /// The message for the caller.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The private cause, if it has this type. [`crate::Toolset::wire`] uses it to look at the toolset's own error type.
    #[must_use]
    pub fn downcast_source<E: StdError + 'static>(&self) -> Option<&E> {
        self.source.as_deref().and_then(|source| (source as &dyn StdError).downcast_ref())
    }

    /// The details for programs.
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

/// The private causes of an error, from the outermost to the innermost, for the log and for operators. Causes that only
/// repeat what was said before are left out.
#[must_use]
pub fn causes(error: &dyn StdError) -> Option<String> {
    let mut said = vec![error.to_string()];
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        if said.iter().all(|before| !before.contains(&text)) {
            said.push(text);
        }
        next = cause.source();
    }
    let private = said.get(1..).unwrap_or_default();
    (!private.is_empty()).then(|| private.join(": "))
}

/// What the text of a failed result is. The whole error is in the result's `_meta` too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorText {
    /// The error as JSON.
    Json,
    /// The message alone, for toolsets whose results begin with a sentence.
    Message,
}

/// The form of an error on the wire; each toolset chooses the form for its tools.
#[derive(Debug, Clone, PartialEq)]
pub enum WireError {
    /// A JSON-RPC error.
    Rpc {
        /// The JSON-RPC error code.
        code: i32,
        /// The JSON-RPC error message.
        message: String,
        /// The JSON-RPC error data.
        data: Option<Value>,
    },
    /// A tool result with `isError: true` that contains `{code, message, details?}`.
    Result {
        /// The error code for programs.
        code: String,
        /// The message for people and models.
        message: String,
        /// The details for programs.
        details: Option<Value>,
        /// What the text of the result is.
        text: ErrorText,
    },
    /// An HTTP status with a JSON body, for toolsets that also have REST routes. Over MCP it becomes a
    /// [`WireError::Result`] with the status among its details.
    Http {
        /// The HTTP status code.
        status: u16,
        /// The error code for programs.
        code: String,
        /// The message for people and models.
        message: String,
        /// The details for programs.
        details: Option<Value>,
    },
}

impl WireError {
    /// A [`WireError::Result`] with the code, message and details of the error.
    #[must_use]
    pub fn result(error: &ToolError) -> Self {
        Self::Result {
            code: error.kind.code().to_owned(),
            message: error.message.clone(),
            details: error.details.clone(),
            text: ErrorText::Json,
        }
    }

    /// The same with the message alone as its text.
    #[must_use]
    pub fn message(error: &ToolError) -> Self {
        match Self::result(error) {
            Self::Result { code, message, details, .. } => {
                Self::Result { code, message, details, text: ErrorText::Message }
            }
            other => other,
        }
    }

    /// Converts any form into [`WireError::Result`]. Protocol version 2026-07-28 reserves JSON-RPC errors for the protocol
    /// itself, so there the code of a tool's error moves into `details`.
    #[must_use]
    pub fn into_result(self, kind: ErrorKind) -> Self {
        match self {
            Self::Rpc { code, message, data } => {
                let details = Some(with_member("code", code.into(), "data", data));
                Self::Result { code: kind.code().to_owned(), message, details, text: ErrorText::Json }
            }
            Self::Http { status, code, message, details } => {
                let details = Some(with_member("status", status.into(), "details", details));
                Self::Result { code, message, details, text: ErrorText::Json }
            }
            result @ Self::Result { .. } => result,
        }
    }
}

/// An object with the member `key` and the members of `details`. Details that are not an object become the member
/// `details_key`.
fn with_member(key: &str, value: Value, details_key: &str, details: Option<Value>) -> Value {
    let mut object = JsonObject::from_iter([(key.to_owned(), value)]);
    match details {
        Some(Value::Object(details)) => object.extend(details.into_iter().filter(|(name, _)| name != key)),
        Some(other) => drop(object.insert(details_key.to_owned(), other)),
        None => {}
    }
    Value::Object(object)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn causes_are_the_whole_chain_without_repetition() {
        let inner = std::io::Error::other(std::io::Error::other("the disk is gone"));
        assert_eq!(causes(&ToolError::internal(inner)).as_deref(), Some("the disk is gone"));
        let again = ToolError::new(ErrorKind::Conflict, "taken");
        let outer = ToolError::new(ErrorKind::Conflict, "taken").because(again.because("by somebody"));
        assert_eq!(causes(&outer).as_deref(), Some("by somebody"));
        assert_eq!(causes(&ToolError::cancelled()), None);
    }

    #[test]
    fn the_message_does_not_contain_the_cause() {
        let error = ToolError::upstream("search is unavailable", "key sk-123 refused");
        assert_eq!(error.to_string(), "search is unavailable");
        assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("key sk-123 refused"));
    }

    #[test]
    fn json_rpc_codes_and_http_statuses_move_into_the_details_of_a_result() {
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
                text: ErrorText::Json,
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
                text: ErrorText::Json,
            }
        );
    }

    #[derive(Debug, thiserror::Error, PartialEq)]
    #[error("the key is missing")]
    struct KeyMissing;

    #[test]
    fn the_cause_can_be_downcast_to_the_type_it_was_made_from() {
        let error = ToolError::new(ErrorKind::NotConfigured, "set KEY first").because(KeyMissing);
        assert_eq!(error.downcast_source::<KeyMissing>(), Some(&KeyMissing));
        assert_eq!(ToolError::cancelled().downcast_source::<KeyMissing>(), None);
    }
}
