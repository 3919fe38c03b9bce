//! Fetches what an OpenID provider publishes: its discovery document, its keys, and what it knows about a person. The issuer
//! is chosen by the operator, but its replies are bounded all the same.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use annai_core::JsonObject;
use http::header::CACHE_CONTROL;
use reqwest::{Client, Response, Url};
use serde::Deserialize;

use super::key_cache::IssuerKeys;
use super::keys::KeySet;
use crate::http::web_origin::{BadUrl, origin_of_setting};

/// The maximum time for one request to the issuer, and for all requests that it takes to fetch its keys.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum size of a reply of the issuer in bytes. A JWKS document has a few kilobytes; a larger reply is refused.
const MAX_REPLY_BYTES: usize = 256 * 1024;

/// An OpenID provider.
pub struct Issuer {
    /// As the operator wrote it: parsing adds a slash, and clients compare the text.
    name: String,
    url: Url,
    http: Client,
    discovered: Mutex<Option<Discovery>>,
}

/// What a discovery document says, checked.
#[derive(Debug, Clone)]
struct Discovery {
    issuer: String,
    jwks_uri: Url,
    userinfo_endpoint: Option<Url>,
}

/// The members of a discovery document that are used.
#[derive(Deserialize)]
struct IssuerDocument {
    issuer: String,
    jwks_uri: String,
    userinfo_endpoint: Option<String>,
}

impl Issuer {
    /// The provider at this URL. Nothing is fetched yet.
    ///
    /// # Errors
    ///
    /// The setting is not an https URL, or an http URL of this machine.
    pub fn new(url: &str) -> Result<Self, BadUrl> {
        const KEY: &str = "server.oauth_issuer";
        const EXPECTED: &str = "an https URL such as https://login.example.com (http only on this machine)";
        let bad = || BadUrl::expecting(KEY, EXPECTED, url);
        let origin = origin_of_setting(KEY, url)?;
        let parsed: Url = url.trim().parse().map_err(|_| bad())?;
        let has_extras = parsed.query().is_some() || parsed.fragment().is_some();
        if has_extras || !(origin.is_https() || origin.is_loopback()) {
            return Err(bad());
        }
        // Installing the provider fails only if it is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut http = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .timeout(TIMEOUT)
            .user_agent(concat!("annai/", env!("CARGO_PKG_VERSION")));
        if origin.is_loopback() {
            // Requests to this machine must not leave it through a proxy.
            http = http.no_proxy();
        }
        if !origin.is_https() {
            // Without TLS there are no certificates to verify, so none are loaded.
            http = http.tls_certs_only([]);
        }
        let http = http.build().map_err(|_| bad())?;
        Ok(Self { name: url.trim().to_owned(), url: parsed, http, discovered: Mutex::default() })
    }

    /// Its URL, as the operator wrote it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where its authorization-server metadata is.
    pub fn metadata_url(&self) -> String {
        well_known(&self.url, "oauth-authorization-server")
    }

    /// Fetches the keys, and the discovery document if it is not known yet.
    ///
    /// # Errors
    ///
    /// What went wrong, for the log.
    pub async fn fetch_keys(&self) -> Result<IssuerKeys, String> {
        let timed_out = |_| Err(format!("{} did not answer within {} s", self.name, TIMEOUT.as_secs()));
        tokio::time::timeout(TIMEOUT, self.fetch_all()).await.unwrap_or_else(timed_out)
    }

    async fn fetch_all(&self) -> Result<IssuerKeys, String> {
        let known = self.discovered.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let discovery = match known {
            Some(discovery) => discovery,
            None => self.discover().await?,
        };
        let fetched = self.fetch_jwks(&discovery).await;
        // A failure may mean that the keys have moved, so the next fetch starts with the discovery document.
        let known = fetched.is_ok().then_some(discovery);
        *self.discovered.lock().unwrap_or_else(PoisonError::into_inner) = known;
        fetched
    }

    /// Fetches what the issuer knows about the person of an access token.
    ///
    /// # Errors
    ///
    /// What went wrong, for the log.
    pub async fn fetch_userinfo(&self, url: &Url, token: &str) -> Result<JsonObject, String> {
        let request = self.http.get(url.clone()).bearer_auth(token);
        let (_, body) = read(request.send().await, url).await?;
        serde_json::from_slice(&body).map_err(|error| format!("{url}: {error}"))
    }

    async fn fetch_jwks(&self, discovery: &Discovery) -> Result<IssuerKeys, String> {
        let url = &discovery.jwks_uri;
        let (fresh_for, body) = read(self.http.get(url.clone()).send().await, url).await?;
        let keys = KeySet::parse(&body).map_err(|error| format!("{url}: not a JWKS document: {error}"))?;
        Ok(IssuerKeys {
            issuer: discovery.issuer.clone(),
            keys,
            userinfo: discovery.userinfo_endpoint.clone(),
            fresh_for,
        })
    }

