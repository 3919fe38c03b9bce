//! Sends requests to the API, with retries. Everything that can go wrong becomes a [`RequestFailure`].

use std::borrow::Cow;
use std::time::{Duration, Instant};

use annai_core::config::Secret;
use bytes::Bytes;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use serde_json::Value;
use tokio::sync::watch;

use super::endpoint::Endpoint;
use super::event_stream::read_event_stream;
use super::failure::{FailureKind, RequestFailure, innermost_cause, whole_seconds};
use super::http_error::check_status;
use super::masking::Mask;
use super::metrics;
use super::progress_step::ProgressStep;
use super::redaction::Redactor;
use super::refused_fields::RefusedFields;
use super::request_body::RequestBody;
use super::response_body::{check_completed, read_json};
use super::retry::RetryPolicy;
use crate::config::OpenaiSettings;

/// The timeout for establishing a connection. It is shorter than that of an attempt, so that an unreachable host is
/// noticed early; beyond it the attempt fails and may be retried.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// A client of the Responses API.
pub struct ResponsesClient {
    http: reqwest::Client,
    endpoint: Endpoint,
    key: Secret,
    key_env: String,
    extra_headers: Vec<Secret>,
    mask: Mask,
    refused_fields: RefusedFields,
}

/// A request to the API.
pub struct ApiRequest<'a> {
    /// The body.
    pub body: &'a RequestBody,
    /// The user's question, which must not appear in an error.
    pub question: &'a str,
    /// The settings that select the model, for the error that it does not exist.
    pub model_settings: &'a str,
    /// Whether the response is requested as an event stream.
    pub stream: bool,
    /// The timeout and the retries.
    pub retry_policy: RetryPolicy,
    /// Where the progress is reported.
    pub progress: &'a watch::Sender<ProgressStep>,
}

/// A completed response, and what it took to get it.
#[derive(Debug)]
pub struct ApiResponse {
    /// The response object.
    pub response: Value,
    /// The number of retries.
    pub retries: u32,
    /// The fields that were omitted because the model does not support them.
    pub omitted_fields: Vec<&'static str>,
    /// The duration of all attempts together.
    pub elapsed: Duration,
}

/// A model that the API offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedModel {
    /// The model's id.
    pub id: String,
    /// The day on which the model is shut down, as the API writes it.
    pub shutdown_date: Option<String>,
}

impl ResponsesClient {
    /// A client for these settings. Nothing is sent yet. The error names the wrong key.
    pub fn new(openai: &OpenaiSettings, key: Secret) -> Result<Self, String> {
        let endpoint = Endpoint::parse(openai)?;
        let http = http_client(&endpoint, default_headers(openai, &key)?)?;
        let secrets = std::iter::once(&key).chain(openai.extra_headers.values());
        let mask = Mask::new(secrets.map(Secret::expose));
        Ok(Self {
            mask,
            http,
            endpoint,
            key,
            key_env: openai.api_key_env.clone(),
            extra_headers: openai.extra_headers.values().cloned().collect(),
            refused_fields: RefusedFields::default(),
        })
    }

