//! Reads the body of a response within limits, and checks that the response is complete.

use annai_core::json::has_too_many_values;
use reqwest::Response;
use serde_json::Value;

use super::event_stream::read_buffered_events;
use super::failure::{FailureKind, RequestFailure, innermost_cause};
use super::limits::{MAX_RESPONSE_BYTES, too_large};
use super::redaction::Redactor;

/// Reads a body of JSON.
pub async fn read_json(response: Response, redactor: &Redactor<'_>) -> Result<Value, RequestFailure> {
    let body = read_body(response, MAX_RESPONSE_BYTES).await?;
    if has_too_many_values(&body) {
        return Err(too_large());
    }
    let error = match serde_json::from_slice(&body) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let utf8 = if std::str::from_utf8(&body).is_err() { " nor even UTF-8" } else { "" };
    let place = format!("line {} column {}", error.line(), error.column());
    let not_json = RequestFailure::new(
        FailureKind::InvalidResponse,
        format!("the API's reply is not JSON{utf8} ({place})"),
    );
    // Some servers send events without the content type of an event stream.
    let is_event_stream = [b"data:".as_slice(), b"event:", b":"].iter().any(|start| body.starts_with(start));
    if !is_event_stream {
        return Err(not_json);
    }
    match read_buffered_events(body, redactor).await {
        // The stream had no last event, so the body was probably something else.
        Err(failure) if failure.kind == FailureKind::Connection => Err(not_json),
        result => result,
    }
}

/// Reads a body of at most `max_bytes` bytes.
pub async fn read_body(mut response: Response, max_bytes: usize) -> Result<Vec<u8>, RequestFailure> {
    if response.content_length().is_some_and(|length| length > max_bytes as u64) {
        return Err(too_large());
    }
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok(body),
            Err(error) => {
                let summary = format!("the reply broke off: {}", innermost_cause(error));
                return Err(RequestFailure::new(FailureKind::Connection, summary));
            }
        }
        if body.len() > max_bytes {
            return Err(too_large());
        }
    }
}

/// The response, if its status says that it is complete.
pub fn check_completed(response: Value, redactor: &Redactor<'_>) -> Result<Value, RequestFailure> {
    if !response.is_object() {
        let summary = "the API's reply is not a response object";
        return Err(RequestFailure::new(FailureKind::InvalidResponse, summary));
    }
    let status = response.get("status").and_then(Value::as_str).unwrap_or("completed");
    let error = response.get("error").unwrap_or(&Value::Null);
    let summary = match status {
        "completed" if error.is_null() => return Ok(response),
        "completed" | "failed" => "the API gave up".to_owned(),
        "incomplete" => {
            let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
            let reason = reason.and_then(|reason| redactor.redact(reason, 80));
            format!("the answer is incomplete: {}", reason.as_deref().unwrap_or("unknown reason"))
        }
        other => {
            let status = redactor.redact(other, 40).unwrap_or_default();
            format!("the answer did not finish (status {status})")
        }
    };
    let failure = RequestFailure::from_api_error(FailureKind::Incomplete, error, redactor);
    let summary = match &failure.api_code {
        Some(code) => format!("{summary} ({code})"),
        None => summary,
    };
    Err(RequestFailure { summary: summary.into(), ..failure })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_completed_response_is_accepted() {
        let redactor = Redactor { secrets: Vec::new(), question: "", instructions: "" };
        let check =
            |response: Value| check_completed(response, &redactor).map_err(|failure| failure.to_string());
        for response in [json!({}), json!({ "status": "completed", "error": null })] {
            assert_eq!(check(response.clone()), Ok(response));
        }
        for (response, reason) in [
            (json!([]), "the API's reply is not a response object"),
            (json!({ "status": "incomplete" }), "the answer is incomplete: unknown reason"),
            (
                json!({ "status": "incomplete", "incomplete_details": { "reason": "max_output_tokens" } }),
                "the answer is incomplete: max_output_tokens",
            ),
            (json!({ "status": "queued" }), "the answer did not finish (status queued)"),
            (
                json!({ "status": "failed", "error": { "code": "server_error", "message": "Overheated." } }),
                "the API gave up (server_error): Overheated.",
            ),
        ] {
            assert_eq!(check(response), Err(reason.to_owned()));
        }
    }
}
