//! The services of another server, through its routes `/gpt/*`.

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
use crate::domain::user::{SignIn, SignInReport, UserStatus, VerifiedSubject};
use crate::error::ServicesError;
use crate::runs::RunReport;

/// How long the other server may take for one reply.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum size of a reply in bytes: the output of a run has at most one MiB, and JSON may escape each byte.
const MAX_REPLY_BYTES: usize = 8 << 20;
/// How long to wait before asking again for the result of a run that is in progress.
const POLL_DELAY: Duration = Duration::from_millis(500);

/// A client of the routes `/gpt/*` of another server.
pub struct RemoteServices {
    base: Url,
    key: Secret,
    http: Client,
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
    pub fn new(url: &str, key: Secret) -> Result<Self, String> {
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
        Ok(Self { base, key, http })
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
        self.read(|| Ok(self.request(Method::POST, &["gpt", "auth"])?.json(&body))).await
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
        add("session_token", session.map(|session| session.expose()));
        self.read(|| Ok(self.request(Method::GET, &["gpt", "services"])?.query(&parameters))).await
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
        let mut body =
            json!({ "session_token": session.expose(), "task_name": task_name, "consent": consent });
        if let (Some(details), Some(members)) = (details, body.as_object_mut()) {
            members.insert("details".to_owned(), details.to_string().into());
        }
        let path = ["gpt", "tasks", &campaign.to_string(), "complete"];
        // Completing twice returns the first completion, so it may be repeated.
        self.read(|| Ok(self.request(Method::POST, &path)?.json(&body))).await
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
        let body = json!({ "session_token": session.expose(), "input": input });
        let path = ["gpt", "services", service, "run"];
        let mut may_repeat = true;
        loop {
            let request =
                self.request(Method::POST, &path)?.json(&body).header("idempotency-key", key.as_str());
            let has_time = deadline.is_none_or(|deadline| Instant::now() + POLL_DELAY < deadline);
            match self.send(request).await {
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
        let body = json!({ "session_token": session.expose(), "preferences": preferences.entries() });
        // Setting the same preferences twice is the same as once.
        self.read(|| Ok(self.request(Method::POST, &["gpt", "preferences"])?.json(&body))).await
    }

    async fn read_of<T: DeserializeOwned>(
        &self,
        session: SessionToken,
        path: &[&str],
    ) -> Result<T, ServicesError> {
        let parameters = [("session_token", session.expose())];
        self.read(|| Ok(self.request(Method::GET, path)?.query(&parameters))).await
    }

    /// Sends a request that changes nothing when it is repeated; once more if the other server cannot be reached.
    async fn read<T: DeserializeOwned>(
        &self,
        request: impl Fn() -> Result<RequestBuilder, ServicesError>,
    ) -> Result<T, ServicesError> {
        match self.send(request()?).await {
            Err(ServicesError::BackendUnavailable(_)) => self.send(request()?).await,
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

    async fn send<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, ServicesError> {
        let unavailable = |error: reqwest::Error| ServicesError::backend_unavailable(error.without_url());
        let mut reply = request.send().await.map_err(unavailable)?;
        let status = reply.status();
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
            status => ServicesError::remote(status, &code, message, details),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_host_means_https() {
        let base =
            |url: &str| RemoteServices::new(url, Secret::new("k")).map(|remote| remote.base.to_string());
        assert_eq!(base("backend.example.com").unwrap(), "https://backend.example.com/");
        assert_eq!(base("http://127.0.0.1:3001/").unwrap(), "http://127.0.0.1:3001/");
        assert_eq!(base("https://a.example/base/").unwrap(), "https://a.example/base");
        for url in ["", "ftp://a.example", "https://u:p@a.example", "https://a.example/?x=1"] {
            assert!(base(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_service_with_odd_characters_stays_one_segment_of_the_path() {
        let remote = RemoteServices::new("https://a.example/base", Secret::new("k")).unwrap();
        let request = remote.request(Method::GET, &["gpt", "services", "a/../b ?#", "run"]).unwrap();
        let url = request.build().unwrap().url().to_string();
        assert_eq!(url, "https://a.example/base/gpt/services/a%2F..%2Fb%20%3F%23/run");
    }
}
