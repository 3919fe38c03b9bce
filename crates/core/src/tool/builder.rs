//! Builds a registry from toolsets, their settings and their tools. Tools and toolsets are type-erased on the way, because
//! each has its own input, output and settings types.

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::registered_tool::Runner;
use super::registry::{ErasedToolset, Registry};
use super::{
    Prompt, RegisteredTool, Reply, Resource, ResourcePage, ResourceTemplate, ResourceText, Tool, Toolset,
};
use crate::{Call, ErrorKind, Facts, Identity, JsonObject, ToolError, WireError, schema};

/// Why a registry could not be built.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum RegistryError {
    /// Two tools have the same name.
    #[error("two tools are named `{0}`")]
    Duplicate(&'static str),
}

/// The settings of a toolset, and its state once a call has needed it.
pub struct ToolsetState<S: Toolset> {
    config: S::Config,
    state: OnceCell<S>,
    is_closed: AtomicBool,
}

impl<S: Toolset> ToolsetState<S> {
    /// The settings.
    pub const fn config(&self) -> &S::Config {
        &self.config
    }

    /// The state, which is opened if necessary.
    ///
    /// # Errors
    ///
    /// The error of [`Toolset::open`]; the next call tries again. After [`Registry::close`] nothing is opened any more.
    pub async fn open(&self) -> Result<&S, ToolError> {
        let open = || async {
            if self.is_closed.load(Ordering::Relaxed) {
                return Err(ToolError::new(ErrorKind::Cancelled, "the server is shutting down"));
            }
            S::open(&self.config).await
        };
        self.state.get_or_try_init(open).await
    }
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
            T::run(self.toolset.open().await?, call, input).await?.into_json()
        })
    }

    fn open(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async move { self.toolset.open().await.map(|_| ()) })
    }

    fn wire(&self, error: &ToolError) -> WireError {
        <T::Set as Toolset>::wire(&self.toolset.config, facts_of::<T>(), error)
    }
}

const fn facts_of<T: Tool>() -> &'static Facts {
    const { &T::FACTS }
}

impl<S: Toolset> ErasedToolset for ToolsetState<S> {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn instructions(&self) -> &'static [&'static str] {
        S::INSTRUCTIONS
    }

    fn prompts(&self) -> &'static [Prompt] {
        S::PROMPTS
    }

    fn complete<'a>(
        &'a self,
        registry: &'a Registry,
        identity: &'a Identity,
        argument: &'a str,
        typed: &'a str,
        other_arguments: &'a HashMap<String, String>,
    ) -> BoxFuture<'a, Vec<String>> {
        Box::pin(async move {
            match self.open().await {
                Ok(set) => set.complete(registry, identity, argument, typed, other_arguments).await,
                // Completion is only a convenience; a call of the tool will report the error.
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

    fn list_resources<'a>(
        &'a self,
        call: &'a Call,
        template: &'a str,
        cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ResourcePage, ToolError>> {
        Box::pin(S::list_resources(self, call, template, cursor))
    }

    fn read_resource<'a>(
        &'a self,
        call: &'a Call,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<Option<ResourceText>, ToolError>> {
        Box::pin(S::read_resource(self, call, uri))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let was_closed = self.is_closed.swap(true, Ordering::Relaxed);
            if let (false, Some(set)) = (was_closed, self.state.get()) {
                set.close().await;
            }
        })
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl Registry {
    /// Starts an empty registry. A call that takes longer than `call_timeout` is aborted.
    #[must_use]
    pub const fn builder(call_timeout: Duration) -> RegistryBuilder {
        RegistryBuilder { tools: Vec::new(), toolsets: Vec::new(), call_timeout }
    }

    /// The settings and the state of a toolset, which its tools share with its REST routes; `None` when it is not served.
    #[must_use]
    pub fn toolset<S: Toolset>(&self) -> Option<Arc<ToolsetState<S>>> {
        self.toolsets.iter().find_map(|toolset| toolset.clone().into_any().downcast().ok())
    }
}

/// Collects toolsets and their tools.
pub struct RegistryBuilder {
    tools: Vec<Arc<RegisteredTool>>,
    toolsets: Vec<Arc<dyn ErasedToolset>>,
    call_timeout: Duration,
}

impl RegistryBuilder {
    /// Adds a toolset with its settings. Its tools are added to the returned builder. Its state is not opened.
    pub fn toolset<S: Toolset>(&mut self, config: S::Config) -> ToolsetBuilder<'_, S> {
        let toolset =
            Arc::new(ToolsetState { config, state: OnceCell::new(), is_closed: AtomicBool::new(false) });
        self.toolsets.push(toolset.clone());
        ToolsetBuilder { tools: &mut self.tools, toolset }
    }

    /// Builds the registry.
    ///
    /// # Errors
    ///
    /// Two tools have the same name.
    pub fn build(self) -> Result<Arc<Registry>, RegistryError> {
        let mut names = HashSet::with_capacity(self.tools.len());
        if let Some(tool) = self.tools.iter().find(|tool| !names.insert(tool.facts.name)) {
            return Err(RegistryError::Duplicate(tool.facts.name));
        }
        Ok(Arc::new(Registry::new(self.tools, self.toolsets, Vec::new(), self.call_timeout)))
    }
}

/// Collects the tools of one toolset.
pub struct ToolsetBuilder<'a, S: Toolset> {
    tools: &'a mut Vec<Arc<RegisteredTool>>,
    toolset: Arc<ToolsetState<S>>,
}

impl<S: Toolset> ToolsetBuilder<'_, S> {
    /// Adds a tool.
    pub fn tool<T: Tool<Set = S>>(self) -> Self {
        self.tools.push(Arc::new(RegisteredTool {
            facts: facts_of::<T>(),
            toolset: S::NAME,
            sign_in_message: S::SIGN_IN_MESSAGE,
            numbers: S::NUMBERS,
            schemas: OnceLock::new(),
            make_schemas: || (schema::of_input::<T::Input>(), schema::of_output::<T::Output>()),
            runner: Box::new(TypedRunner::<T> { toolset: self.toolset.clone() }),
        }));
        self
    }
}