    /// Fetches the discovery document of OpenID Connect, or else that of OAuth (RFC 8414).
    async fn discover(&self) -> Result<Discovery, String> {
        let base = self.url.as_str().trim_end_matches('/');
        let places = [
            format!("{base}/.well-known/openid-configuration"),
            well_known(&self.url, "oauth-authorization-server"),
        ];
        let mut problems = Vec::new();
        for place in places {
            match self.fetch_discovery(&place).await {
                Ok(discovery) => return Ok(discovery),
                Err(problem) => problems.push(problem),
            }
        }
        Err(problems.join("; "))
    }

    async fn fetch_discovery(&self, place: &str) -> Result<Discovery, String> {
        let url: Url = place.parse().map_err(|error| format!("{place}: {error}"))?;
        let (_, body) = read(self.http.get(url.clone()).send().await, &url).await?;
        let document: IssuerDocument = serde_json::from_slice(&body)
            .map_err(|error| format!("{url}: not a discovery document: {error}"))?;
        if document.issuer.trim_end_matches('/') != self.name.trim_end_matches('/') {
            return Err(format!("{url}: the document is of another issuer, {}", document.issuer));
        }
        let endpoint = |name: &str, text: &str| {
            safe_url(text).ok_or_else(|| format!("{url}: {name} is not an https URL"))
        };
        let userinfo = document.userinfo_endpoint;
        Ok(Discovery {
            jwks_uri: endpoint("jwks_uri", &document.jwks_uri)?,
            userinfo_endpoint: userinfo.map(|text| endpoint("userinfo_endpoint", &text)).transpose()?,
            issuer: document.issuer,
        })
    }
}

/// A URL to which a request may be sent: https, or this machine.
fn safe_url(text: &str) -> Option<Url> {
    let origin = origin_of_setting("", text).ok()?;
    (origin.is_https() || origin.is_loopback()).then(|| text.parse().ok())?
}

/// The well-known URL of an issuer whose URL may have a path (RFC 8414).
fn well_known(issuer: &Url, name: &str) -> String {
    let origin = issuer.origin().ascii_serialization();
    let path = issuer.path().trim_end_matches('/');
    format!("{origin}/.well-known/{name}{path}")
}

/// Reads a reply that must be 200 and small. Returns how long it may be cached, and its body.
async fn read(
    reply: Result<Response, reqwest::Error>,
    url: &Url,
) -> Result<(Option<Duration>, Vec<u8>), String> {
    let failed = |error: reqwest::Error| format!("{url}: {}", innermost_cause(&error));
    let mut reply = reply.map_err(failed)?;
    if reply.status() != http::StatusCode::OK {
        return Err(format!("{url}: status {}", reply.status()));
    }
    // A repeated header continues the list.
    let directives = reply.headers().get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let fresh_for = max_age(&directives.collect::<Vec<_>>().join(","));
    let mut body = Vec::new();
    while let Some(chunk) = reply.chunk().await.map_err(failed)? {
        if body.len() + chunk.len() > MAX_REPLY_BYTES {
            return Err(format!("{url}: the reply is longer than {MAX_REPLY_BYTES} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok((fresh_for, body))
}

/// How long a reply may be cached; `None` when the header does not say.
fn max_age(cache_control: &str) -> Option<Duration> {
    let directives = || cache_control.split(',').map(|part| part.trim().to_ascii_lowercase());
    if directives().any(|directive| matches!(directive.as_str(), "no-store" | "no-cache")) {
        return Some(Duration::ZERO);
    }
    let seconds = directives().find_map(|directive| directive.strip_prefix("max-age=").map(str::to_owned));
    seconds.and_then(|seconds| seconds.trim_matches('"').parse().ok()).map(Duration::from_secs)
}

fn innermost_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_needs_https_except_on_this_machine() {
        for url in [
            "https://login.example.com",
            "https://t.auth0.com/",
            "http://127.0.0.1:4000/realm",
            "http://localhost:1",
        ] {
            assert!(Issuer::new(url).is_ok(), "{url}");
        }
        for url in [
            "http://login.example.com",
            "login.example.com",
            "https://u:p@x.example",
            "https://x.example/?a=b",
            "ftp://x",
        ] {
            assert!(Issuer::new(url).is_err(), "{url}");
        }
    }

    #[test]
    fn the_path_of_an_issuer_follows_the_well_known_name() {
        let issuer = Issuer::new("https://login.example.com/realms/a/").unwrap();
        assert_eq!(
            issuer.metadata_url(),
            "https://login.example.com/.well-known/oauth-authorization-server/realms/a"
        );
        let issuer = Issuer::new("https://t.auth0.com/").unwrap();
        assert_eq!(issuer.metadata_url(), "https://t.auth0.com/.well-known/oauth-authorization-server");
    }

    #[test]
    fn cache_control_is_read_leniently() {
        for (header, expected) in [
            ("public, max-age=600", Some(600)),
            ("MAX-AGE=5, must-revalidate", Some(5)),
            ("no-cache, max-age=600", Some(0)),
            ("max-age=soon", None),
            ("public", None),
        ] {
            assert_eq!(max_age(header), expected.map(Duration::from_secs), "{header}");
        }
    }
}
