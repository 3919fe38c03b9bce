//! Sends requests and reads replies. Everything that can go wrong on the way ends as a [`Failed`].

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use annai_core::JsonObject;
use annai_core::config::Secret;
use bytes::Bytes;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use reqwest::{Response, Url};
use serde_json::Value;
use tokio::sync::watch;

use super::failure::{Cause, Failed, whole_seconds};
use super::metrics;
use super::private::Private;
use super::receive::{causes, conclude, message_only, read_events, read_json, read_up_to};
use super::retry::{Patience, asked_wait};
use super::step::Step;
use super::unsupported::{Optional, Unsupported};
use crate::config::Openai;

/// The largest error body that is read.
const MOST_ERROR_BYTES: usize = 64 << 10;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// A connection to the API.
pub struct Client {
    http: reqwest::Client,
    base: Url,
    key: Secret,
    key_env: String,
    extra_headers: Vec<Secret>,
    /// What models have refused.
    refused: Mutex<HashSet<Refused>>,
}

/// A field that a model does not take: with any value, or with this one.
#[derive(PartialEq, Eq, Hash)]
struct Refused {
    model: String,
    field: Optional,
    value: Option<Value>,
}

/// One question to the API.
pub struct Ask<'a> {
    /// The body; `stream` is added to it.
    pub body: JsonObject,
    /// What must not be repeated in an error.
    pub question: &'a str,
    /// The settings that choose the model, for an error that says it does not exist.
    pub model_settings: &'a str,
    /// Whether the reply comes as events.
    pub stream: bool,
    /// How long to wait, how often to try.
    pub patience: Patience,
    /// Where the steps are told.
    pub steps: &'a watch::Sender<Step>,
}

/// One request, made once.
struct Attempt<'a> {
    body: Bytes,
    stream: bool,
    timeout: Duration,
    private: &'a Private<'a>,
    steps: &'a watch::Sender<Step>,
}

