//! Metrics of the requests to the API.

use std::sync::LazyLock;

use annai_core::metrics::register;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

/// The label that names the API among all upstream servers.
const SERVER: &str = "openai";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    server: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ServerLabel {
    server: &'static str,
}

static REQUESTS: LazyLock<Family<RequestLabels, Counter>> = LazyLock::new(|| {
    register("annai_upstream_requests", "Requests to servers that tools depend on", Family::default())
});

static RETRIES: LazyLock<Family<ServerLabel, Counter>> = LazyLock::new(|| {
    register("annai_upstream_retries", "Repeated requests to servers that tools depend on", Family::default())
});

static REQUERIES: LazyLock<Counter> = LazyLock::new(|| {
    register(
        "annai_answers_requeries",
        "Questions that were asked again because the model made no search",
        Counter::default(),
    )
});

/// Counts a question that is asked again for want of a search.
pub fn count_requery() {
    REQUERIES.inc();
}

/// Counts a request by its HTTP status; 0 when there was no response.
pub fn count_request(status: u16) {
    REQUESTS.get_or_create(&RequestLabels { server: SERVER, status }).inc();
}

/// Counts a request that is repeated.
pub fn count_retry() {
    RETRIES.get_or_create(&ServerLabel { server: SERVER }).inc();
}
