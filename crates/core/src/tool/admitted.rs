//! Admits a call and runs it: decides whether the caller may, validates the arguments, enforces deadline and cancellation, and logs and counts the outcome.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures_util::FutureExt as _;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use serde_json::Value;
use tokio::time::Instant;
use tracing::Instrument as _;

use super::registry::ErasedToolset;
use super::{Denied, NumberParsing, RegisteredTool, Registry, Reply, ResourceText};
use crate::error::causes;
use crate::telemetry::CALLS;
use crate::{Call, ErrorKind, Fault, Identity, JsonObject, ToolError, WireError, metrics, schema};

/// The proof that a caller may call a tool. Only [`Registry::admit`] and [`Registry::purchase`] create it, and only it can
/// run a tool.
pub struct Admitted {
    registry: Arc<Registry>,
    tool: &'static str,
    identity: Identity,
}

impl Registry {
    /// Decides whether a caller may call a tool. There is no other way to run one, except [`Registry::purchase`].
    ///
    /// # Errors
    ///
    /// The reason why not.
    pub fn admit(self: &Arc<Self>, name: &str, identity: &Identity) -> Result<Admitted, Denied> {
        let tool = self.get(name).ok_or(Denied::Unknown)?;
        tool.facts.access.check(identity)?;
        Ok(Admitted::new(self.clone(), tool.facts.name, identity.clone()))
    }
}

impl Call {
    /// The registry, for tools that call other tools; `None` once it is dropped.
    #[must_use]
    pub fn registry(&self) -> Option<Arc<Registry>> {
        self.admitted_by.upgrade()?.downcast().ok()
    }
}

/// The error of a call, and its form on the wire.
#[derive(Debug)]
pub struct FailedCall {
    /// The error.
    pub error: ToolError,
    /// The form that the toolset chose for it.
    pub wire: WireError,
}

impl Admitted {
    pub(super) const fn new(registry: Arc<Registry>, tool: &'static str, identity: Identity) -> Self {
        Self { registry, tool, identity }
    }

    /// Runs the tool: validates the arguments against its schema, enforces deadline and cancellation, turns a panic into
    /// an error, and writes one log line.
    ///
    /// # Errors
    ///
    /// The error of the tool, and its form on the wire.
    pub async fn call(self, arguments: JsonObject, mut call: Call) -> Result<Reply<Value>, FailedCall> {
        let span = tracing::error_span!("call", tool = self.tool, request_id = call.request_id);
        call.set_admitted(self.identity, &self.registry, span.clone());
        note_caller(&call);
        // `Registry::admit` looked the tool up and registries never change, so this does not happen.
        let Some(tool) = self.registry.get(self.tool) else {
            let error = ToolError::from(Denied::Unknown);
            return Err(FailedCall { wire: WireError::result(&error), error });
        };
        run(tool, arguments, call, self.registry.call_timeout).instrument(span).await
    }
}

async fn run(
    tool: &RegisteredTool,
    arguments: JsonObject,
    mut call: Call,
    call_timeout: Duration,
) -> Result<Reply<Value>, FailedCall> {
    log_arguments(tool.facts.name, &arguments);
    let (started, deadline) = start_clock(&mut call, call_timeout);
    let work = async { tool.runner.run(&call, validate_arguments(tool, arguments)?).await };
    let result = guard(work, &call, started, deadline).await;
    log_and_count(tool.facts.name, started, result.as_ref().err());
    result.map_err(|error| FailedCall { wire: tool.runner.wire(&error), error })
}

/// The proof that a caller may read a resource. Only [`Registry::admit_resource`] creates it.
pub struct AdmittedResource {
    registry: Arc<Registry>,
    toolset: Arc<dyn ErasedToolset>,
    uri: String,
    identity: Identity,
}

impl AdmittedResource {
    pub(super) const fn new(
        registry: Arc<Registry>,
        toolset: Arc<dyn ErasedToolset>,
        uri: String,
        identity: Identity,
    ) -> Self {
        Self { registry, toolset, uri, identity }
    }

    /// Reads the resource, with the same guards, log line and count as a tool call; `None` when its URI matches a template
    /// but no such resource exists.
    ///
    /// # Errors
    ///
    /// The error of [`super::Toolset::read_resource`].
    pub async fn read(self, mut call: Call) -> Result<Option<ResourceText>, ToolError> {
        let span = tracing::error_span!("read", resource = self.uri, request_id = call.request_id);
        call.set_admitted(self.identity, &self.registry, span.clone());
        note_caller(&call);
        let (started, deadline) = start_clock(&mut call, self.registry.call_timeout);
        async {
            let work = self.toolset.read_resource(&call, &self.uri);
            let result = guard(work, &call, started, deadline).await;
            log_and_count(RESOURCE_READS, started, result.as_ref().err());
            result
        }
        .instrument(span)
        .await
    }
}

/// The label of resource reads among the tools.
const RESOURCE_READS: &str = "resources/read";

/// The start of a call, and its deadline: the caller's, but no later than the server allows.
pub(super) fn start_clock(call: &mut Call, call_timeout: Duration) -> (Instant, Instant) {
    let started = Instant::now();
    let latest = started + call_timeout;
    let deadline = call.deadline.map_or(latest, |deadline| latest.min(deadline.into()));
    call.deadline = Some(deadline.into_std());
    (started, deadline)
}

/// Adds the caller to the log line of a call, if it is a person: an operator must be able to tell whose token was used.
pub(super) fn note_caller(call: &Call) {
    if let Some((issuer, subject)) = call.identity().issuer_and_subject() {
        call.note("issuer", issuer);
        call.note("subject", subject);
    }
}

