//! The metrics of the HTTP transport.

use std::sync::LazyLock;

use annai_core::metrics::register;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    /// The pattern of the route, never the requested path, so that the number of time series is bounded.
    route: String,
    status: u16,
}

static REQUESTS: LazyLock<Family<RequestLabels, Counter>> =
    LazyLock::new(|| register("http_requests", "HTTP requests", Family::default()));

/// Counts a request by its route and status.
pub fn count_request(route: &str, status: u16) {
    REQUESTS.get_or_create(&RequestLabels { route: route.to_owned(), status }).inc();
}
