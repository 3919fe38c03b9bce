//! Sends requests and reads replies. Everything that can go wrong on the way ends as a [`Failed`].

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use annai_core::config::Secret;
use annai_core::{JsonObject, metrics};
use bytes::Bytes;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, Url};
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::failure::{Cause, Failed};
use super::private::Private;
use super::receive::{MOST_BYTES, causes, conclude, read_event, read_json, read_up_to, too_large};
use super::retry::{Patience, asked_wait};
use super::step::Step;
use super::stream::Events;
use super::unsupported::{Optional, named_in};
use crate::config::Openai;

/// The largest error body that is read.
const MOST_ERROR_BYTES: usize = 64 << 10;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// What the API is called in the metrics.
const SERVER: &str = "openai";

/// A connection to the API.
pub struct Client {
    http: reqwest::Client,
    base: Url,
    key: Secret,
    key_env: String,
    extra_headers: Vec<Secret>,
    /// Fields that a model has refused.
    refused: Mutex<HashSet<(String, Optional)>>,
}

/// One question to the API.
pub struct Ask<'a> {
    /// The body; `stream` is added to it.
    pub body: JsonObject,
    /// What must not be repeated in an error.
    pub question: &'a str,
    /// Whether the reply comes as events.
    pub stream: bool,
    /// How long to wait, how often to try.
    pub patience: Patience,
    /// Where the steps are told.
    pub steps: &'a watch::Sender<Step>,
}

/// A reply, and what it took.
#[derive(Debug)]
pub struct Exchange {
    /// The response object.
    pub response: Value,
    /// How often the request was made again.
    pub retries: u32,
    /// How long it took, all attempts together.
    pub took: Duration,
}

/// A model that the API offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Its id.
    pub id: String,
    /// The day it ends, as the API writes it.
    pub shutdown_date: Option<String>,
}