/// Ends work at its deadline or when it is cancelled, and turns a panic into an error.
pub(super) async fn guard<T>(
    work: impl Future<Output = Result<T, ToolError>>,
    call: &Call,
    started: Instant,
    deadline: Instant,
) -> Result<T, ToolError> {
    tokio::select! {
        biased;
        () = call.cancel.cancelled() => Err(ToolError::cancelled()),
        result = AssertUnwindSafe(work).catch_unwind() => {
            result.unwrap_or_else(|_| Err(ToolError::internal("the toolset panicked")))
        }
        () = tokio::time::sleep_until(deadline) => Err(timed_out(started)),
    }
}

/// The arguments without nulls for optional ones, with numbers coerced if the toolset allows it, or an error that names
/// every invalid one.
fn validate_arguments(tool: &RegisteredTool, arguments: JsonObject) -> Result<JsonObject, ToolError> {
    let mut arguments = Value::Object(arguments);
    schema::remove_optional_nulls(tool.input_schema(), &mut arguments);
    if tool.numbers == NumberParsing::Lenient {
        schema::coerce_numbers(tool.input_schema(), &mut arguments);
    }
    let errors = schema::validate(tool.input_schema(), &arguments);
    match arguments {
        Value::Object(arguments) if errors.is_empty() => Ok(arguments),
        _ => {
            let messages: Vec<_> = errors.iter().map(ToString::to_string).collect();
            Err(ToolError::invalid(messages.join("; ")))
        }
    }
}

fn timed_out(started: Instant) -> ToolError {
    let seconds = started.elapsed().as_secs_f32();
    ToolError::new(
        ErrorKind::TimedOut,
        format!(
            "the call timed out after {seconds:.0} s; request less in one call, or raise server.call_timeout_ms"
        ),
    )
}

/// Logs the names of the arguments and the length of the query, never their values.
fn log_arguments(name: &str, arguments: &JsonObject) {
    if tracing::event_enabled!(tracing::Level::DEBUG) {
        let keys: Vec<_> = arguments.keys().map(String::as_str).collect();
        let keys = keys.join(",");
        let query = arguments.get("query").and_then(Value::as_str);
        let length = query.map(|query| format!(" queryLen={}", query.chars().count())).unwrap_or_default();
        tracing::debug!("tools/call name={name} argsKeys=[{keys}]{length}");
    }
}

/// Writes the log line of a call and counts it under this label.
pub(super) fn log_and_count(label: &'static str, started: Instant, error: Option<&ToolError>) {
    record_metrics(label, error.is_none(), started.elapsed());
    log_outcome(started, error);
}

/// Writes the log line of a call: an error when the server is at fault, a warning when the caller is. The name of the tool,
/// the request id and the fields that the tool added come from the span.
fn log_outcome(started: Instant, error: Option<&ToolError>) {
    let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let Some(error) = error else {
        tracing::info!(target: CALLS, ok = true, elapsed_ms);
        return;
    };
    let code = error.kind().code();
    let cause = causes(error);
    match error.fault() {
        Fault::Server => tracing::error!(target: CALLS, ok = false, elapsed_ms, code, cause),
        Fault::Caller => tracing::warn!(target: CALLS, ok = false, elapsed_ms, code, cause),
    }
}

impl Denied {
    /// Logs and counts a resource that was not admitted.
    pub fn log_resource(self, uri: &str, identity: &Identity, request_id: &str) {
        let (issuer, subject) = identity.issuer_and_subject().unzip();
        let code = self.code();
        tracing::warn!(resource = uri, request_id, issuer, subject, ok = false, elapsed_ms = 0, code);
        record_metrics(RESOURCE_READS, false, Duration::ZERO);
    }

    const fn code(self) -> &'static str {
        match self {
            Self::Unknown => ErrorKind::NotFound.code(),
            Self::SignIn(_) => ErrorKind::Unauthorized.code(),
            Self::Scope(_) => ErrorKind::Forbidden.code(),
        }
    }

    /// Logs and counts a call that was not admitted.
    pub fn log(self, registry: &Registry, tool: &str, identity: &Identity, request_id: &str) {
        let code = if self == Self::Unknown { "unknown_tool" } else { self.code() };
        let (issuer, subject) = identity.issuer_and_subject().unzip();
        tracing::warn!(tool, request_id, issuer, subject, ok = false, elapsed_ms = 0, code);
        // Only names of registered tools become labels: unknown ones come from the client and are unbounded.
        if let Some(tool) = registry.get(tool) {
            record_metrics(tool.facts.name, false, Duration::ZERO);
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    tool: &'static str,
    ok: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ToolLabel {
    tool: &'static str,
}

static TOOL_CALLS: LazyLock<Family<CallLabels, Counter>> =
    LazyLock::new(|| metrics::register("annai_tool_calls", "Tool calls", Family::default()));

static TOOL_SECONDS: LazyLock<Family<ToolLabel, Histogram>> = LazyLock::new(|| {
    let histogram: fn() -> Histogram =
        || Histogram::new([0.001, 0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0]);
    metrics::register(
        "annai_tool_seconds",
        "Duration of tool calls in seconds",
        Family::new_with_constructor(histogram),
    )
});

fn record_metrics(tool: &'static str, ok: bool, elapsed: Duration) {
    TOOL_CALLS.get_or_create(&CallLabels { tool, ok }).inc();
    TOOL_SECONDS.get_or_create(&ToolLabel { tool }).observe(elapsed.as_secs_f64());
}
