//! Runs services over HTTP with the guarded client, and checks where a sponsor wants them to be run.

use std::collections::BTreeMap;
use std::error::Error as _;

use annai_egress::{
    Access, EgressClient, EgressError, EgressSettings, Method, Network, OutboundRequest, RequestHeaders,
    Target,
};
use futures_util::future::BoxFuture;
use serde_json::json;

use crate::domain::sponsored_api::UpstreamMethod;
use crate::domain::text::{FieldError, Problem};
use crate::upstream::{HttpTarget, Upstream, UpstreamFailure, UpstreamReply, UpstreamRequest};

/// Calls upstreams with the guarded client: 12 seconds, 1 MiB, public addresses only unless the operator permits others.
pub struct HttpUpstream {
    access: Access,
    client: EgressClient,
}

impl HttpUpstream {
    /// A client for upstreams with these addresses. Nothing is loaded before the first call.
    #[must_use]
    pub fn new(access: Access) -> Self {
        Self::with_network(EgressSettings { access, ..EgressSettings::default() }, Network::default())
    }

    /// A client with other limits, or on another network.
    #[must_use]
    pub fn with_network(settings: EgressSettings, network: Network) -> Self {
        Self { access: settings.access, client: EgressClient::with_network(settings, network) }
    }

    async fn send(&self, request: &UpstreamRequest) -> Result<UpstreamReply, EgressError> {
        let target = Target::parse(&request.target.url, self.access)?;
        let headers = parse_headers(&request.target.headers)?;
        let body = json!({ "input": &*request.input });
        let request = OutboundRequest {
            target: &target,
            method: match request.target.method {
                UpstreamMethod::Post => Method::Post,
                UpstreamMethod::Put => Method::Put,
                UpstreamMethod::Patch => Method::Patch,
            },
            headers: &headers,
            idempotency_key: Some(request.idempotency_key.as_str()),
            body: Some(&body),
        };
        let reply = self.client.send(request).await?;
        Ok(UpstreamReply { status: reply.status, body: reply.text })
    }
}

impl Upstream for HttpUpstream {
    fn check<'a>(&'a self, target: &'a HttpTarget) -> BoxFuture<'a, Result<(), UpstreamFailure>> {
        Box::pin(async move {
            let parsed = Target::parse(&target.url, self.access).map_err(failure)?;
            parse_headers(&target.headers).map_err(failure)?;
            self.client.check_target(&parsed).await.map_err(failure)
        })
    }

    fn call(&self, request: UpstreamRequest) -> BoxFuture<'_, Result<UpstreamReply, UpstreamFailure>> {
        Box::pin(async move {
            self.send(&request).await.map_err(|error| {
                // The cause may name addresses, so it goes no further than the log.
                if let Some(cause) = error.source() {
                    tracing::warn!(%cause, "the upstream of a service failed: {error}");
                }
                failure(error)
            })
        })
    }
}

fn parse_headers(headers: &BTreeMap<String, String>) -> Result<RequestHeaders, EgressError> {
    RequestHeaders::parse(headers.iter().map(|(name, value)| (name.as_str(), value.as_str())))
}

#[expect(clippy::needless_pass_by_value, reason = "it ends the way of an error through map_err")]
fn failure(error: EgressError) -> UpstreamFailure {
    UpstreamFailure { status: error.status(), problem: error.to_string() }
}

/// Checks that the headers of an upstream can be sent.
///
/// # Errors
///
/// The first header that cannot.
pub fn check_headers(headers: &BTreeMap<String, String>) -> Result<(), FieldError> {
    match parse_headers(headers) {
        Ok(_) => Ok(()),
        Err(error) => Err(Problem::new(error.to_string()).of("upstream_headers")),
    }
}
