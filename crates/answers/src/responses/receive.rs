//! From bytes to a response object that has ended well, or to the reason why there is none.

use annai_core::json::{MOST_VALUES, has_too_many_values};
use bytes::Bytes;
use reqwest::Response;
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::failure::{Cause, Failed};
use super::private::Private;
use super::step::Step;
use super::stream::{Event, Events};

/// The largest reply that is read.
const MOST_BYTES: usize = 8 << 20;

/// Reads events until the response is there.
pub async fn read_events(
    mut response: Response,
    begun: &mut bool,
    private: &Private<'_>,
    steps: &watch::Sender<Step>,
) -> Result<Value, Failed> {
    let (mut events, mut size, mut items) = (Events::default(), 0, Vec::new());
    let unread = |cause: &str| {
        Failed::new(Cause::Unreachable, format!("the stream ended before the answer was complete{cause}"))
    };
    loop {
        let chunk = response.chunk().await.map_err(|error| unread(&format!(" ({})", causes(error))))?;
        size += chunk.as_ref().map_or(0, Bytes::len);
        if size > MOST_BYTES {
            return Err(too_large());
        }
        let found = match &chunk {
            Some(bytes) => events.push(bytes),
            None => std::mem::take(&mut events).finish().into_iter().collect(),
        };
        for event in found {
            *begun = true;
            if let Some(end) = read_event(&event, &mut items, private, steps) {
                return end;
            }
        }
        if chunk.is_none() {
            return Err(unread(""));
        }
    }
}

/// Takes in one event; gives the end once it is there.
fn read_event(
    event: &Event,
    items: &mut Vec<Value>,
    private: &Private<'_>,
    steps: &watch::Sender<Step>,
) -> Option<Result<Value, Failed>> {
    if has_too_many_values(&event.data) {
        return Some(Err(too_large()));
    }
    let Ok(mut value) = serde_json::from_slice::<Value>(&event.data) else {
        // What is not JSON is passed over, unless it is called an error.
        return (event.name == "error")
            .then(|| Err(reported(&message_only(&String::from_utf8_lossy(&event.data)), private)));
    };
    let kind = value.get("type").and_then(Value::as_str).unwrap_or(&event.name).to_owned();
    let is_error =
        kind == "error" || (kind.is_empty() && value.get("error").is_some_and(|error| !error.is_null()));
    // A step is told to the caller, so it must not hold a secret either.
    if let Some(step) = Step::of(&kind, &value).filter(|step| !private.holds_secret(&step.message())) {
        steps.send_if_modified(|last| {
            let new = *last != step;
            *last = step;
            new
        });
    }
    if is_error {
        return Some(Err(reported(&value, private)));
    }
    match kind.as_str() {
        "response.output_item.done" => {
            items.extend(value.get_mut("item").map(Value::take));
            None
        }
        "response.completed" | "response.failed" | "response.incomplete" | "response.cancelled" => {
            let error = value.get_mut("error").map(Value::take);
            let mut response = value.get_mut("response").map(Value::take)?;
            if let (Some(error), Value::Object(response)) = (error, &mut response) {
                response.entry("error").or_insert(error);
            }
            let empty = response.get("output").and_then(Value::as_array).is_none_or(Vec::is_empty);
            // Some servers send the items once only.
            if let (true, Value::Object(response)) = (empty, &mut response) {
                response.insert("output".to_owned(), std::mem::take(items).into());
            }
            Some(Ok(response))
        }
        _ => None,
    }
}

/// An error that came as an event: `{message, code …}` itself, or in `error`.
fn reported(event: &Value, private: &Private<'_>) -> Failed {
    let error = event.get("error").filter(|error| !error.is_null()).unwrap_or(event);
    let failed = match error {
        Value::String(message) => Failed::told(Cause::Unfinished, &message_only(message), private),
        error => Failed::told(Cause::Unfinished, error, private),
    };
    let kind = failed.kind.clone().filter(|kind| kind.as_ref() != "error");
    let code = failed.code.as_ref().or(kind.as_ref()).map(|code| format!(" ({code})")).unwrap_or_default();
    let sentence = format!("the API reported an error while it answered{code}").into();
    Failed { sentence, kind, ..failed }
}

/// An error object that has only a message.
pub fn message_only(message: &str) -> Value {
    Value::Object(Map::from_iter([("message".to_owned(), message.into())]))
}

/// The response if it has ended well.
pub fn conclude(response: Value, private: &Private<'_>) -> Result<Value, Failed> {
    if !response.is_object() {
        return Err(Failed::new(Cause::Unreadable, "the API's reply is not a response object"));
    }
    let status = response.get("status").and_then(Value::as_str).unwrap_or("completed");
    let error = response.get("error").unwrap_or(&Value::Null);
    let sentence = match status {
        "completed" if error.is_null() => return Ok(response),
        "completed" | "failed" => "the API gave up".to_owned(),
        "incomplete" => {
            let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
            let reason =
                reason.and_then(|reason| private.show(reason, 80)).unwrap_or("unknown reason".to_owned());
            format!("the answer is incomplete: {reason}")
        }
        other => {
            let status = private.show(other, 40).unwrap_or_default();
            format!("the answer did not finish (status {status})")
        }
    };
    let failed = Failed::told(Cause::Unfinished, error, private);
    let sentence = match &failed.code {
        Some(code) => format!("{sentence} ({code})"),
        None => sentence,
    };
    Err(Failed { sentence: sentence.into(), ..failed })
}

/// A body of JSON.
pub async fn read_json(response: Response, private: &Private<'_>) -> Result<Value, Failed> {
    let body = read_up_to(response, MOST_BYTES).await?;
    if has_too_many_values(&body) {
        return Err(too_large());
    }
    serde_json::from_slice(&body).or_else(|error| {
        // Some servers stream without saying so.
        let events = [b"data:".as_slice(), b"event:", b":"].iter().any(|start| body.starts_with(start));
        if events && let Some(end) = read_all_events(&body, private) {
            return end;
        }
        let utf8 = if std::str::from_utf8(&body).is_err() { " nor even UTF-8" } else { "" };
        let place = format!("line {} column {}", error.line(), error.column());
        Err(Failed::new(Cause::Unreadable, format!("the API's reply is not JSON{utf8} ({place})")))
    })
}

fn read_all_events(body: &[u8], private: &Private<'_>) -> Option<Result<Value, Failed>> {
    let (steps, mut items, mut events) = (watch::Sender::new(Step::Thinking), Vec::new(), Events::default());
    let found = events.push(body);
    found.into_iter().chain(events.finish()).find_map(|event| read_event(&event, &mut items, private, &steps))
}

/// A body of at most so many bytes.
pub async fn read_up_to(mut response: Response, most: usize) -> Result<Vec<u8>, Failed> {
    if response.content_length().is_some_and(|length| length > most as u64) {
        return Err(too_large());
    }
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok(body),
            Err(error) => {
                let sentence = format!("the reply broke off: {}", causes(error));
                return Err(Failed::new(Cause::Unreachable, sentence));
            }
        }
        if body.len() > most {
            return Err(too_large());
        }
    }
}

/// The reply is larger than we read.
fn too_large() -> Failed {
    let sentence = format!("the API's reply is larger than {} MiB or {MOST_VALUES} values", MOST_BYTES >> 20);
    Failed::new(Cause::Unreadable, sentence)
}

/// The innermost cause, which says most, without the address.
pub fn causes(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut last: &dyn std::error::Error = &error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}
