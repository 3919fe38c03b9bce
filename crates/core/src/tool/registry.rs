//! The tools of one server: found by name, checked, run, timed and logged in one place.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::{Access, Facts, Numbers, Reply, Tool, Toolset};
use crate::{Call, ErrorKind, Identity, JsonObject, ToolError, WireError, metrics, schema};

/// Why a registry could not be built.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum RegistryError {
    /// Two tools have one name.
    #[error("two tools are named `{0}`")]
    Duplicate(&'static str),
}

/// A failed call, with the form that its toolset gives it.
#[derive(Debug)]
pub struct Failed {
    /// What happened.
    pub error: ToolError,
    /// How it looks on the wire.
    pub wire: WireError,
}

/// One declared tool, its types erased.
pub struct Declared {
    /// Its facts.
    pub facts: &'static Facts,
    /// The family it belongs to.
    pub toolset: &'static str,
    numbers: Numbers,
    schemas: OnceLock<(JsonObject, JsonObject)>,
    make_schemas: fn() -> (JsonObject, JsonObject),
    runner: Box<dyn Runner>,
}

impl Declared {
    /// The schema that its arguments are checked against.
    pub fn input_schema(&self) -> &JsonObject {
        &self.schemas.get_or_init(self.make_schemas).0
    }

    /// The schema that its structured results fit.
    pub fn output_schema(&self) -> &JsonObject {
        &self.schemas.get_or_init(self.make_schemas).1
    }
}

/// Runs a tool whose types have been erased.
trait Runner: Send + Sync {
    fn run<'a>(
        &'a self,
        call: &'a Call,
        arguments: JsonObject,
    ) -> BoxFuture<'a, Result<Reply<Value>, ToolError>>;

    fn complete<'a>(
        &'a self,
        argument: &'a str,
        typed: &'a str,
        given: &'a HashMap<String, String>,
    ) -> BoxFuture<'a, Vec<String>>;

    fn wire(&self, error: &ToolError) -> WireError;
}

/// A toolset's settings, and its state once a call has needed it.
struct Shared<S: Toolset> {
    config: S::Config,
    state: OnceCell<S>,
}

struct Typed<T: Tool> {
    shared: Arc<Shared<T::Set>>,
}

impl<T: Tool> Runner for Typed<T> {
    fn run<'a>(
        &'a self,
        call: &'a Call,
        arguments: JsonObject,
    ) -> BoxFuture<'a, Result<Reply<Value>, ToolError>> {
        Box::pin(async move {
            let input = serde_path_to_error::deserialize(Value::Object(arguments))
                .map_err(|error| ToolError::invalid(format!("{}: {}", error.path(), error.inner())))?;
            let set = self.shared.state.get_or_try_init(|| T::Set::open(&self.shared.config)).await?;
            T::run(set, call, input).await?.erase()
        })
    }

    fn complete<'a>(
        &'a self,
        argument: &'a str,
        typed: &'a str,
        given: &'a HashMap<String, String>,
    ) -> BoxFuture<'a, Vec<String>> {
        Box::pin(async move {
            match self.shared.state.get_or_try_init(|| T::Set::open(&self.shared.config)).await {
                Ok(set) => set.complete(argument, typed, given).await,
                // What cannot be opened has nothing to offer; a call says why.
                Err(_) => Vec::new(),
            }
        })
    }

    fn wire(&self, error: &ToolError) -> WireError {
        <T::Set as Toolset>::wire(const { &T::FACTS }, error)
    }
}

/// All tools of one server.
pub struct Registry {
    tools: Vec<Declared>,
    by_name: HashMap<&'static str, usize>,
    call_timeout: Duration,
    list_for_all: OnceLock<Bytes>,
    list_for_strangers: OnceLock<Bytes>,
}

impl Registry {
    /// Starts an empty one; no call may take longer than `call_timeout`.
    #[must_use]
    pub const fn builder(call_timeout: Duration) -> RegistryBuilder {
        RegistryBuilder { tools: Vec::new(), call_timeout }
    }

