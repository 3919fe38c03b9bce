//! The services of another server, through its routes `/gpt/*`.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use annai_core::config::Secret;
use reqwest::{Client, Method, RequestBuilder, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::api_keys::AUTHORIZATION_FIELD;
use crate::domain::idempotency::IdempotencyKey;
use crate::domain::ids::{CampaignId, SessionToken};
use crate::domain::preferences::{NewPreferences, PreferencesReport, PreferencesSaved};
use crate::domain::search::{SearchQuery, SearchReport};
use crate::domain::task::{CompletionReport, TaskDetails, TaskSubmission};
use crate::domain::text::one_line;
use crate::domain::user::{SignIn, SignInReport, UserStatus, VerifiedSubject};
use crate::error::ServicesError;
use crate::runs::RunReport;
use crate::session_header::SESSION_HEADER;

/// How long the other server may take for one reply.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum size of a reply in bytes: the output of a run has at most one MiB, and JSON may escape each byte.
const MAX_REPLY_BYTES: usize = 8 << 20;
/// How long to wait before asking again for the result of a run that is in progress.
const POLL_DELAY: Duration = Duration::from_millis(500);

/// How much of the other server's words a caller gets, in characters: its sentences are shorter.
const MAX_MESSAGE_CHARS: usize = 500;
/// The maximum size of the details of its errors in bytes; longer ones are left out.
const MAX_DETAILS_BYTES: usize = 4 << 10;

/// Whether the way to a server beyond this machine must be encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendTransport {
    /// It must be https: the key and the sessions of people travel on it.
    Encrypted,
    /// It may be plain, because the operator says that the network is private.
    Any,
}

/// A client of the routes `/gpt/*` of another server.
pub struct RemoteServices {
    base: Url,
    key: Secret,
    http: Client,
    /// Whether the other server has said that it takes sessions in a header. Sessions come from its sign-in, which says so.
    takes_header: AtomicBool,
}

/// The body of a failed reply.
#[derive(Deserialize)]
struct ErrorBody {
    error: ErrorMembers,
}

#[derive(Deserialize)]
struct ErrorMembers {
    code: String,
    message: String,
    details: Option<Value>,
}

impl RemoteServices {
    /// A client of the server at `url`, of which a bare host name means https. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// What is wrong with the URL, in words that continue the name of the setting.
    pub fn new(url: &str, key: Secret, transport: BackendTransport) -> Result<Self, String> {
        let url = url.trim().trim_end_matches('/');
        let url = if url.contains("://") { url.to_owned() } else { format!("https://{url}") };
        let base: Url =
            url.parse().map_err(|_| "expected a URL such as https://backend.example.com".to_owned())?;
        let is_valid = matches!(base.scheme(), "http" | "https")
            && base.has_host()
            && base.username().is_empty()
            && base.password().is_none()
            && base.query().is_none();
        if !is_valid {
            return Err("expected a URL such as https://backend.example.com".to_owned());
        }
        if base.scheme() == "http" && transport == BackendTransport::Encrypted && !is_loopback(&base) {
            return Err("expected https:// for a server on another machine, because its key and the sessions of people travel there; where the network between them is private, set services.allow_plain_backend (ALLOW_PLAIN_BACKEND)".to_owned());
        }
        // Installing the provider fails only if it is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .no_proxy()
            .timeout(TIMEOUT)
            .user_agent(concat!("annai/", env!("CARGO_PKG_VERSION")));
        // Without TLS there are no certificates to verify, so none are loaded.
        let http = if base.scheme() == "http" { http.tls_certs_only([]) } else { http };
        let http = http.build().map_err(|error| format!("TLS cannot be set up: {error}"))?;
        Ok(Self { base, key, http, takes_header: AtomicBool::new(false) })
    }

    pub async fn sign_in(
        &self,
        sign_in: &SignIn,
        subject: &VerifiedSubject,
    ) -> Result<SignInReport, ServicesError> {
        let body = json!({
            "email": sign_in.email, "region": sign_in.region, "roles": sign_in.roles, "tools_used": sign_in.tools_used,
            "issuer": subject.issuer, "subject": subject.subject,
        });
        // Signing in twice is the same as once, so it may be repeated like a read.
        self.read(None, || Ok(self.request(Method::POST, &["gpt", "auth"])?.json(&body))).await
    }