impl Client {
    /// A client for these settings; nothing is sent yet. The error says which key is wrong.
    pub fn new(openai: &Openai, key: Secret) -> Result<Self, String> {
        let base = parse_base(openai)?;
        let mut headers = HeaderMap::new();
        let bearer = HeaderValue::from_str(&format!("Bearer {}", key.expose()));
        let mut bearer =
            bearer.map_err(|_| format!("{} holds characters that no key has", openai.api_key_env))?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in &openai.extra_headers {
            let place = format!("openai.extra_headers.{name}");
            let name: HeaderName = name.parse().map_err(|_| format!("{place} is not a header's name"))?;
            let mut value: HeaderValue =
                value.expose().parse().map_err(|_| format!("{place} holds characters that no header has"))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        // Both fail only when it is done already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .default_headers(headers)
            .user_agent(concat!("annai/", env!("CARGO_PKG_VERSION")))
            // A redirect could carry the key elsewhere; the right address belongs into the settings.
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_nodelay(true);
        if base.scheme() == "http" {
            // No certificates to check, so none are loaded.
            builder = builder.tls_certs_only([]);
        }
        let http = builder.build().map_err(|error| format!("TLS cannot be set up: {}", causes(error)))?;
        Ok(Self {
            http,
            base,
            key,
            key_env: openai.api_key_env.clone(),
            extra_headers: openai.extra_headers.values().cloned().collect(),
            refused: Mutex::default(),
        })
    }

    /// Asks, again where that may help, and gives the finished response. Dropping the future drops the request.
    pub async fn ask(&self, ask: Ask<'_>) -> Result<Exchange, Failed> {
        let started = Instant::now();
        let Ask { mut body, question, stream, patience, steps } = ask;
        if stream {
            body.insert("stream".into(), true.into());
        }
        let model = body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned();
        let instructions = body.get("instructions").and_then(Value::as_str).unwrap_or_default().to_owned();
        let private = self.private(question, &instructions);
        self.drop_refused(&model, &mut body);
        let mut bytes = to_bytes(&body);
        let (mut retries, mut without) = (0, 0);
        loop {
            let mut failed = match self
                .attempt(bytes.clone(), stream, &model, &patience, &private, steps)
                .await
            {
                Ok(response) => {
                    return Ok(Exchange { response, retries: retries + without, took: started.elapsed() });
                }
                Err(failed) => failed,
            };
            failed.retries = retries + without;
            failed.log(retries + without + 1);
            if let Some(field) = named_in(&failed, &body) {
                self.lock_refused().insert((model.clone(), field));
                tracing::debug!("model={model} does not take {}; asking without it", field.name());
                field.remove(&mut body);
                bytes = to_bytes(&body);
                without += 1;
            } else if let Some(delay) = patience.delay(&failed, retries) {
                steps.send_replace(Step::Waiting(delay.as_secs_f64().ceil() as u64));
                tokio::time::sleep(delay).await;
                retries += 1;
            } else {
                return Err(failed);
            }
            metrics::upstream_retried(SERVER);
        }
    }

    /// The models that the API offers to this key.
    pub async fn models(&self, timeout: Duration) -> Result<Vec<Model>, Failed> {
        let private = self.private("", "");
        let work = async {
            let response = self.http.get(self.url("models")).send().await;
            let response = response.map_err(|error| self.unreachable(error))?;
            let response = self.check_status(response, "", &private).await?;
            let list = read_json(response).await?;
            let models = list.get("data").and_then(Value::as_array).into_iter().flatten();
            let text = |model: &Value, key: &str| model.get(key).and_then(Value::as_str).map(str::to_owned);
            Ok(models
                .filter_map(|model| {
                    Some(Model { id: text(model, "id")?, shutdown_date: text(model, "shutdown_date") })
                })
                .collect())
        };
        tokio::time::timeout(timeout, work).await.unwrap_or_else(|_| Err(self.timed_out(timeout)))
    }

    /// Where requests go, for people.
    pub fn place(&self) -> String {
        let path = self.base.path().trim_end_matches('/');
        format!("{}{path}", self.host())
    }

    async fn attempt(
        &self,
        body: Bytes,
        stream: bool,
        model: &str,
        patience: &Patience,
        private: &Private<'_>,
        steps: &watch::Sender<Step>,
    ) -> Result<Value, Failed> {
        let mut begun = false;
        let work = async {
            let accept = if stream { "text/event-stream" } else { "application/json" };
            let request = self.http.post(self.url("responses")).header(ACCEPT, accept).body(body);
            let response = request.send().await.map_err(|error| self.unreachable(error))?;
            let response = self.check_status(response, model, private).await?;
            let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
            // What the server sends counts, not what it was asked for.
            let response = if kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
                self.read_events(response, &mut begun, private, steps).await?
            } else {
                read_json(response).await?
            };
            conclude(response, private)
        };
        let result = tokio::time::timeout(patience.timeout, work).await;
        let result = result.unwrap_or_else(|_| Err(self.timed_out(patience.timeout)));
        let status = |failed: &Failed| failed.status.unwrap_or_default();
        metrics::upstream_asked(SERVER, result.as_ref().map_or_else(status, |_| 200));
        result.map_err(|failed| Failed { begun, ..failed })
    }

