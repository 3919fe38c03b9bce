//! Collects the events of a streamed response until the response is complete.

use annai_core::json::has_too_many_values;
use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt as _};
use reqwest::Response;
use serde_json::Value;
use tokio::sync::watch;

use super::failure::{FailureKind, RequestFailure, innermost_cause};
use super::limits::{MAX_RESPONSE_BYTES, too_large};
use super::progress_step::ProgressStep;
use super::redaction::Redactor;
use super::sse::{SseError, SseEvent, events};

/// Reads a response that is an event stream. `started` becomes true with the first event.
pub async fn read_event_stream(
    response: Response,
    started: &mut bool,
    redactor: &Redactor<'_>,
    progress: &watch::Sender<ProgressStep>,
) -> Result<Value, RequestFailure> {
    let chunks = stream::unfold(response, |mut response| async move {
        let chunk = response.chunk().await.map_err(|error| SseError::Connection(innermost_cause(error)));
        chunk.transpose().map(|chunk| (chunk, response))
    });
    collect_response(Box::pin(chunks), started, redactor, progress).await
}

/// Reads an event stream that was sent as a whole.
pub async fn read_buffered_events(body: Vec<u8>, redactor: &Redactor<'_>) -> Result<Value, RequestFailure> {
    let chunk = stream::iter([Ok(Bytes::from(body))]);
    let progress = watch::Sender::new(ProgressStep::Thinking);
    collect_response(chunk, &mut false, redactor, &progress).await
}

async fn collect_response(
    chunks: impl Stream<Item = Result<Bytes, SseError>> + Unpin,
    started: &mut bool,
    redactor: &Redactor<'_>,
    progress: &watch::Sender<ProgressStep>,
) -> Result<Value, RequestFailure> {
    let mut events = std::pin::pin!(events(chunks, MAX_RESPONSE_BYTES));
    let mut items = Vec::new();
    while let Some(event) = events.next().await {
        let event = event.map_err(|error| match error {
            SseError::TooLarge => too_large(),
            SseError::Connection(cause) => ended_early(&format!(" ({cause})")),
        })?;
        *started = true;
        if let Some(result) = read_event(&event, &mut items, redactor, progress) {
            return result;
        }
    }
    Err(ended_early(""))
}

fn ended_early(cause: &str) -> RequestFailure {
    let summary = format!("the stream ended before the answer was complete{cause}");
    RequestFailure::new(FailureKind::Connection, summary)
}

/// Reads one event. Returns the response or the failure with which the stream ends, and `None` before that.
fn read_event(
    event: &SseEvent,
    items: &mut Vec<Value>,
    redactor: &Redactor<'_>,
    progress: &watch::Sender<ProgressStep>,
) -> Option<Result<Value, RequestFailure>> {
    if has_too_many_values(event.data.as_bytes()) {
        return Some(Err(too_large()));
    }
    let Ok(mut value) = serde_json::from_str::<Value>(&event.data) else {
        // Data that is not JSON is ignored, unless the event is an error.
        return (event.name == "error")
            .then(|| Err(reported_error(&Value::String(event.data.clone()), redactor)));
    };
    let kind = value.get("type").and_then(Value::as_str).unwrap_or(&event.name).to_owned();
    report_step(&kind, &value, redactor, progress);
    let has_error = value.get("error").is_some_and(|error| !error.is_null());
    if kind == "error" || (kind.is_empty() && has_error) {
        return Some(Err(reported_error(&value, redactor)));
    }
    match kind.as_str() {
        "response.output_item.done" => {
            items.extend(value.get_mut("item").map(Value::take));
            None
        }
        "response.completed" | "response.failed" | "response.incomplete" | "response.cancelled" => {
            final_response(&mut value, items).map(Ok)
        }
        _ => None,
    }
}

/// Reports the step of an event. A step is shown to the caller, so it must not contain a secret either.
fn report_step(kind: &str, value: &Value, redactor: &Redactor<'_>, progress: &watch::Sender<ProgressStep>) {
    let step = ProgressStep::from_event(kind, value);
    if let Some(step) = step.filter(|step| !redactor.contains_secret(&step.message())) {
        progress.send_if_modified(|last| {
            let is_new = *last != step;
            *last = step;
            is_new
        });
    }
}

/// The response object of the last event. Some servers send the output items only in their own events.
fn final_response(event: &mut Value, items: &mut Vec<Value>) -> Option<Value> {
    let error = event.get_mut("error").map(Value::take);
    let mut response = event.get_mut("response").map(Value::take)?;
    if let Value::Object(response) = &mut response {
        if let Some(error) = error {
            response.entry("error").or_insert(error);
        }
        if response.get("output").and_then(Value::as_array).is_none_or(Vec::is_empty) {
            response.insert("output".to_owned(), std::mem::take(items).into());
        }
    }
    Some(response)
}

/// An error that came as an event: `{message, code …}` itself, or in its member `error`.
fn reported_error(event: &Value, redactor: &Redactor<'_>) -> RequestFailure {
    let error = event.get("error").filter(|error| !error.is_null()).unwrap_or(event);
    let failure = RequestFailure::from_api_error(FailureKind::Incomplete, error, redactor);
    let api_type = failure.api_type.clone().filter(|kind| kind.as_ref() != "error");
    let code = failure.api_code.as_ref().or(api_type.as_ref());
    let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
    let summary = format!("the API reported an error while it answered{code}").into();
    RequestFailure { summary, api_type, ..failure }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use serde_json::json;

    use super::*;

    const REDACTOR: Redactor<'static> = Redactor { secrets: Vec::new(), question: "", instructions: "" };

    fn read(events: &[(&str, Value)]) -> Result<Value, RequestFailure> {
        let body: String =
            events.iter().map(|(name, data)| format!("event: {name}\ndata: {data}\n\n")).collect();
        read_buffered_events(body.into_bytes(), &REDACTOR).now_or_never().unwrap()
    }

    #[test]
    fn items_are_collected_when_the_last_event_has_none() {
        let item = json!({ "type": "message" });
        let response = read(&[
            ("ping", json!({})),
            ("response.output_item.done", json!({ "item": item })),
            ("response.completed", json!({ "response": { "status": "completed", "output": [] } })),
        ]);
        assert_eq!(response, Ok(json!({ "status": "completed", "output": [item] })));
    }

    #[test]
    fn an_error_event_ends_the_stream() {
        let failure = |error: Value| read(&[("error", error)]).unwrap_err().to_string();
        let flat = json!({ "type": "error", "code": "overloaded", "message": "Flat." });
        assert_eq!(failure(flat), "the API reported an error while it answered (overloaded): Flat.");
        let nested = json!({ "error": { "type": "server_error", "message": "Nested." } });
        assert_eq!(failure(nested), "the API reported an error while it answered (server_error): Nested.");
        let body = b"event: error\ndata: plain text".to_vec();
        let text = read_buffered_events(body, &REDACTOR).now_or_never().unwrap();
        let expected = "the API reported an error while it answered: plain text";
        assert_eq!(text.unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_stream_without_a_last_event_is_incomplete() {
        assert_eq!(
            read(&[("response.created", json!({}))]),
            Err(RequestFailure::new(
                FailureKind::Connection,
                "the stream ended before the answer was complete"
            ))
        );
    }
}