    /// The tools in the order of their declaration.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &Declared> {
        self.tools.iter()
    }

    /// The tool of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Declared> {
        self.by_name.get(name).and_then(|index| self.tools.get(*index))
    }

    /// The `tools` array of `tools/list` for somebody: made and serialised once for each kind of caller. What
    /// is local is hidden from strangers; what needs a sign-in is shown, so that a client can offer it.
    #[must_use]
    pub fn list(&self, identity: &Identity) -> &Bytes {
        let (list, all) = match identity {
            Identity::Local => (&self.list_for_all, true),
            Identity::Anonymous => (&self.list_for_strangers, false),
        };
        list.get_or_init(|| {
            let shown = self.tools().filter(|tool| all || !matches!(tool.facts.access, Access::Local(_)));
            let tools: Vec<_> = shown.map(super::listing::entry).collect();
            // A JSON value with string keys always serialises.
            serde_json::to_vec(&tools).unwrap_or_default().into()
        })
    }

    /// What an argument may be, for somebody who has typed a part of it: of every family that has such an argument
    /// and that they may call, sorted.
    pub async fn complete(
        &self,
        argument: &str,
        typed: &str,
        given: &HashMap<String, String>,
        identity: &Identity,
    ) -> Vec<String> {
        let (mut values, mut asked) = (Vec::new(), Vec::new());
        for tool in self.tools() {
            let has = schema::at(tool.input_schema(), argument).is_some();
            if !has || asked.contains(&tool.toolset) || tool.facts.access.allows(identity).is_err() {
                continue;
            }
            asked.push(tool.toolset);
            values.extend(tool.runner.complete(argument, typed, given).await);
        }
        values.sort_unstable();
        values.dedup();
        values
    }

    /// Runs a tool: arguments checked against its schema, time and cancellation kept, a panic
    /// turned into an error, one log line. `None` when no tool has that name.
    pub async fn call(
        self: &Arc<Self>,
        name: &str,
        arguments: JsonObject,
        mut call: Call,
    ) -> Option<Result<Reply<Value>, Failed>> {
        let Some(tool) = self.get(name) else {
            tracing::warn!(
                tool = name,
                ok = false,
                elapsed_ms = 0,
                request_id = call.request_id,
                code = "unknown_tool"
            );
            return None;
        };
        call.attach(Arc::downgrade(self));
        debug_line(tool.facts.name, &arguments);
        let started = Instant::now();
        let limit = started + self.call_timeout;
        let deadline = call.deadline.map_or(limit, |deadline| deadline.min(limit));
        call.deadline = Some(deadline);

        let work = async {
            let mut arguments = Value::Object(arguments);
            if tool.numbers == Numbers::AsText {
                schema::read_numbers(tool.input_schema(), &mut arguments);
            }
            let problems = schema::check(tool.input_schema(), &arguments);
            match arguments {
                Value::Object(arguments) if problems.is_empty() => tool.runner.run(&call, arguments).await,
                _ => Err(refuse(&problems)),
            }
        };
        let result = tokio::select! {
            biased;
            () = call.cancel.cancelled() => Err(ToolError::cancelled()),
            result = AssertUnwindSafe(work).catch_unwind() => {
                result.unwrap_or_else(|_| Err(ToolError::internal("the tool panicked")))
            }
            () = tokio::time::sleep_until(deadline.into()) => Err(timed_out(started)),
        };
        metrics::tool_called(tool.facts.name, result.is_ok(), started.elapsed());
        log(tool.facts.name, &call, started, result.as_ref().err());
        Some(result.map_err(|error| Failed { wire: tool.runner.wire(&error), error }))
    }
}

/// What was called with, without its contents.
fn debug_line(name: &str, arguments: &JsonObject) {
    if tracing::event_enabled!(tracing::Level::DEBUG) {
        let keys: Vec<_> = arguments.keys().map(String::as_str).collect();
        let keys = keys.join(",");
        let query = arguments.get("query").and_then(Value::as_str);
        let length = query.map(|query| format!(" queryLen={}", query.chars().count())).unwrap_or_default();
        tracing::debug!("tools/call name={name} argsKeys=[{keys}]{length}");
    }
}

fn refuse(problems: &[schema::Problem]) -> ToolError {
    let sentences: Vec<_> = problems.iter().map(ToString::to_string).collect();
    ToolError::invalid(sentences.join("; "))
}

fn timed_out(started: Instant) -> ToolError {
    let seconds = started.elapsed().as_secs_f32();
    ToolError::new(
        ErrorKind::TimedOut,
        format!(
            "the call was ended after {seconds:.0} s; ask for less at once, or raise server.call_timeout_ms"
        ),
    )
}

fn log(tool: &str, call: &Call, started: Instant, error: Option<&ToolError>) {
    let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let (request_id, with) = (call.request_id.as_str(), call.take_notes().to_string());
    match error {
        None => tracing::info!(tool, ok = true, elapsed_ms, request_id, with),
        Some(error) => {
            let code = error.kind().code();
            let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
            if error.kind() == ErrorKind::Internal {
                tracing::error!(tool, ok = false, elapsed_ms, request_id, code, cause, with);
            } else {
                tracing::warn!(tool, ok = false, elapsed_ms, request_id, code, cause, with);
            }
        }
    }
}

/// Collects tools, family by family.
pub struct RegistryBuilder {
    tools: Vec<Declared>,
    call_timeout: Duration,
}

impl RegistryBuilder {
    /// Starts a family with its settings; nothing of it is opened yet.
    pub fn toolset<S: Toolset>(&mut self, config: S::Config) -> ToolsetBuilder<'_, S> {
        let shared = Arc::new(Shared { config, state: OnceCell::new() });
        ToolsetBuilder { tools: &mut self.tools, shared }
    }

    /// The finished registry; names are unique.
    pub fn build(self) -> Result<Arc<Registry>, RegistryError> {
        let mut by_name = HashMap::with_capacity(self.tools.len());
        for (index, tool) in self.tools.iter().enumerate() {
            if by_name.insert(tool.facts.name, index).is_some() {
                return Err(RegistryError::Duplicate(tool.facts.name));
            }
        }
        Ok(Arc::new(Registry {
            tools: self.tools,
            by_name,
            call_timeout: self.call_timeout,
            list_for_all: OnceLock::new(),
            list_for_strangers: OnceLock::new(),
        }))
    }
}

/// Collects the tools of one family.
pub struct ToolsetBuilder<'a, S: Toolset> {
    tools: &'a mut Vec<Declared>,
    shared: Arc<Shared<S>>,
}

impl<S: Toolset> ToolsetBuilder<'_, S> {
    /// Adds one tool.
    pub fn tool<T: Tool<Set = S>>(self) -> Self {
        self.tools.push(Declared {
            facts: const { &T::FACTS },
            toolset: S::NAME,
            numbers: S::NUMBERS,
            schemas: OnceLock::new(),
            make_schemas: || (schema::of_input::<T::Input>(), schema::of_output::<T::Output>()),
            runner: Box::new(Typed::<T> { shared: self.shared.clone() }),
        });
        self
    }
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