    pub async fn search(
        &self,
        query: &SearchQuery,
        session: Option<SessionToken>,
    ) -> Result<SearchReport, ServicesError> {
        let mut parameters: Vec<(&str, String)> = Vec::new();
        let mut add = |name, value: Option<String>| parameters.extend(value.map(|value| (name, value)));
        add("q", query.q.as_ref().map(ToString::to_string));
        add("category", query.category.as_ref().map(ToString::to_string));
        add("max_budget_cents", query.max_budget_cents.map(|cents| cents.get().to_string()));
        add("intent", query.intent.as_ref().map(ToString::to_string));
        add("limit", Some(query.limit.get().to_string()));
        let path = ["gpt", "services"];
        self.read(session, || {
            let request = self.request(Method::GET, &path)?.query(&parameters);
            Ok(session.into_iter().fold(request, |request, session| self.in_query(request, session)))
        })
        .await
    }

    pub async fn task_details(
        &self,
        session: SessionToken,
        campaign: CampaignId,
    ) -> Result<TaskDetails, ServicesError> {
        self.read_of(session, &["gpt", "tasks", &campaign.to_string()]).await
    }

    pub async fn complete_task(
        &self,
        session: SessionToken,
        campaign: CampaignId,
        submission: &TaskSubmission,
    ) -> Result<CompletionReport, ServicesError> {
        let TaskSubmission { task_name, details, consent } = submission;
        let mut body = json!({ "task_name": task_name, "consent": consent });
        if let (Some(details), Some(members)) = (details, body.as_object_mut()) {
            members.insert("details".to_owned(), details.to_string().into());
        }
        let path = ["gpt", "tasks", &campaign.to_string(), "complete"];
        // Completing twice returns the first completion, so it may be repeated.
        self.read(Some(session), || Ok(self.in_body(self.request(Method::POST, &path)?, session, &body)))
            .await
    }

    /// Runs a service. Every run has a key, so that asking again never runs it twice.
    pub async fn run(
        &self,
        session: SessionToken,
        service: &str,
        input: &str,
        key: Option<IdempotencyKey>,
        deadline: Option<Instant>,
    ) -> Result<RunReport, ServicesError> {
        let key = key.unwrap_or_else(IdempotencyKey::random);
        let body = json!({ "input": input });
        let path = ["gpt", "services", service, "run"];
        let mut may_repeat = true;
        loop {
            let request = self.in_body(self.request(Method::POST, &path)?, session, &body);
            let request = request.header("idempotency-key", key.as_str());
            let has_time = deadline.is_none_or(|deadline| Instant::now() + POLL_DELAY < deadline);
            match self.send(Some(session), request).await {
                Err(ServicesError::Remote { code: "in_progress", .. }) if has_time => {}
                Err(ServicesError::BackendUnavailable(_)) if may_repeat && has_time => may_repeat = false,
                result => return result,
            }
            tokio::time::sleep(POLL_DELAY).await;
        }
    }

    pub async fn user_status(&self, session: SessionToken) -> Result<UserStatus, ServicesError> {
        self.read_of(session, &["gpt", "user", "status"]).await
    }

    pub async fn preferences(&self, session: SessionToken) -> Result<PreferencesReport, ServicesError> {
        self.read_of(session, &["gpt", "preferences"]).await
    }

    pub async fn set_preferences(
        &self,
        session: SessionToken,
        preferences: &NewPreferences,
    ) -> Result<PreferencesSaved, ServicesError> {
        let body = json!({ "preferences": preferences.entries() });
        let path = ["gpt", "preferences"];
        // Setting the same preferences twice is the same as once.
        self.read(Some(session), || Ok(self.in_body(self.request(Method::POST, &path)?, session, &body)))
            .await
    }

    async fn read_of<T: DeserializeOwned>(
        &self,
        session: SessionToken,
        path: &[&str],
    ) -> Result<T, ServicesError> {
        self.read(Some(session), || Ok(self.in_query(self.request(Method::GET, path)?, session))).await
    }

    /// A request of a session, which is in a header; in the query only for servers that know no other way.
    fn in_query(&self, request: RequestBuilder, session: SessionToken) -> RequestBuilder {
        match self.takes_header.load(Ordering::Relaxed) {
            true => request.header(SESSION_HEADER, session.expose()),
            false => request.query(&[("session_token", session.expose())]),
        }
    }

