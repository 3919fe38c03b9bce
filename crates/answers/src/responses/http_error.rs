//! A response with an error status: what it means and what to do about it.

use std::time::SystemTime;

use reqwest::Response;
use reqwest::header::{HeaderMap, HeaderValue, LOCATION};
use serde_json::Value;

use super::endpoint::Endpoint;
use super::failure::{BodyExcerpt, FailureKind, RequestFailure, whole_seconds};
use super::redaction::Redactor;
use super::response_body::read_body;
use super::retry::retry_after;

/// The maximum size of an error body, in bytes; error messages are far smaller. The message of a larger body is not
/// read.
const MAX_ERROR_BYTES: usize = 64 << 10;
/// The maximum length of the host of a redirect in a message, in characters.
const MAX_HOST_CHARS: usize = 80;

/// How much of an error body the debug log shows, in characters: enough for the message and the code of the API. The
/// rest is cut off.
const MAX_EXCERPT_CHARS: usize = 300;

/// The response, if its status is a success.
pub async fn check_status(
    response: Response,
    endpoint: &Endpoint,
    key_env: &str,
    redactor: &Redactor<'_>,
) -> Result<Response, RequestFailure> {
    if response.status().is_success() {
        return Ok(response);
    }
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let bytes = read_body(response, MAX_ERROR_BYTES).await.unwrap_or_default();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let mut failure = read_error(status, &headers, &body, redactor);
    let excerpt = redactor.excerpt(&String::from_utf8_lossy(&bytes), MAX_EXCERPT_CHARS);
    failure.body = Some(Box::new(BodyExcerpt(excerpt)));
    failure.summary = explain(&failure, &headers, endpoint, key_env, redactor).into();
    Err(failure)
}

fn read_error(status: u16, headers: &HeaderMap, body: &Value, redactor: &Redactor<'_>) -> RequestFailure {
    // OpenAI nests the error object; some gateways do not, and some call it `detail`.
    let error = ["error", "detail"].iter().find_map(|key| body.get(key)).unwrap_or(body);
    let mut failure = RequestFailure::from_api_error(FailureKind::HttpStatus, error, redactor);
    failure.status = Some(status);
    failure.retry_after = retry_after(headers, SystemTime::now());
    failure.should_retry = match headers.get("x-should-retry").map(HeaderValue::as_bytes) {
        Some(b"true") => Some(true),
        Some(b"false") => Some(false),
        _ => None,
    };
    if !matches!(status, 400 | 422) {
        failure.unsupported_fields = Box::default();
    }
    failure
}

/// What the status means and what to do about it.
fn explain(
    failure: &RequestFailure,
    headers: &HeaderMap,
    endpoint: &Endpoint,
    key_env: &str,
    redactor: &Redactor<'_>,
) -> String {
    let status = failure.status.unwrap_or_default();
    match status {
        300..=399 => {
            let location = headers.get(LOCATION).and_then(|location| location.to_str().ok());
            let host = location.and_then(|location| endpoint.redirect_host(location));
            let host = host.and_then(|host| redactor.redact(&host, MAX_HOST_CHARS));
            let target = host.as_deref().unwrap_or("another host");
            format!(
                "{} redirects to {target} ({status}); set openai.base_url to the URL of the API",
                endpoint.host()
            )
        }
        401 => format!("the key was refused (401); check {key_env}"),
        403 => "the key is not allowed to do this (403); check its project and permissions".to_owned(),
        404 => format!("nothing answers at {} (404); check openai.base_url", endpoint.display_name()),
        413 => "the request is too large for the API (413); ask a shorter question".to_owned(),
        429 if failure.is_quota_exhausted => {
            "the account has no quota left (429); see its billing page".to_owned()
        }
        429 => match failure.retry_after {
            Some(delay) => format!("too many requests (429); try again in {} s", whole_seconds(delay)),
            None => "too many requests (429); try again later".to_owned(),
        },
        500..=599 => format!("the API failed ({status}); try again later"),
        _ => format!("the API refused the request ({status})"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::super::optional_fields::{OptionalField, UnsupportedField};
    use super::*;
    use crate::config::OpenaiSettings;

    const REDACTOR: Redactor<'static> = Redactor { secrets: Vec::new(), question: "", instructions: "" };

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn the_body_and_the_headers_are_read() {
        let body =
            json!({ "error": { "message": "No.", "code": "unsupported_parameter", "param": "include" } });
        let headers = headers(&[("x-should-retry", "false"), ("retry-after", "2")]);
        let expected = RequestFailure {
            status: Some(400),
            api_message: Some("No.".into()),
            api_code: Some("unsupported_parameter".into()),
            retry_after: Some(Duration::from_secs(2)),
            should_retry: Some(false),
            unsupported_fields: Box::new([UnsupportedField {
                field: OptionalField::Include,
                refuses_any_value: true,
            }]),
            ..RequestFailure::new(FailureKind::HttpStatus, "")
        };
        assert_eq!(read_error(400, &headers, &body, &REDACTOR), expected);
        let expected = RequestFailure { status: Some(500), unsupported_fields: Box::default(), ..expected };
        assert_eq!(read_error(500, &headers, &body, &REDACTOR), expected);
        let detail = read_error(404, &HeaderMap::new(), &json!({ "detail": "Not Found" }), &REDACTOR);
        assert_eq!(detail.api_message.as_deref(), Some("Not Found"));
    }

    #[test]
    fn every_status_is_explained() {
        let endpoint = Endpoint::parse(&OpenaiSettings::default()).unwrap();
        let location = headers(&[("location", "https://b.example/x")]);
        let explain = |status, is_quota_exhausted, seconds: Option<u64>| {
            let failure = RequestFailure {
                status: Some(status),
                is_quota_exhausted,
                retry_after: seconds.map(Duration::from_secs),
                ..RequestFailure::new(FailureKind::HttpStatus, "")
            };
            explain(&failure, &location, &endpoint, "MY_KEY", &REDACTOR)
        };
        for (status, quota, seconds, expected) in [
            (
                302,
                false,
                None,
                "api.openai.com redirects to b.example (302); set openai.base_url to the URL of the API",
            ),
            (401, false, None, "the key was refused (401); check MY_KEY"),
            (404, false, None, "nothing answers at api.openai.com/v1 (404); check openai.base_url"),
            (429, true, Some(9), "the account has no quota left (429); see its billing page"),
            (429, false, Some(9), "too many requests (429); try again in 9 s"),
            (429, false, None, "too many requests (429); try again later"),
            (503, false, None, "the API failed (503); try again later"),
            (418, false, None, "the API refused the request (418)"),
        ] {
            assert_eq!(explain(status, quota, seconds), expected);
        }
    }
}
