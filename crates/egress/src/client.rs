//! Sends requests.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use tokio::sync::OnceCell;

use crate::access::Access;
use crate::address::{AddressClass, classify};
use crate::error::EgressError;
use crate::guard::Guard;
use crate::limits::MAX_KEY_BYTES;
use crate::reply::{Reply, read_reply};
use crate::request::OutboundRequest;
use crate::resolver::{Resolver, SystemResolver};
use crate::target::Target;

/// The name by which this program introduces itself, unless the headers of a request have another one.
const USER_AGENT: &str = concat!("annai/", env!("CARGO_PKG_VERSION"));
/// The header that lets an upstream recognize a repeated request.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The limits of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EgressSettings {
    /// Which targets are allowed.
    pub access: Access,
    /// The time limit of a request: name look-up, connection, TLS, headers and body together. Beyond it the request
    /// fails.
    pub time_limit: Duration,
    /// The maximum size of a reply in bytes. A larger one is not read to its end, and the request fails.
    pub max_reply_bytes: usize,
}

impl Default for EgressSettings {
    /// Public targets only, 12 seconds, and 1 MiB.
    fn default() -> Self {
        Self { access: Access::PublicOnly, time_limit: Duration::from_secs(12), max_reply_bytes: 1024 * 1024 }
    }
}

/// What a client needs to know about the network. Tests replace it.
pub struct Network {
    /// Finds the addresses of names.
    pub resolver: Arc<dyn Resolver>,
    /// Decides which addresses are public.
    pub classify: fn(IpAddr) -> AddressClass,
    /// The root certificates that are trusted, in DER; `None` for those of the operating system.
    pub trusted_roots: Option<Vec<Vec<u8>>>,
}

impl Default for Network {
    /// The real network.
    fn default() -> Self {
        Self { resolver: Arc::new(SystemResolver::default()), classify, trusted_roots: None }
    }
}

/// A client for requests to targets that other people chose.
pub struct EgressClient {
    settings: EgressSettings,
    guard: Guard,
    trusted_roots: Option<Vec<Vec<u8>>>,
    /// Made by the first request, because it loads the root certificates.
    https: OnceCell<reqwest::Client>,
    /// It works on machines without root certificates too.
    http: OnceCell<reqwest::Client>,
}

impl EgressClient {
    /// A client. Nothing is loaded before the first request.
    #[must_use]
    pub fn new(settings: EgressSettings) -> Self {
        Self::with_network(settings, Network::default())
    }

    /// A client on this network.
    #[must_use]
    pub fn with_network(settings: EgressSettings, network: Network) -> Self {
        let Network { resolver, classify, trusted_roots } = network;
        let guard = Guard { access: settings.access, classify, resolver };
        Self { settings, guard, trusted_roots, https: OnceCell::new(), http: OnceCell::new() }
    }

    /// Checks that a request to this target would be allowed now: its URL and every address of its host. Nothing is sent
    /// to the target.
    pub async fn check_target(&self, target: &Target) -> Result<(), EgressError> {
        self.within_time_limit(async {
            self.check_without_lookup(target)?;
            if target.literal_address().is_none() {
                self.guard.lookup(target.host()).await?;
            }
            Ok(())
        })
        .await
    }

    /// Sends a request and reads the reply. It is an error if the reply is incomplete, or if its status is not 2xx.
    pub async fn send(&self, request: OutboundRequest<'_>) -> Result<Reply, EgressError> {
        self.within_time_limit(async {
            let target = request.target;
            // The target may have been parsed for a client with other settings.
            self.check_without_lookup(target)?;
            let headers = request_headers(&request)?;
            let mut builder =
                self.http_client(target).await?.request(request.method.into(), target.url()).headers(headers);
            if let Some(body) = request.body {
                builder = builder.body(body.to_string());
            }
            let response = builder
                .send()
                .await
                .map_err(|error| EgressError::from_send(error, self.settings.time_limit))?;
            read_reply(response, self.settings.max_reply_bytes, target.connection_end()).await
        })
        .await
    }

    fn check_without_lookup(&self, target: &Target) -> Result<(), EgressError> {
        target.check_url(self.settings.access)?;
        target
            .literal_address()
            .map_or(Ok(()), |address| self.guard.check_literal(address))
            .map_err(EgressError::ForbiddenAddress)
    }

    async fn within_time_limit<T>(
        &self,
        work: impl Future<Output = Result<T, EgressError>>,
    ) -> Result<T, EgressError> {
        let limit = self.settings.time_limit;
        tokio::time::timeout(limit, work).await.unwrap_or(Err(EgressError::TimedOut { limit }))
    }

    async fn http_client(&self, target: &Target) -> Result<&reqwest::Client, EgressError> {
        let client = if target.is_encrypted() {
            self.https.get_or_try_init(async || self.build_http_client(self.trusted_roots.as_deref())).await
        } else {
            // Without TLS there are no certificates to verify.
            self.http.get_or_try_init(async || self.build_http_client(Some(&[]))).await
        };
        client.map_err(|error| EgressError::Setup(error.into()))
    }

    fn build_http_client(&self, trusted_roots: Option<&[Vec<u8>]>) -> reqwest::Result<reqwest::Client> {
        // Installing the provider fails only if it is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let mut builder = reqwest::Client::builder()
            .dns_resolver(self.guard.clone())
            // A kept connection would lead to an address that was checked for an earlier request.
            .pool_max_idle_per_host(0)
            // A proxy would resolve the name once more, beyond the guard.
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            // These are off as long as no crate of the program turns on a feature of the HTTP client.
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .no_zstd()
            // The addresses of a name share this time, so that one which does not answer leaves time for the next.
            .connect_timeout(self.settings.time_limit)
            .tcp_nodelay(true)
            .user_agent(USER_AGENT)
            .default_headers(headers);
        if let Some(roots) = trusted_roots {
            let roots: Vec<_> =
                roots.iter().map(|der| reqwest::Certificate::from_der(der)).collect::<Result<_, _>>()?;
            builder = builder.tls_certs_only(roots);
        }
        builder.build()
    }
}

/// The chosen headers and our own.
fn request_headers(request: &OutboundRequest<'_>) -> Result<HeaderMap, EgressError> {
    let mut headers = request.headers.to_map();
    if request.body.is_some() && !request.headers.has_content_type() {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    if let Some(key) = request.idempotency_key {
        let is_valid =
            (1..=MAX_KEY_BYTES).contains(&key.len()) && key.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        let value = is_valid.then(|| HeaderValue::from_str(key).ok()).flatten();
        headers.insert(IDEMPOTENCY_KEY, value.ok_or(EgressError::IdempotencyKey)?);
    }
    Ok(headers)
}