    /// A request of a session with a body, which has the session for servers that know no header.
    fn in_body(&self, request: RequestBuilder, session: SessionToken, body: &Value) -> RequestBuilder {
        if self.takes_header.load(Ordering::Relaxed) {
            return request.header(SESSION_HEADER, session.expose()).json(body);
        }
        let mut body = body.clone();
        if let Some(members) = body.as_object_mut() {
            members.insert("session_token".to_owned(), session.expose().into());
        }
        request.json(&body)
    }

    /// Asks for one service, to see whether the other server answers and accepts the key.
    pub async fn check(&self) -> Result<(), ServicesError> {
        let query = [("limit", "1")];
        let request = || Ok(self.request(Method::GET, &["gpt", "services"])?.query(&query));
        self.read::<SearchReport>(None, request).await.map(|_| ())
    }

    /// Where the other server is.
    pub fn base(&self) -> &str {
        self.base.as_str()
    }

    /// Sends a request that changes nothing when it is repeated; once more if the other server cannot be reached.
    async fn read<T: DeserializeOwned>(
        &self,
        session: Option<SessionToken>,
        request: impl Fn() -> Result<RequestBuilder, ServicesError>,
    ) -> Result<T, ServicesError> {
        match self.send(session, request()?).await {
            Err(ServicesError::BackendUnavailable(_)) => self.send(session, request()?).await,
            result => result,
        }
    }

    fn request(&self, method: Method, path: &[&str]) -> Result<RequestBuilder, ServicesError> {
        let mut url = self.base.clone();
        let segments = url.path_segments_mut();
        let mut segments = segments.map_err(|()| ServicesError::internal("the backend URL has no path"))?;
        segments.pop_if_empty().extend(path);
        drop(segments);
        Ok(self.http.request(method, url).bearer_auth(self.key.expose()))
    }

    async fn send<T: DeserializeOwned>(
        &self,
        session: Option<SessionToken>,
        request: RequestBuilder,
    ) -> Result<T, ServicesError> {
        let unavailable = |error: reqwest::Error| ServicesError::backend_unavailable(error.without_url());
        let mut reply = request.send().await.map_err(unavailable)?;
        let status = reply.status();
        if reply.headers().contains_key(SESSION_HEADER) {
            self.takes_header.store(true, Ordering::Relaxed);
        }
        let mut body = Vec::new();
        while let Some(chunk) = reply.chunk().await.map_err(unavailable)? {
            if body.len() + chunk.len() > MAX_REPLY_BYTES {
                return Err(ServicesError::backend_unavailable(std::io::Error::other(
                    "the reply is too long",
                )));
            }
            body.extend_from_slice(&chunk);
        }
        if status.is_success() {
            return serde_json::from_slice(&body).map_err(ServicesError::backend_unavailable);
        }
        let error: ErrorBody = serde_json::from_slice(&body).map_err(ServicesError::backend_unavailable)?;
        let ErrorMembers { code, message, details } = error.error;
        let field = details.as_ref().and_then(|details| details.get("field")).and_then(Value::as_str);
        Err(match status.as_u16() {
            401 | 403 if field == Some(AUTHORIZATION_FIELD) => ServicesError::BackendKeyRefused,
            401 if code == "unauthorized" => ServicesError::SessionExpired,
            status => {
                let message = one_line(&self.without_secrets(&message, session), MAX_MESSAGE_CHARS);
                let details = details.map(|details| self.details_without_secrets(details, session));
                let details = details.filter(|details| details.to_string().len() <= MAX_DETAILS_BYTES);
                ServicesError::remote(status, &code, message, details)
            }
        })
    }

    /// A text of the other server without what this one has sent it in confidence.
    fn without_secrets(&self, text: &str, session: Option<SessionToken>) -> String {
        let key = self.key.expose().trim();
        let text = if key.is_empty() { text.to_owned() } else { text.replace(key, "[key]") };
        match session {
            Some(session) => text.replace(&session.expose(), "[session]"),
            None => text,
        }
    }

    /// The same for each text in the details of an error, where JSON may write a key with escapes.
    fn details_without_secrets(&self, details: Value, session: Option<SessionToken>) -> Value {
        let clean = |value| self.details_without_secrets(value, session);
        match details {
            Value::String(text) => self.without_secrets(&text, session).into(),
            Value::Array(values) => values.into_iter().map(clean).collect(),
            Value::Object(members) => members
                .into_iter()
                .map(|(name, value)| (self.without_secrets(&name, session), clean(value)))
                .collect(),
            other => other,
        }
    }
}

/// Whether a URL leads to this machine.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
#[path = "remote_tests.rs"]
mod tests;
