//! Why a request did not lead to an answer. Nothing in a [`RequestFailure`] is secret.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use super::optional_fields::{UnsupportedField, unsupported_fields};
use super::parsed_response::text_of;
use super::redaction::Redactor;
use crate::plain_text::truncate_within;

/// The maximum length of the API's own message in an error, in characters; as in `openai-responses-mcp`. The rest is cut off.
const MAX_MESSAGE_CHARS: usize = 400;

/// The maximum length of the message in the debug log, in characters, so that the body next to it fits into the line. The
/// rest is cut off; the error itself has more of it.
const MAX_LOGGED_MESSAGE_CHARS: usize = 200;

/// The kind of a failed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The connection could not be made, or it broke.
    Connection,
    /// The attempt exceeded its timeout.
    Timeout,
    /// The API answered with a status other than 2xx.
    HttpStatus,
    /// The response cannot be read.
    InvalidResponse,
    /// The response says that it failed or that it is incomplete.
    Incomplete,
}

/// The beginning of the body of a failed response, without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyExcerpt(pub String);

/// A failed request.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestFailure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// What happened and what to do about it, for people.
    pub summary: Box<str>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The API's own message.
    pub api_message: Option<Box<str>>,
    /// The API's error type.
    pub api_type: Option<Box<str>>,
    /// The API's error code.
    pub api_code: Option<Box<str>>,
    /// The beginning of the body, for the debug log.
    pub body: Option<Box<BodyExcerpt>>,
    /// Whether the account has no quota left, so that a retry is useless.
    pub is_quota_exhausted: bool,
    /// Whether the API reported a rate limit.
    pub is_rate_limited: bool,
    /// The optional fields that the API does not support.
    pub unsupported_fields: Box<[UnsupportedField]>,
    /// The wait that the server demands before a retry.
    pub retry_after: Option<Duration>,
    /// Whether the server recommends a retry (`x-should-retry`).
    pub should_retry: Option<bool>,
    /// Whether events of the stream had arrived before the failure.
    pub stream_started: bool,
    /// The number of retries before this failure.
    pub retries: u32,
}

impl RequestFailure {
    /// A failure without details from the API.
    pub fn new(kind: FailureKind, summary: impl Into<Box<str>>) -> Self {
        Self {
            kind,
            summary: summary.into(),
            status: None,
            api_message: None,
            api_type: None,
            api_code: None,
            body: None,
            is_quota_exhausted: false,
            is_rate_limited: false,
            unsupported_fields: Box::default(),
            retry_after: None,
            should_retry: None,
            stream_started: false,
            retries: 0,
        }
    }

    /// A failure with the error that the API sent: an object `{message, type, param, code}` or only a message. The
    /// caller adds the summary.
    pub fn from_api_error(kind: FailureKind, error: &Value, redactor: &Redactor<'_>) -> Self {
        if let Value::String(message) = error {
            return Self::from_api_error(kind, &error_object(message), redactor);
        }
        let text = |key: &str| text_of(error, key);
        // The decisions use the original text, not the redacted one.
        let is = |word: &str| [text("type"), text("code")].iter().flatten().any(|text| text == word);
        Self {
            api_message: text("message")
                .and_then(|text| redactor.redact(&text, MAX_MESSAGE_CHARS))
                .map(Into::into),
            api_type: text("type").and_then(|text| redactor.redact_identifier(&text)).map(Into::into),
            api_code: text("code").and_then(|text| redactor.redact_identifier(&text)).map(Into::into),
            is_quota_exhausted: is("insufficient_quota"),
            is_rate_limited: is("rate_limit_exceeded") || is("rate_limit_error"),
            unsupported_fields: unsupported_fields(error).into(),
            ..Self::new(kind, "")
        }
    }

