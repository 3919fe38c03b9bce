//! Counters that `/metrics` shows. Labels come from our own names, so their number is bounded.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The upper bounds of the buckets of `annai_tool_seconds`.
const BUCKETS: [f64; 10] = [0.001, 0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0];

#[derive(Default)]
struct Metrics {
    tool_calls: BTreeMap<(&'static str, bool), u64>,
    tool_seconds: BTreeMap<&'static str, Histogram>,
    http_requests: BTreeMap<(&'static str, u16), u64>,
    upstream_requests: BTreeMap<(&'static str, u16), u64>,
    upstream_retries: BTreeMap<&'static str, u64>,
}

#[derive(Default)]
struct Histogram {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    sum: f64,
}

static METRICS: Mutex<Metrics> = Mutex::new(Metrics {
    tool_calls: BTreeMap::new(),
    tool_seconds: BTreeMap::new(),
    http_requests: BTreeMap::new(),
    upstream_requests: BTreeMap::new(),
    upstream_retries: BTreeMap::new(),
});

fn lock() -> MutexGuard<'static, Metrics> {
    METRICS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a call of a tool.
pub fn tool_called(tool: &'static str, ok: bool, took: Duration) {
    let mut metrics = lock();
    *metrics.tool_calls.entry((tool, ok)).or_default() += 1;
    let histogram = metrics.tool_seconds.entry(tool).or_default();
    let seconds = took.as_secs_f64();
    for (bucket, bound) in histogram.buckets.iter_mut().zip(BUCKETS) {
        *bucket += u64::from(seconds <= bound);
    }
    histogram.count += 1;
    histogram.sum += seconds;
}

/// Counts an HTTP request by its route (a pattern, not a path) and status.
pub fn http_answered(route: &'static str, status: u16) {
    *lock().http_requests.entry((route, status)).or_default() += 1;
}

/// Counts a request to a server that we depend on; status 0 when none came back.
pub fn upstream_asked(server: &'static str, status: u16) {
    *lock().upstream_requests.entry((server, status)).or_default() += 1;
}

/// Counts a request that is made again.
pub fn upstream_retried(server: &'static str) {
    *lock().upstream_retries.entry(server).or_default() += 1;
}

/// Everything in Prometheus' text format.
#[must_use]
pub fn render() -> String {
    let metrics = lock();
    let mut out = String::new();
    let head = |out: &mut String, name: &str, kind: &str, help: &str| {
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
    };
    head(&mut out, "annai_tool_calls_total", "counter", "Calls of tools.");
    for ((tool, ok), count) in &metrics.tool_calls {
        let _ = writeln!(out, "annai_tool_calls_total{{tool=\"{tool}\",ok=\"{ok}\"}} {count}");
    }
    head(&mut out, "annai_tool_seconds", "histogram", "How long calls took.");
    for (tool, histogram) in &metrics.tool_seconds {
        for (count, bound) in histogram.buckets.iter().zip(BUCKETS) {
            let _ = writeln!(out, "annai_tool_seconds_bucket{{tool=\"{tool}\",le=\"{bound}\"}} {count}");
        }
        let Histogram { count, sum, .. } = histogram;
        let _ = writeln!(out, "annai_tool_seconds_bucket{{tool=\"{tool}\",le=\"+Inf\"}} {count}");
        let _ = writeln!(out, "annai_tool_seconds_sum{{tool=\"{tool}\"}} {sum}");
        let _ = writeln!(out, "annai_tool_seconds_count{{tool=\"{tool}\"}} {count}");
    }
    head(&mut out, "http_requests_total", "counter", "HTTP requests.");
    for ((route, status), count) in &metrics.http_requests {
        let _ = writeln!(out, "http_requests_total{{route=\"{route}\",status=\"{status}\"}} {count}");
    }
    head(&mut out, "annai_upstream_requests_total", "counter", "Requests to servers that tools depend on.");
    for ((server, status), count) in &metrics.upstream_requests {
        let _ =
            writeln!(out, "annai_upstream_requests_total{{server=\"{server}\",status=\"{status}\"}} {count}");
    }
    head(&mut out, "annai_upstream_retries_total", "counter", "Those among them that were made again.");
    for (server, count) in &metrics.upstream_retries {
        let _ = writeln!(out, "annai_upstream_retries_total{{server=\"{server}\"}} {count}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_requests_are_counted() {
        tool_called("metrics_test", true, Duration::from_millis(20));
        tool_called("metrics_test", false, Duration::from_secs(2));
        http_answered("/metrics-test", 200);
        upstream_asked("metrics-test", 503);
        upstream_retried("metrics-test");
        let text = render();
        for line in [
            "annai_tool_calls_total{tool=\"metrics_test\",ok=\"true\"} 1",
            "annai_tool_seconds_bucket{tool=\"metrics_test\",le=\"0.025\"} 1",
            "annai_tool_seconds_bucket{tool=\"metrics_test\",le=\"5\"} 2",
            "annai_tool_seconds_count{tool=\"metrics_test\"} 2",
            "http_requests_total{route=\"/metrics-test\",status=\"200\"} 1",
            "annai_upstream_requests_total{server=\"metrics-test\",status=\"503\"} 1",
            "annai_upstream_retries_total{server=\"metrics-test\"} 1",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
    }
}