    /// Sends a request, retries it where that may help, and returns the completed response. Dropping the future drops
    /// the connection.
    pub async fn send(&self, request: ApiRequest<'_>) -> Result<ApiResponse, RequestFailure> {
        let started = Instant::now();
        let ApiRequest { body, question, model_settings, stream, retry_policy, progress } = request;
        let model = body.text("model");
        let redactor = self.redactor(question, body.text("instructions"));
        let (mut body, mut omitted_fields) = self.without_refused_fields(model, body);
        let mut bytes = body.to_bytes(stream);
        // Requests without an unsupported field are retries for the caller, but not for the retry policy.
        let (mut retries, mut corrections) = (0, 0);
        loop {
            let attempt =
                self.attempt(bytes.clone(), stream, retry_policy.timeout, &redactor, progress).await;
            let mut failure = match attempt {
                Ok(response) => {
                    let (retries, elapsed) = (retries + corrections, started.elapsed());
                    return Ok(ApiResponse { response, retries, omitted_fields, elapsed });
                }
                Err(failure) => failure,
            };
            failure.retries = retries + corrections;
            if failure.api_code.as_deref() == Some("model_not_found") {
                failure.summary = model_not_found(model, model_settings).into();
            }
            failure.log_attempt(failure.retries + 1);
            let mut unsupported = failure.unsupported_fields.iter().copied();
            if let Some(unsupported) = unsupported.find(|named| named.field.get(body.fields()).is_some()) {
                self.refused_fields.remember(model, unsupported, body.fields());
                let (corrected, names) = body.without(&[unsupported.field]);
                omitted_fields.extend(names);
                bytes = corrected.to_bytes(stream);
                body = Cow::Owned(corrected);
                corrections += 1;
            } else if let Some(delay) = retry_policy.next_delay(&failure, retries) {
                progress.send_replace(ProgressStep::WaitingForRetry {
                    reason: failure.short_reason(),
                    seconds: whole_seconds(delay),
                });
                tokio::time::sleep(delay).await;
                retries += 1;
            } else {
                return Err(failure);
            }
            progress.send_replace(ProgressStep::Asking(model.to_owned()));
            metrics::count_retry();
        }
    }

    /// The models that the API offers to this key.
    pub async fn models(&self, timeout: Duration) -> Result<Vec<ListedModel>, RequestFailure> {
        let redactor = self.redactor("", "");
        let work = async {
            let response = self.http.get(self.endpoint.url("models")).send().await;
            let response = response.map_err(|error| self.unreachable(error))?;
            let response = check_status(response, &self.endpoint, &self.key_env, &redactor).await?;
            let mut models = parse_models(&read_json(response, &redactor).await?);
            for date in models.iter_mut().filter_map(|model| model.shutdown_date.as_mut()) {
                *date = self.masked(date);
            }
            Ok(models)
        };
        tokio::time::timeout(timeout, work).await.unwrap_or_else(|_| Err(self.timed_out(timeout, false)))
    }

    /// Whether a text contains the key or the value of an extra header.
    pub fn contains_secret(&self, text: &str) -> bool {
        self.redactor("", "").contains_secret(text)
    }

    /// A text of the API, with the key and the values of extra headers masked.
    pub fn masked(&self, text: &str) -> String {
        self.mask.apply(text).into_owned()
    }

    /// The host and path of the API, for messages.
    pub fn display_name(&self) -> String {
        self.endpoint.display_name()
    }

    /// Sends the request once.
    async fn attempt(
        &self,
        body: Bytes,
        stream: bool,
        timeout: Duration,
        redactor: &Redactor<'_>,
        progress: &watch::Sender<ProgressStep>,
    ) -> Result<Value, RequestFailure> {
        let mut stream_started = false;
        let work = async {
            let accept = if stream { "text/event-stream" } else { "application/json" };
            let request = self.http.post(self.endpoint.url("responses")).header(ACCEPT, accept).body(body);
            let response = request.send().await.map_err(|error| self.unreachable(error))?;
            let response = check_status(response, &self.endpoint, &self.key_env, redactor).await?;
            // The type of the response decides, because some servers ignore the requested one.
            let response = if is_event_stream(response.headers()) {
                read_event_stream(response, &mut stream_started, redactor, progress).await?
            } else {
                read_json(response, redactor).await?
            };
            check_completed(response, redactor)
        };
        let result = tokio::time::timeout(timeout, work).await;
        let result = result.unwrap_or_else(|_| Err(self.timed_out(timeout, stream_started)));
        let status = |failure: &RequestFailure| failure.status.unwrap_or_default();
        metrics::count_request(result.as_ref().map_or_else(status, |_| 200));
        result.map_err(|failure| RequestFailure { stream_started, ..failure })
    }

