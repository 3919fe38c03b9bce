//! The `Accept` header: which media types a client accepts, and the conversion of an event stream to JSON for a client
//! that accepts only JSON.

use axum::body::Body;
use axum::response::Response;
use futures_util::StreamExt as _;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use serde_json::Value;
use sse_stream::SseStream;

use super::reply;

pub const JSON: &str = "application/json";
pub const EVENT_STREAM: &str = "text/event-stream";

/// The media types of a response that a client accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepts {
    /// Only JSON.
    Json,
    /// JSON and event streams.
    EventStream,
}

impl Accepts {
    /// Reads the `Accept` headers of a request.
    pub fn of(headers: &HeaderMap) -> Self {
        let accepts = headers.get_all(ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
        let event_stream = accepts.flat_map(|accept| accept.split(',')).any(|range| {
            let mut parts = range.split(';').map(|part| part.trim().to_ascii_lowercase());
            let kind = parts.next().unwrap_or_default();
            let refused = parts.any(|part| part.strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0)));
            matches!(kind.as_str(), EVENT_STREAM | "text/*" | "*/*") && !refused
        });
        if event_stream { Self::EventStream } else { Self::Json }
    }
}

/// Whether a response is an event stream.
pub fn is_event_stream(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(EVENT_STREAM.as_bytes()))
}

/// Whether a response is JSON.
pub fn is_json(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(JSON.as_bytes()))
}

/// The JSON-RPC reply in an event stream, without the notifications before it, for a client that accepts only JSON.
pub async fn last_reply(body: Body) -> Option<Response> {
    let mut events = SseStream::new(body);
    while let Some(Ok(event)) = events.next().await {
        let message: Value = match event.data.as_deref().map(serde_json::from_str) {
            Some(Ok(message)) => message,
            _ => continue,
        };
        let is_reply = message.get("result").is_some() || message.get("error").is_some();
        if is_reply && message.get("method").is_none() {
            return Some(reply::json(StatusCode::OK, &message));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn the_accept_header_decides_between_json_and_an_event_stream() {
        for (accept, expected) in [
            ("application/json", Accepts::Json),
            ("application/json, text/event-stream;q=0", Accepts::Json),
            ("application/json, */*;q=0.0", Accepts::Json),
            ("text/html", Accepts::Json),
            ("APPLICATION/JSON, TEXT/Event-Stream", Accepts::EventStream),
            ("text/*;q=0.5", Accepts::EventStream),
            ("*/*", Accepts::EventStream),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
            assert_eq!(Accepts::of(&headers), expected, "{accept}");
        }
        assert_eq!(Accepts::of(&HeaderMap::new()), Accepts::Json);
    }
}
