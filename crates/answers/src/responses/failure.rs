//! Why a request did not lead to an answer, in words that may be shown.

use std::time::Duration;

use annai_core::JsonObject;
use serde_json::Value;

use super::private::Private;
use super::reply::text_of;

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
    /// The parameter that the API complains of.
    pub param: Option<Box<str>>,
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
            param: None,
            retry_after: None,
            should_retry: None,
            begun: false,
            retries: 0,
        }
    }

    /// A failure with the error object that the API sent (`{message, type, param, code}`), as far as it may be shown.
    pub fn told(cause: Cause, error: &Value, private: &Private<'_>) -> Self {
        let show = |key: &str, most: usize| private.show(&text_of(error, key)?, most).map(Into::into);
        Self {
            message: show("message", MOST_CHARS),
            kind: show("type", 80),
            code: show("code", 80),
            param: show("param", 80),
            ..Self::new(cause, "")
        }
    }

    /// Whether the account has nothing left, which no waiting mends.
    pub fn is_quota(&self) -> bool {
        let is = |word: &Option<Box<str>>| word.as_deref() == Some("insufficient_quota");
        is(&self.kind) || is(&self.code)
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

    /// What happened, with the API's own words behind it.
    pub fn reason(&self) -> String {
        match &self.message {
            Some(message) if !message.is_empty() => format!("{}: {message}", self.sentence),
            _ => self.sentence.to_string(),
        }
    }

    /// The `data` of the JSON-RPC error.
    pub fn data(&self) -> Value {
        let mut data = JsonObject::new();
        data.insert("retries".to_owned(), self.retries.into());
        data.insert("reason".to_owned(), self.reason().into());
        if let Some(status) = self.status {
            data.insert("status".to_owned(), status.into());
        }
        if let Some(wait) = self.retry_after {
            data.insert("retry_after".to_owned(), wait.as_secs_f64().ceil().into());
        }
        if tracing::event_enabled!(tracing::Level::DEBUG) {
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