    /// The name that OpenAI's own client libraries give to this failure.
    pub const fn name(&self) -> &'static str {
        match (self.kind, self.status) {
            (FailureKind::Connection, _) => "APIConnectionError",
            (FailureKind::Timeout, _) => "APIConnectionTimeoutError",
            (FailureKind::InvalidResponse, _) => "APIResponseError",
            (FailureKind::Incomplete, _) => "APIError",
            (FailureKind::HttpStatus, Some(400)) => "BadRequestError",
            (FailureKind::HttpStatus, Some(401)) => "AuthenticationError",
            (FailureKind::HttpStatus, Some(403)) => "PermissionDeniedError",
            (FailureKind::HttpStatus, Some(404)) => "NotFoundError",
            (FailureKind::HttpStatus, Some(409)) => "ConflictError",
            (FailureKind::HttpStatus, Some(422)) => "UnprocessableEntityError",
            (FailureKind::HttpStatus, Some(429)) => "RateLimitError",
            (FailureKind::HttpStatus, Some(500..)) => "InternalServerError",
            (FailureKind::HttpStatus, _) => "APIStatusError",
        }
    }

    /// The reason in a few words, for the progress message before a retry.
    pub const fn short_reason(&self) -> &'static str {
        match (self.kind, self.status) {
            (FailureKind::Connection, _) => "no connection",
            (FailureKind::Timeout, _) => "no answer in time",
            (_, Some(429)) => "too many requests",
            _ => "the API failed",
        }
    }

    /// The summary, followed by the API's own message.
    pub fn reason(&self) -> String {
        match &self.api_message {
            Some(message) if !message.is_empty() => format!("{}: {message}", self.summary),
            _ => self.summary.to_string(),
        }
    }

    /// The API's own message, or the summary if there is none.
    pub fn message(&self) -> &str {
        self.api_message.as_deref().unwrap_or(&self.summary)
    }

    /// Logs the failed attempt.
    pub fn log_attempt(&self, attempt: u32) {
        let status = self.status.map_or_else(|| "-".to_owned(), |status| status.to_string());
        let (name, code) = (self.name(), self.api_code.as_deref().unwrap_or("-"));
        let message = truncate_within(self.message(), MAX_LOGGED_MESSAGE_CHARS);
        let body = self.body.as_ref().map(|body| body.0.as_str()).unwrap_or_default();
        tracing::debug!(
            "error attempt={attempt} status={status} name={name} code={code} msg={message:?} body={body:?}"
        );
    }
}

impl fmt::Display for RequestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason())
    }
}

impl std::error::Error for RequestFailure {}

/// An error object that has only a message.
fn error_object(message: &str) -> Value {
    Value::Object(Map::from_iter([("message".to_owned(), message.into())]))
}

/// The innermost cause of an error, which is the most specific one, without the URL.
pub fn innermost_cause(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut last: &dyn std::error::Error = &error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

/// A duration in whole seconds, rounded up.
pub fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs().saturating_add(u64::from(duration.subsec_nanos() > 0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const REDACTOR: Redactor<'static> = Redactor { secrets: Vec::new(), question: "", instructions: "" };

    #[test]
    fn an_api_error_is_read_from_an_object_or_a_message() {
        let error = json!({ "message": "Slow down.", "type": "requests", "code": "rate_limit_exceeded" });
        let failure = RequestFailure::from_api_error(FailureKind::HttpStatus, &error, &REDACTOR);
        let expected = RequestFailure {
            api_message: Some("Slow down.".into()),
            api_type: Some("requests".into()),
            api_code: Some("rate_limit_exceeded".into()),
            is_rate_limited: true,
            ..RequestFailure::new(FailureKind::HttpStatus, "")
        };
        assert_eq!(failure, expected);
        let failure = RequestFailure::from_api_error(FailureKind::Incomplete, &json!("Gone."), &REDACTOR);
        let expected = RequestFailure {
            api_message: Some("Gone.".into()),
            ..RequestFailure::new(FailureKind::Incomplete, "")
        };
        assert_eq!(failure, expected);
    }

    #[test]
    fn the_reason_ends_with_the_message_of_the_api() {
        let failure = RequestFailure::new(FailureKind::Incomplete, "the API gave up");
        assert_eq!((failure.to_string().as_str(), failure.message()), ("the API gave up", "the API gave up"));
        let failure = RequestFailure { api_message: Some("Overheated.".into()), ..failure };
        assert_eq!(
            (failure.to_string().as_str(), failure.message()),
            ("the API gave up: Overheated.", "Overheated.")
        );
    }

    #[test]
    fn durations_are_rounded_up() {
        for (millis, seconds) in [(0, 0), (1, 1), (1000, 1), (1001, 2)] {
            assert_eq!(whole_seconds(Duration::from_millis(millis)), seconds, "{millis}");
        }
    }
}