    /// The response if its status is good; otherwise what the API says.
    async fn check_status(
        &self,
        response: Response,
        model: &str,
        private: &Private<'_>,
    ) -> Result<Response, Failed> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let headers = response.headers().clone();
        let body = read_up_to(response, MOST_ERROR_BYTES).await.unwrap_or_default();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let error = body.get("error").unwrap_or(&Value::Null);
        let mut failed = match error {
            // Some gateways write the message alone.
            Value::String(message) => Failed::told(Cause::Refused, &message_only(message), private),
            error => Failed::told(Cause::Refused, error, private),
        };
        failed.status = Some(status.as_u16());
        failed.retry_after = asked_wait(&headers, SystemTime::now());
        failed.should_retry = match headers.get("x-should-retry").map(HeaderValue::as_bytes) {
            Some(b"true") => Some(true),
            Some(b"false") => Some(false),
            _ => None,
        };
        failed.sentence = self.explain(&failed, model, &headers).into();
        Err(failed)
    }

    /// What a refusal means and what to do about it.
    fn explain(&self, failed: &Failed, model: &str, headers: &HeaderMap) -> String {
        let status = failed.status.unwrap_or_default();
        let no_model = failed.code.as_deref() == Some("model_not_found");
        match status {
            300..=399 => {
                let target = headers.get("location").and_then(|target| target.to_str().ok());
                let target = target.and_then(|target| self.base.join(target).ok());
                let host = target.as_ref().and_then(Url::host_str).unwrap_or("another place");
                format!(
                    "{} redirects to {host} ({status}); set openai.base_url to where the API is",
                    self.host()
                )
            }
            _ if no_model => format!(
                "the model {model} does not exist or is not open to this key ({status}); choose another with \
                 --model, MODEL_ANSWER or model_profiles (annai doctor checks them)"
            ),
            401 => format!("the key was refused (401); check {}", self.key_env),
            403 => "the key is not allowed to do this (403); check its project and permissions".to_owned(),
            404 => format!("nothing answers at {} (404); check openai.base_url", self.place()),
            413 => "the request is too large for the API (413); ask a shorter question".to_owned(),
            429 if failed.is_quota() => {
                "the account has no quota left (429); see its billing page".to_owned()
            }
            429 => match failed.retry_after {
                Some(wait) => {
                    format!("too many requests (429); try again in {:.0} s", wait.as_secs_f64().ceil())
                }
                None => "too many requests (429); try again later".to_owned(),
            },
            500..=599 => format!("the API failed ({status}); try again later"),
            _ => format!("the API refused the request ({status})"),
        }
    }

    async fn read_events(
        &self,
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

    fn private<'a>(&'a self, question: &'a str, instructions: &'a str) -> Private<'a> {
        let headers = self.extra_headers.iter().map(Secret::expose);
        Private {
            secrets: std::iter::once(self.key.expose()).chain(headers).collect(),
            texts: [question, instructions],
        }
    }

    fn drop_refused(&self, model: &str, body: &mut JsonObject) {
        for (_, field) in self.lock_refused().iter().filter(|(of, _)| of == model) {
            field.remove(body);
        }
    }

    fn lock_refused(&self) -> std::sync::MutexGuard<'_, HashSet<(String, Optional)>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn url(&self, name: &str) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push(name);
        }
        url
    }

    fn host(&self) -> &str {
        self.base.host_str().unwrap_or_default()
    }

    fn unreachable(&self, error: reqwest::Error) -> Failed {
        Failed::new(Cause::Unreachable, format!("{} cannot be reached: {}", self.host(), causes(error)))
    }

    fn timed_out(&self, limit: Duration) -> Failed {
        let seconds = limit.as_secs_f64();
        Failed::new(Cause::TimedOut, format!("{} did not answer within {seconds} s", self.host()))
    }
}

/// The base URL, if requests may go there.
fn parse_base(openai: &Openai) -> Result<Url, String> {
    let base = Url::parse(openai.base_url.trim())
        .ok()
        .filter(|base| matches!(base.scheme(), "http" | "https") && base.has_host())
        .ok_or("openai.base_url: expected a URL such as https://api.openai.com/v1")?;
    if !base.username().is_empty() || base.password().is_some() {
        return Err("openai.base_url: no user or password belongs there; use openai.extra_headers".to_owned());
    }
    let loopback = match base.host_str() {
        Some("localhost") => true,
        Some(host) => {
            let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
            address.is_ok_and(|address| address.is_loopback())
        }
        None => false,
    };
    if base.scheme() == "http" && !loopback && !openai.allow_insecure {
        return Err("openai.base_url: http:// would send the key in the clear; use https://, or set \
                    openai.allow_insecure: true"
            .to_owned());
    }
    Ok(base)
}

fn to_bytes(body: &JsonObject) -> Bytes {
    // A JSON value with string keys always serialises.
    serde_json::to_vec(body).unwrap_or_default().into()
}

fn message_only(message: &str) -> Value {
    Value::Object(Map::from_iter([("message".to_owned(), message.into())]))
}