    fn redactor<'a>(&'a self, question: &'a str, instructions: &'a str) -> Redactor<'a> {
        let headers = self.extra_headers.iter().map(Secret::expose);
        let secrets = std::iter::once(self.key.expose()).chain(headers).collect();
        Redactor { secrets, question, instructions }
    }

    /// The body without the fields that the model is known to refuse, and their names.
    fn without_refused_fields<'a>(
        &self,
        model: &str,
        body: &'a RequestBody,
    ) -> (Cow<'a, RequestBody>, Vec<&'static str>) {
        let refused = self.refused_fields.in_body(model, body.fields());
        if refused.is_empty() {
            return (Cow::Borrowed(body), Vec::new());
        }
        let (body, names) = body.without(&refused);
        (Cow::Owned(body), names)
    }

    fn unreachable(&self, error: reqwest::Error) -> RequestFailure {
        let summary = format!("{} cannot be reached: {}", self.endpoint.host(), innermost_cause(error));
        RequestFailure::new(FailureKind::Connection, summary)
    }

    fn timed_out(&self, limit: Duration, stream_started: bool) -> RequestFailure {
        let missing = if stream_started { "finish its answer" } else { "answer" };
        let (host, seconds) = (self.endpoint.host(), limit.as_secs_f64());
        RequestFailure::new(FailureKind::Timeout, format!("{host} did not {missing} within {seconds} s"))
    }
}

fn default_headers(openai: &OpenaiSettings, key: &Secret) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    let bearer = HeaderValue::from_str(&format!("Bearer {}", key.expose()));
    let mut bearer = bearer
        .map_err(|_| format!("{} contains characters that an API key cannot contain", openai.api_key_env))?;
    bearer.set_sensitive(true);
    headers.insert(AUTHORIZATION, bearer);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("annai/", env!("CARGO_PKG_VERSION"))));
    for (name, value) in &openai.extra_headers {
        let key = format!("openai.extra_headers.{name}");
        let name: HeaderName = name.parse().map_err(|_| format!("{key} is not a valid header name"))?;
        let mut value: HeaderValue = value
            .expose()
            .parse()
            .map_err(|_| format!("{key} contains characters that a header cannot contain"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn http_client(endpoint: &Endpoint, headers: HeaderMap) -> Result<reqwest::Client, String> {
    // Installing the provider fails only if it is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .default_headers(headers)
        // A redirect could send the key to another host; the right URL belongs in the settings.
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true);
    if !endpoint.is_encrypted() {
        // Without TLS there are no certificates to verify, so none are loaded.
        builder = builder.tls_certs_only([]);
    }
    if endpoint.is_loopback() {
        // Requests to this machine must not leave it through a proxy.
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| format!("TLS cannot be set up: {}", innermost_cause(error)))
}

fn model_not_found(model: &str, model_settings: &str) -> String {
    format!(
        "the model {model} does not exist or is not available to this key; choose another with {model_settings} (annai doctor checks them)"
    )
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.to_ascii_lowercase().starts_with("text/event-stream")
}

fn parse_models(list: &Value) -> Vec<ListedModel> {
    let text = |model: &Value, key: &str| model.get(key).and_then(Value::as_str).map(str::to_owned);
    let models = list.get("data").and_then(Value::as_array).into_iter().flatten();
    models
        .filter_map(|model| {
            Some(ListedModel { id: text(model, "id")?, shutdown_date: text(model, "shutdown_date") })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn models_without_an_id_are_skipped() {
        let list = json!({ "data": [{ "id": "a", "shutdown_date": "2026-12-11" }, {}, { "id": "b" }] });
        let model =
            |id: &str, date: Option<&str>| ListedModel { id: id.into(), shutdown_date: date.map(Into::into) };
        assert_eq!(parse_models(&list), [model("a", Some("2026-12-11")), model("b", None)]);
        assert_eq!(parse_models(&json!({ "data": 3 })), []);
    }

    #[test]
    fn invalid_headers_are_named() {
        let key = Secret::new("sk-1");
        let mut openai = OpenaiSettings::default();
        openai.extra_headers.insert("x-token".into(), Secret::new("a\nb"));
        assert_eq!(
            ResponsesClient::new(&openai, key).err().as_deref(),
            Some("openai.extra_headers.x-token contains characters that a header cannot contain")
        );
    }
}
