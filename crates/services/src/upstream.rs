//! The seam to what runs a service over HTTP. The guarded client implements it; tests have their own.

use std::collections::BTreeMap;

use futures_util::future::BoxFuture;

use crate::domain::ids::TxHash;
use crate::domain::sponsored_api::UpstreamMethod;
use crate::domain::text::Input;

/// Where an HTTP upstream is, and how it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpTarget {
    /// The URL.
    pub url: String,
    /// The method.
    pub method: UpstreamMethod,
    /// The sponsor's headers.
    pub headers: BTreeMap<String, String>,
}

/// One call of an upstream: the JSON body is `{"input": …}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamRequest {
    /// Where to.
    pub target: HttpTarget,
    /// The input.
    pub input: Input,
    /// The value of the header `Idempotency-Key`: the same for every attempt of one payment.
    pub idempotency_key: TxHash,
}

/// A complete answer of an upstream within the limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamReply {
    /// The HTTP status, which is a 2xx.
    pub status: u16,
    /// The text of the answer, unchanged.
    pub body: String,
}

/// Why an upstream gave no such answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct UpstreamFailure {
    /// Its HTTP status, if it answered.
    pub status: Option<u16>,
    /// What went wrong, in words that continue `the upstream failed: …`. Never what the upstream wrote.
    pub problem: String,
}

/// Runs services over HTTP.
pub trait Upstream: Send + Sync + 'static {
    /// Checks a target when a sponsored API is created: its scheme and its addresses.
    fn check<'a>(&'a self, target: &'a HttpTarget) -> BoxFuture<'a, Result<(), UpstreamFailure>>;

    /// Calls the upstream and waits for its complete answer, within the limits of size and time.
    fn call(&self, request: UpstreamRequest) -> BoxFuture<'_, Result<UpstreamReply, UpstreamFailure>>;
}
