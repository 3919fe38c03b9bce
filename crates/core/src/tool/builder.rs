//! How a registry is put together: toolsets with their settings, and their tools with their types erased.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::registry::Registry;
use super::{RegisteredTool, Reply, Resource, ResourceTemplate, ResourceText, Tool, Toolset};
use crate::{Call, Facts, JsonObject, ToolError, WireError, schema};

/// Why a registry could not be built.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum RegistryError {
    /// Two tools have the same name.
    #[error("two tools are named `{0}`")]
    Duplicate(&'static str),
}

/// A toolset's settings, and its state once something has needed it.
pub struct ToolsetState<S: Toolset> {
    config: S::Config,
    state: OnceCell<S>,
}

impl<S: Toolset> ToolsetState<S> {
    /// Its settings.
    pub const fn config(&self) -> &S::Config {
        &self.config
    }

    /// Its state, opened now if it was not before.
    ///
    /// # Errors
    ///
    /// Why it cannot be opened; the next call tries again.
    pub async fn open(&self) -> Result<&S, ToolError> {
        self.state.get_or_try_init(|| S::open(&self.config)).await
    }
}

/// Runs a tool whose types have been erased.
pub(super) trait Runner: Send + Sync {
    fn run<'a>(
        &'a self,
        call: &'a Call,
        arguments: JsonObject,
    ) -> BoxFuture<'a, Result<Reply<Value>, ToolError>>;

    fn wire(&self, error: &ToolError) -> WireError;
}

struct TypedRunner<T: Tool> {
    toolset: Arc<ToolsetState<T::Set>>,
}

impl<T: Tool> Runner for TypedRunner<T> {
    fn run<'a>(
        &'a self,
        call: &'a Call,
        arguments: JsonObject,
    ) -> BoxFuture<'a, Result<Reply<Value>, ToolError>> {
        Box::pin(async move {
            let input = serde_path_to_error::deserialize(Value::Object(arguments))
                .map_err(|error| ToolError::invalid(format!("{}: {}", error.path(), error.inner())))?;
            T::run(self.toolset.open().await?, call, input).await?.erase()
        })
    }

    fn wire(&self, error: &ToolError) -> WireError {
        <T::Set as Toolset>::wire(&self.toolset.config, facts_of::<T>(), error)
    }
}

const fn facts_of<T: Tool>() -> &'static Facts {
    const { &T::FACTS }
}

/// What the registry asks of a toolset whose type has been erased.
pub(super) trait ErasedToolset: Send + Sync {
    fn name(&self) -> &'static str;
    fn complete<'a>(
        &'a self,
        argument: &'a str,
        typed: &'a str,
        given: &'a HashMap<String, String>,
    ) -> BoxFuture<'a, Vec<String>>;
    fn resources(&self) -> Vec<Resource>;
    fn resource_templates(&self) -> Vec<ResourceTemplate>;
    fn read_resource<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<Option<ResourceText>, ToolError>>;
    fn close(&self) -> BoxFuture<'_, ()>;
}

impl<S: Toolset> ErasedToolset for ToolsetState<S> {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn complete<'a>(
        &'a self,
        argument: &'a str,
        typed: &'a str,
        given: &'a HashMap<String, String>,
    ) -> BoxFuture<'a, Vec<String>> {
        Box::pin(async move {
            match self.open().await {
                Ok(set) => set.complete(argument, typed, given).await,
                // What cannot be opened has nothing to suggest; a call says why.
                Err(_) => Vec::new(),
            }
        })
    }

    fn resources(&self) -> Vec<Resource> {
        S::resources(&self.config)
    }

    fn resource_templates(&self) -> Vec<ResourceTemplate> {
        S::resource_templates(&self.config)
    }

    fn read_resource<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<Option<ResourceText>, ToolError>> {
        Box::pin(S::read_resource(self, uri))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if let Some(set) = self.state.get() {
                set.close().await;
            }
        })
    }
}

/// Collects toolsets and their tools.
pub struct RegistryBuilder {
    tools: Vec<RegisteredTool>,
    toolsets: Vec<Arc<dyn ErasedToolset>>,
    call_timeout: Duration,
}

impl RegistryBuilder {
    pub(super) const fn new(call_timeout: Duration) -> Self {
        Self { tools: Vec::new(), toolsets: Vec::new(), call_timeout }
    }

    /// Adds a toolset with its settings; its tools follow. Nothing of it is opened yet.
    pub fn toolset<S: Toolset>(&mut self, config: S::Config) -> ToolsetBuilder<'_, S> {
        let toolset = Arc::new(ToolsetState { config, state: OnceCell::new() });
        self.toolsets.push(toolset.clone());
        ToolsetBuilder { tools: &mut self.tools, toolset }
    }

    /// The finished registry.
    ///
    /// # Errors
    ///
    /// When two tools have the same name.
    pub fn build(self) -> Result<Arc<Registry>, RegistryError> {
        Registry::new(self.tools, self.toolsets, self.call_timeout).map(Arc::new)
    }
}

/// Collects the tools of one toolset.
pub struct ToolsetBuilder<'a, S: Toolset> {
    tools: &'a mut Vec<RegisteredTool>,
    toolset: Arc<ToolsetState<S>>,
}

impl<S: Toolset> ToolsetBuilder<'_, S> {
    /// Adds one tool.
    pub fn tool<T: Tool<Set = S>>(self) -> Self {
        self.tools.push(RegisteredTool {
            facts: facts_of::<T>(),
            toolset: S::NAME,
            numbers: S::NUMBERS,
            schemas: OnceLock::new(),
            make_schemas: || (schema::of_input::<T::Input>(), schema::of_output::<T::Output>()),
            runner: Box::new(TypedRunner::<T> { toolset: self.toolset.clone() }),
        });
        self
    }
}
