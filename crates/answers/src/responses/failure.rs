//! Why a request did not lead to an answer, in words that may be shown.

use std::time::Duration;

use annai_core::JsonObject;
use serde_json::Value;

use super::private::Private;
use super::reply::text_of;
use super::unsupported::{Unsupported, unsupported};

/// So much of the API's own message is passed on.
const MOST_CHARS: usize = 400;

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// No connection, or one that broke.
    Unreachable,
    /// The attempt's time ran out.
    TimedOut,
    /// A status other than 2xx.
    Refused,
    /// A reply that cannot be read.
    Unreadable,
    /// A reply that says that it failed or was cut short.
    Unfinished,
}

/// A request that failed. Everything in it has been looked through: it holds no secret.
#[derive(Debug, Clone)]
pub struct Failed {
    /// What kind of failure it was.
    pub cause: Cause,
    /// What happened and what to do, for people.
    pub sentence: Box<str>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The API's own words.
    pub message: Option<Box<str>>,
    /// The API's `type`.
    pub kind: Option<Box<str>>,
    /// The API's `code`.
    pub code: Option<Box<str>>,
    /// Whether the account has nothing left, which no waiting mends.
    pub quota: bool,
    /// Whether the API limits the rate.
    pub rate_limited: bool,
    /// The optional fields that the API says it does not take.
    pub unsupported: Vec<Unsupported>,
    /// The wait that the server asks for.
    pub retry_after: Option<Duration>,
    /// Whether the server says that it is worth another attempt.
    pub should_retry: Option<bool>,
    /// Whether events of a stream had arrived.
    pub begun: bool,
    /// How often the request had been made again.
    pub retries: u32,
}

impl Failed {
    /// A failure that nothing more is known of.
    pub fn new(cause: Cause, sentence: impl Into<Box<str>>) -> Self {
        Self {
            cause,
            sentence: sentence.into(),
            status: None,
            message: None,
            kind: None,
            code: None,
            quota: false,
            rate_limited: false,
            unsupported: Vec::new(),
            retry_after: None,
            should_retry: None,
            begun: false,
            retries: 0,
        }
    }

    /// A failure with the error object that the API sent (`{message, type, param, code}`), as far as it may be shown.
    pub fn told(cause: Cause, error: &Value, private: &Private<'_>) -> Self {
        let raw = |key: &str| text_of(error, key);
        // Judged by what came, not by what may be shown of it.
        let is = |word: &str| [raw("type"), raw("code")].iter().flatten().any(|text| text == word);
        Self {
            message: raw("message").and_then(|text| private.show(&text, MOST_CHARS)).map(Into::into),
            kind: raw("type").and_then(|text| private.show_word(&text)).map(Into::into),
            code: raw("code").and_then(|text| private.show_word(&text)).map(Into::into),
            quota: is("insufficient_quota"),
            rate_limited: is("rate_limit_exceeded") || is("rate_limit_error"),
            unsupported: unsupported(error),
            ..Self::new(cause, "")
        }
    }

    /// The name that users of OpenAI's own clients know the failure by.
    pub const fn name(&self) -> &'static str {
        match (self.cause, self.status) {
            (Cause::Unreachable, _) => "APIConnectionError",
            (Cause::TimedOut, _) => "APIConnectionTimeoutError",
            (Cause::Unreadable, _) => "APIResponseError",
            (Cause::Unfinished, _) => "APIError",
            (Cause::Refused, Some(400)) => "BadRequestError",
            (Cause::Refused, Some(401)) => "AuthenticationError",
            (Cause::Refused, Some(403)) => "PermissionDeniedError",
            (Cause::Refused, Some(404)) => "NotFoundError",
            (Cause::Refused, Some(409)) => "ConflictError",
            (Cause::Refused, Some(422)) => "UnprocessableEntityError",
            (Cause::Refused, Some(429)) => "RateLimitError",
            (Cause::Refused, Some(500..)) => "InternalServerError",
            (Cause::Refused, _) => "APIStatusError",
        }
    }

    /// What happened in a few words, for somebody who waits for the next attempt.
    pub const fn briefly(&self) -> &'static str {
        match (self.cause, self.status) {
            (Cause::Unreachable, _) => "no connection",
            (Cause::TimedOut, _) => "no answer in time",
            (_, Some(429)) => "too many requests",
            _ => "the API failed",
        }
    }

    /// What happened, with the API's own words behind it.
    pub fn reason(&self) -> String {
        match &self.message {
            Some(message) if !message.is_empty() => format!("{}: {message}", self.sentence),
            _ => self.sentence.to_string(),
        }
    }

    /// The `data` of the JSON-RPC error.
    pub fn data(&self, debug: bool) -> Value {
        let mut data = JsonObject::new();
        data.insert("retries".to_owned(), self.retries.into());
        data.insert("reason".to_owned(), self.reason().into());
        if let Some(status) = self.status {
            data.insert("status".to_owned(), status.into());
        }
        if let Some(wait) = self.retry_after {
            data.insert("retry_after".to_owned(), whole_seconds(wait).into());
        }
        if debug {
            let message = self.message.as_deref().unwrap_or(&self.sentence);
            data.insert("message".to_owned(), message.into());
            data.insert("type".to_owned(), self.kind.as_deref().into());
            data.insert("name".to_owned(), self.name().into());
        }
        data.into()
    }

    /// One line for the log.
    pub fn log(&self, attempt: u32) {
        let status = self.status.map_or_else(|| "-".to_owned(), |status| status.to_string());
        let (name, code) = (self.name(), self.code.as_deref().unwrap_or("-"));
        let message = self.message.as_deref().unwrap_or(&self.sentence);
        tracing::debug!("error attempt={attempt} status={status} name={name} code={code} msg={message:?}");
    }
}

/// A wait in whole seconds, rounded up.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a wait is short and not negative"
)]
pub fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs_f64().ceil() as u64
}
