//! The failures of this crate. [`crate::wire`] gives each of them its form on the wire.

use std::sync::Arc;

use annai_core::{ErrorKind, Fault, JsonObject, ToolError};
use serde_json::{Value, json};

use crate::config::PROFILE_REQUIRED;
use crate::responses::{FailureKind, RequestFailure, whole_seconds};

/// Why a tool of this crate failed. Invalid arguments and the registry's own failures are plain [`ToolError`]s.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AnswersError {
    /// The API key is missing or cannot be a key.
    #[error("{problem}; {}", key_fix(env))]
    KeyMissing {
        /// The environment variable that should contain the key.
        env: String,
        /// What is wrong with its value.
        problem: String,
    },
    /// The model profile of `answer` is null.
    #[error("{PROFILE_REQUIRED}")]
    ProfileMissing,
    /// Another setting is wrong; the text names its key.
    #[error("{0}")]
    Settings(String),
    /// The request to the API failed.
    #[error("{0}")]
    Request(Arc<RequestFailure>),
}

/// How to set the API key.
fn key_fix(env: &str) -> String {
    format!("set {env} to an OpenAI API key in the environment of this server")
}

/// The key that the text about a wrong setting begins with.
fn settings_key(problem: &str) -> Option<&str> {
    let key = problem.split([' ', ':']).next().unwrap_or_default();
    key.contains('.').then_some(key)
}

impl AnswersError {
    /// The kind of the tool error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::KeyMissing { .. } | Self::ProfileMissing | Self::Settings(_) => ErrorKind::NotConfigured,
            Self::Request(failure) => match (failure.kind, failure.status) {
                (FailureKind::Timeout, _) => ErrorKind::TimedOut,
                (FailureKind::HttpStatus, Some(401 | 403)) => ErrorKind::Unauthorized,
                _ if failure.is_quota_exhausted => ErrorKind::Upstream,
                (FailureKind::HttpStatus, Some(429)) => ErrorKind::RateLimited,
                (FailureKind::Incomplete, _) if failure.is_rate_limited => ErrorKind::RateLimited,
                _ => ErrorKind::Upstream,
            },
        }
    }

    /// The details for programs, if there are any.
    pub fn details(&self) -> Option<JsonObject> {
        let members: Vec<(&str, Value)> = match self {
            Self::KeyMissing { env, .. } => vec![("env", json!(env)), ("fix", key_fix(env).into())],
            Self::ProfileMissing => vec![("key", "model_profiles.answer".into())],
            Self::Settings(problem) => vec![("key", settings_key(problem)?.into())],
            Self::Request(failure) => {
                let mut members =
                    vec![("retries", failure.retries.into()), ("reason", failure.reason().into())];
                members.extend(failure.status.map(|status| ("status", status.into())));
                members.extend(failure.retry_after.map(|wait| ("retry_after", whole_seconds(wait).into())));
                members
            }
        };
        Some(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

impl From<AnswersError> for ToolError {
    fn from(error: AnswersError) -> Self {
        // A request to the API uses the key and the quota of this server, so even its refusal is no fault of the caller.
        let tool_error = Self::new(error.kind(), error.to_string()).with_fault(Fault::Server);
        let tool_error = match error.details() {
            Some(details) => tool_error.with_details(details.into()),
            None => tool_error,
        };
        tool_error.because(error)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn status(status: u16) -> RequestFailure {
        RequestFailure { status: Some(status), ..RequestFailure::new(FailureKind::HttpStatus, "no") }
    }

    #[test]
    fn the_kind_follows_from_the_failure() {
        let quota = RequestFailure { is_quota_exhausted: true, ..status(429) };
        let incomplete = RequestFailure::new(FailureKind::Incomplete, "no");
        let limited = RequestFailure { is_rate_limited: true, ..incomplete.clone() };
        for (failure, kind) in [
            (status(401), ErrorKind::Unauthorized),
            (status(403), ErrorKind::Unauthorized),
            (status(429), ErrorKind::RateLimited),
            (quota, ErrorKind::Upstream),
            (status(500), ErrorKind::Upstream),
            (incomplete, ErrorKind::Upstream),
            (limited, ErrorKind::RateLimited),
            (RequestFailure::new(FailureKind::Timeout, "no"), ErrorKind::TimedOut),
            (RequestFailure::new(FailureKind::Connection, "no"), ErrorKind::Upstream),
        ] {
            assert_eq!(AnswersError::Request(Arc::new(failure.clone())).kind(), kind, "{failure:?}");
        }
    }

    #[test]
    fn a_tool_error_has_the_failure_as_its_source() {
        let failure = RequestFailure {
            retries: 2,
            retry_after: Some(Duration::from_millis(1500)),
            api_message: Some("Slow down.".into()),
            ..status(429)
        };
        let failure = AnswersError::Request(Arc::new(failure));
        let error = ToolError::from(failure.clone());
        assert_eq!((error.kind(), error.message()), (ErrorKind::RateLimited, "no: Slow down."));
        assert_eq!(
            error.details(),
            Some(&json!({ "retries": 2, "reason": "no: Slow down.", "status": 429, "retry_after": 2 }))
        );
        assert_eq!(error.downcast_source(), Some(&failure));
        assert_eq!((error.fault(), ErrorKind::RateLimited.fault()), (Fault::Server, Fault::Caller));
        // The log shows the source.
        assert_eq!(failure.to_string(), "no: Slow down.");
    }
}
