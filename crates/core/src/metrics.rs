//! The metrics that `GET /metrics` returns. Each crate declares its own as statics made with [`register`]. Label values
//! must be names from the program, never input, so that the number of time series is bounded.

use std::sync::{LazyLock, Mutex, PoisonError};

use prometheus_client::registry::{Metric, Registry};

static METRICS: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);

/// The media type of the text that [`render`] returns.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Registers a metric. A counter's name gets the suffix `_total` in the output.
pub fn register<M: Metric + Clone>(name: &str, help: &str, metric: M) -> M {
    METRICS.lock().unwrap_or_else(PoisonError::into_inner).register(name, help, metric.clone());
    metric
}

/// All metrics that have been registered, in the OpenMetrics text format.
#[must_use]
pub fn render() -> String {
    let mut text = String::new();
    let metrics = METRICS.lock().unwrap_or_else(PoisonError::into_inner);
    // Writing to a `String` cannot fail.
    let _ = prometheus_client::encoding::text::encode(&mut text, &metrics);
    text
}

#[cfg(test)]
mod tests {
    use prometheus_client::metrics::counter::Counter;

    use super::*;

    #[test]
    fn a_registered_counter_is_rendered_in_the_openmetrics_format() {
        let counter: Counter = register("metrics_test", "A test", Counter::default());
        counter.inc_by(3);
        let text = render();
        assert!(text.contains("# HELP metrics_test A test.\n"), "{text}");
        assert!(text.contains("metrics_test_total 3\n"), "{text}");
        assert!(text.ends_with("# EOF\n"), "{text}");
    }
}
