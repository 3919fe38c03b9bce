//! The errors of the routes: every failure is a status with the JSON body `{"error":{"code","message","details?"}}`.

use std::error::Error as _;

use annai_core::{ErrorKind, ToolError};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::reply;
use crate::api_keys::{AUTHORIZATION_FIELD, KeyRefusal};
use crate::domain::text::FieldError;
use crate::error::ServicesError;
use crate::rate_limit::RateLimited;

/// Why a request failed.
#[derive(Debug)]
pub struct ApiError(Box<Failure>);

#[derive(Debug)]
struct Failure {
    status: StatusCode,
    code: &'static str,
    message: String,
    details: Option<Value>,
    /// How many seconds the client should wait.
    retry_after: Option<u64>,
    /// What only the log shows.
    cause: Option<String>,
}

/// The body of every failure.
#[derive(Serialize, JsonSchema)]
pub struct ErrorReply {
    /// Why the request failed.
    error: ErrorBody,
}

#[derive(Serialize, JsonSchema)]
struct ErrorBody {
    /// The kind of failure, for programs, such as `validation_error`.
    code: &'static str,
    /// A sentence for people, with the next step.
    message: String,
    /// Facts for programs, such as the field that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<annai_core::JsonObject>")]
    details: Option<Value>,
}

/// What the log shows of a failed request; it travels with the response to the middleware that writes the line.
#[derive(Debug, Clone)]
pub struct LoggedFailure {
    /// The error code.
    pub code: &'static str,
    /// The private cause.
    pub cause: Option<String>,
}

impl ApiError {
    /// An error without details.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Failure::new(status, code, message.into()).into()
    }

    /// An error about the key of a request. Its details tell another Annai server that the key is wrong, not the person.
    pub fn key_refused(status: StatusCode, kind: ErrorKind, message: impl Into<String>) -> Self {
        let details = Some(json!({ "field": AUTHORIZATION_FIELD }));
        Failure { details, ..Failure::new(status, kind.code(), message.into()) }.into()
    }

    /// The error of a handler that panicked.
    pub fn panicked() -> Self {
        ServicesError::internal("the handler of a route panicked").into()
    }
}

impl Failure {
    const fn new(status: StatusCode, code: &'static str, message: String) -> Self {
        Self { status, code, message, details: None, retry_after: None, cause: None }
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        Self(Box::new(failure))
    }
}

impl From<ServicesError> for ApiError {
    fn from(error: ServicesError) -> Self {
        let cause = match &error {
            ServicesError::Internal(cause) | ServicesError::Unavailable { source: cause, .. } => {
                Some(cause.to_string())
            }
            ServicesError::Upstream { .. } | ServicesError::NotConfigured { .. } => Some(error.to_string()),
            _ => None,
        };
        let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let failure = Failure::new(status, error.code(), error.to_string());
        Failure { details: error.details(), cause, ..failure }.into()
    }
}

impl From<FieldError> for ApiError {
    fn from(error: FieldError) -> Self {
        ServicesError::from(error).into()
    }
}

impl From<ToolError> for ApiError {
    /// The error of opening the toolset, or of a tool.
    fn from(error: ToolError) -> Self {
        if let Some(error) = error.downcast_source::<ServicesError>() {
            return error.clone().into();
        }
        let status = match error.kind() {
            ErrorKind::NotConfigured | ErrorKind::Cancelled | ErrorKind::Unavailable => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let cause = error.source().map(ToString::to_string);
        Failure { cause, ..Failure::new(status, error.kind().code(), error.message().to_owned()) }.into()
    }
}

impl From<KeyRefusal> for ApiError {
    fn from(refusal: KeyRefusal) -> Self {
        let (status, kind) = match refusal {
            KeyRefusal::Missing => (StatusCode::UNAUTHORIZED, ErrorKind::Unauthorized),
            KeyRefusal::Wrong | KeyRefusal::NotConfigured(_) => (StatusCode::FORBIDDEN, ErrorKind::Forbidden),
        };
        Self::key_refused(status, kind, refusal.to_string())
    }
}

impl From<RateLimited> for ApiError {
    fn from(limited: RateLimited) -> Self {
        let code = ErrorKind::RateLimited.code();
        let failure = Failure::new(StatusCode::TOO_MANY_REQUESTS, code, limited.to_string());
        Failure { retry_after: Some(limited.seconds()), ..failure }.into()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Failure { status, code, message, details, retry_after, cause } = *self.0;
        let mut response = reply::json(status, &ErrorReply { error: ErrorBody { code, message, details } });
        let headers = response.headers_mut();
        if let Some(seconds) = retry_after {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(LoggedFailure { code, cause });
        response
    }
}
