//! The Responses API: requests, responses as JSON or as event streams, and the only layer of retries.

mod client;
mod endpoint;
mod event_stream;
mod failure;
mod http_error;
mod limits;
mod masking;
mod metrics;
mod optional_fields;
mod parsed_response;
mod progress_step;
mod redaction;
mod refused_fields;
mod request_body;
mod response_body;
mod retry;
mod sse;

pub use client::{ApiRequest, ListedModel, ResponsesClient};
pub use failure::{FailureKind, RequestFailure, whole_seconds};
pub use metrics::count_requery;
pub use parsed_response::{Link, ParsedResponse, TokenUsage, parse_response};
pub use progress_step::ProgressStep;
pub use request_body::{ModelCapabilities, RequestBody, RequestSpec, SearchMode};
pub use retry::RetryPolicy;
#[cfg(any(test, feature = "fuzzing"))]
pub use {
    event_stream::read_buffered_events,
    redaction::Redactor,
    sse::{SseEvent, events as sse_events},
};