/// A reply, and what it took.
#[derive(Debug)]
pub struct Exchange {
    /// The response object.
    pub response: Value,
    /// How often the request was made again.
    pub retries: u32,
    /// The fields that were left out because the model does not take them.
    pub left_out: Vec<&'static str>,
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
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("annai/", env!("CARGO_PKG_VERSION"))));
        for (name, value) in &openai.extra_headers {
            let place = format!("openai.extra_headers.{name}");
            let name: HeaderName = name.parse().map_err(|_| format!("{place} is not a header's name"))?;
            let mut value: HeaderValue =
                value.expose().parse().map_err(|_| format!("{place} holds characters that no header has"))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        // It fails only when it is done already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .default_headers(headers)
            // A redirect could carry the key elsewhere; the right address belongs into the settings.
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_nodelay(true);
        if base.scheme() == "http" {
            // No certificates to check, so none are loaded.
            builder = builder.tls_certs_only([]);
        }
        if is_loopback(&base) {
            // What is meant for this machine must not leave it through a proxy.
            builder = builder.no_proxy();
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
        let Ask { mut body, question, model_settings, stream, patience, steps } = ask;
        if stream {
            body.insert("stream".into(), true.into());
        }
        let model = body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned();
        let instructions = body.get("instructions").and_then(Value::as_str).unwrap_or_default().to_owned();
        let private = self.private(question, &instructions);
        let mut left_out = self.leave_out_refused(&model, &mut body);
        let mut bytes = to_bytes(&body);
        let (mut retries, mut without) = (0, 0);
        loop {
            let attempt =
                Attempt { body: bytes.clone(), stream, timeout: patience.timeout, private: &private, steps };
            let mut failed = match self.attempt(attempt).await {
                Ok(response) => {
                    let (retries, took) = (retries + without, started.elapsed());
                    return Ok(Exchange { response, retries, left_out, took });
                }
                Err(failed) => failed,
            };
            failed.retries = retries + without;
            if failed.code.as_deref() == Some("model_not_found") {
                failed.sentence = format!("the model {model} does not exist or is not open to this key; choose another with {model_settings} (annai doctor checks them)").into();
            }
            failed.log(retries + without + 1);
            if let Some(named) = failed.unsupported.iter().find(|named| named.field.get(&body).is_some()) {
                self.remember(&model, *named, &body);
                named.field.remove(&mut body);
                left_out.push(named.field.name());
                bytes = to_bytes(&body);
                without += 1;
            } else if let Some(delay) = patience.delay(&failed, retries) {
                steps.send_replace(Step::Waiting(failed.briefly(), whole_seconds(delay)));
                tokio::time::sleep(delay).await;
                retries += 1;
            } else {
                return Err(failed);
            }
            steps.send_replace(Step::Asking(model.clone()));
            metrics::count_retry();
        }
    }

    /// The models that the API offers to this key.
    pub async fn models(&self, timeout: Duration) -> Result<Vec<Model>, Failed> {
        let private = self.private("", "");
        let work = async {
            let response = self.http.get(self.url("models")).send().await;
            let response = response.map_err(|error| self.unreachable(error))?;
            let response = self.check_status(response, &private).await?;
            let list = read_json(response, &private).await?;
            let models = list.get("data").and_then(Value::as_array).into_iter().flatten();
            let text = |model: &Value, key: &str| model.get(key).and_then(Value::as_str).map(str::to_owned);
            Ok(models
                .filter_map(|model| {
                    Some(Model { id: text(model, "id")?, shutdown_date: text(model, "shutdown_date") })
                })
                .collect())
        };
        tokio::time::timeout(timeout, work).await.unwrap_or_else(|_| Err(self.timed_out(timeout, false)))
    }

    /// Whether a text holds the key or a header value.
    pub fn holds_secret(&self, text: &str) -> bool {
        self.private("", "").holds_secret(text)
    }

    /// Where requests go, for people.
    pub fn place(&self) -> String {
        let path = self.base.path().trim_end_matches('/');
        format!("{}{path}", self.host())
    }

    async fn attempt(&self, attempt: Attempt<'_>) -> Result<Value, Failed> {
        let Attempt { body, stream, timeout, private, steps } = attempt;
        let mut begun = false;
        let work = async {
            let accept = if stream { "text/event-stream" } else { "application/json" };
            let request = self.http.post(self.url("responses")).header(ACCEPT, accept).body(body);
            let response = request.send().await.map_err(|error| self.unreachable(error))?;
            let response = self.check_status(response, private).await?;
            let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
            // What the server sends counts, not what it was asked for.
            let response =
                if kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/event-stream")) {
                    read_events(response, &mut begun, private, steps).await?
                } else {
                    read_json(response, private).await?
                };
            conclude(response, private)
        };
        let result = tokio::time::timeout(timeout, work).await;
        let result = result.unwrap_or_else(|_| Err(self.timed_out(timeout, begun)));
        let status = |failed: &Failed| failed.status.unwrap_or_default();
        metrics::count_request(result.as_ref().map_or_else(status, |_| 200));
        result.map_err(|failed| Failed { begun, ..failed })
    }

    /// The response if its status is good; otherwise what the API says.
    async fn check_status(&self, response: Response, private: &Private<'_>) -> Result<Response, Failed> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let headers = response.headers().clone();
        let body = read_up_to(response, MOST_ERROR_BYTES).await.unwrap_or_default();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        // OpenAI nests it; some gateways do not, and some call the message `detail`.
        let error = ["error", "detail"].iter().find_map(|key| body.get(key)).unwrap_or(&body);
        let mut failed = match error {
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
        failed.unsupported.retain(|_| matches!(status.as_u16(), 400 | 422));
        failed.sentence = self.explain(&failed, &headers, private).into();
        Err(failed)
    }

    /// What a refusal means and what to do about it.
    fn explain(&self, failed: &Failed, headers: &HeaderMap, private: &Private<'_>) -> String {
        let status = failed.status.unwrap_or_default();
        match status {
            300..=399 => {
                let target = headers.get("location").and_then(|target| target.to_str().ok());
                let target = target.and_then(|target| self.base.join(target).ok());
                let host = target.as_ref().and_then(Url::host_str).and_then(|host| private.show(host, 80));
                let host = host.unwrap_or_else(|| "another place".to_owned());
                format!(
                    "{} redirects to {host} ({status}); set openai.base_url to where the API is",
                    self.host()
                )
            }
            401 => format!("the key was refused (401); check {}", self.key_env),
            403 => "the key is not allowed to do this (403); check its project and permissions".to_owned(),
            404 => format!("nothing answers at {} (404); check openai.base_url", self.place()),
            413 => "the request is too large for the API (413); ask a shorter question".to_owned(),
            429 if failed.quota => "the account has no quota left (429); see its billing page".to_owned(),
            429 => match failed.retry_after {
                Some(wait) => {
                    format!("too many requests (429); try again in {} s", whole_seconds(wait))
                }
                None => "too many requests (429); try again later".to_owned(),
            },
            500..=599 => format!("the API failed ({status}); try again later"),
            _ => format!("the API refused the request ({status})"),
        }
    }

    fn private<'a>(&'a self, question: &'a str, instructions: &'a str) -> Private<'a> {
        let headers = self.extra_headers.iter().map(Secret::expose);
        Private {
            secrets: std::iter::once(self.key.expose()).chain(headers).collect(),
            question,
            instructions,
        }
    }

    /// Takes out of a body what the model is known to refuse; gives the names.
    fn leave_out_refused(&self, model: &str, body: &mut JsonObject) -> Vec<&'static str> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let known = refused.iter().filter(|refused| refused.model == model);
        let here = known.filter(|refused| match &refused.value {
            Some(value) => refused.field.get(body) == Some(value),
            None => true,
        });
        let fields: Vec<_> = here.map(|refused| refused.field).collect();
        fields.into_iter().filter(|field| field.remove(body).is_some()).map(Optional::name).collect()
    }

    fn remember(&self, model: &str, named: Unsupported, body: &JsonObject) {
        tracing::debug!("model={model} does not take {}; asking without it", named.field.name());
        let value = if named.always { None } else { named.field.get(body).cloned() };
        let refused = Refused { model: model.to_owned(), field: named.field, value };
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).insert(refused);
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

    fn timed_out(&self, limit: Duration, begun: bool) -> Failed {
        let (seconds, done) = (limit.as_secs_f64(), if begun { "finish its answer" } else { "answer" });
        Failed::new(Cause::TimedOut, format!("{} did not {done} within {seconds} s", self.host()))
    }
}

/// The base URL, if requests may go there.
fn parse_base(openai: &Openai) -> Result<Url, String> {
    let base = Url::parse(openai.base_url.trim())
        .ok()
        .filter(|base| matches!(base.scheme(), "http" | "https") && base.has_host())
        .ok_or("openai.base_url: expected a URL such as https://api.openai.com/v1")?;
    if base.scheme() == "http" && !is_loopback(&base) && !openai.allow_insecure {
        return Err("openai.base_url: http:// would send the key in the clear; use https://, or set \
                    openai.allow_insecure: true"
            .to_owned());
    }
    Ok(base)
}

fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => {
            let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
            address.is_ok_and(|address| address.is_loopback())
        }
        None => false,
    }
}

fn to_bytes(body: &JsonObject) -> Bytes {
    // A JSON value with string keys always serialises.
    serde_json::to_vec(body).unwrap_or_default().into()
}
