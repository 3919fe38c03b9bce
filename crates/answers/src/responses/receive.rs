//! From bytes to a response object that has ended well, or to the reason why there is none.

use reqwest::Response;
use serde_json::Value;
use tokio::sync::watch;

use super::failure::{Cause, Failed};
use super::private::Private;
use super::step::Step;
use super::stream::Event;

/// The largest reply that is read.
pub const MOST_BYTES: usize = 8 << 20;

/// Takes in one event; gives the end once it is there.
pub fn read_event(
    event: &Event,
    items: &mut Vec<Value>,
    private: &Private<'_>,
    steps: &watch::Sender<Step>,
) -> Option<Result<Value, Failed>> {
    let mut value: Value = serde_json::from_slice(&event.data).ok()?;
    let kind = value.get("type").and_then(Value::as_str).unwrap_or(&event.name).to_owned();
    if let Some(step) = Step::of(&kind, &value) {
        steps.send_if_modified(|last| {
            let new = *last != step;
            *last = step;
            new
        });
    }
    match kind.as_str() {
        "response.output_item.done" => {
            items.extend(value.get_mut("item").map(Value::take));
            None
        }
        "response.completed" | "response.failed" | "response.incomplete" | "response.cancelled" => {
            let mut response = value.get_mut("response").map(Value::take)?;
            let empty = response.get("output").and_then(Value::as_array).is_none_or(Vec::is_empty);
            // Some servers send the items once only.
            if let (true, Value::Object(response)) = (empty, &mut response) {
                response.insert("output".to_owned(), std::mem::take(items).into());
            }
            Some(Ok(response))
        }
        "error" => {
            let error = value.get("error").filter(|error| error.is_object()).unwrap_or(&value);
            let sentence = "the API reported an error while it answered".into();
            Some(Err(Failed { sentence, kind: None, ..Failed::told(Cause::Unfinished, error, private) }))
        }
        _ => None,
    }
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
pub async fn read_json(response: Response) -> Result<Value, Failed> {
    let body = read_up_to(response, MOST_BYTES).await?;
    serde_json::from_slice(&body).map_err(|error| {
        let utf8 = if std::str::from_utf8(&body).is_err() { " nor even UTF-8" } else { "" };
        let place = format!("line {} column {}", error.line(), error.column());
        Failed::new(Cause::Unreadable, format!("the API's reply is not JSON{utf8} ({place})"))
    })
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
pub fn too_large() -> Failed {
    Failed::new(Cause::Unreadable, format!("the API's reply is larger than {} MiB", MOST_BYTES >> 20))
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
