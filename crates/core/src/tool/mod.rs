//! The declaration of tools: a type per tool that states its facts, its input, its output and its handler. The list of
//! tools, the validation of arguments, access control and the documentation are all derived from it.

mod access;
mod admitted;
mod builder;
mod closest;
mod facts;
mod instructions;
mod listing;
mod prompt;
mod purchase;
mod registered_tool;
mod registry;
mod reply;
mod resource;
mod resource_access;
mod selection;

use std::collections::HashMap;
use std::future::Future;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use access::{Access, Denied, TokenScopes};
pub use admitted::{Admitted, AdmittedResource, FailedCall};
pub use builder::{RegistryBuilder, RegistryError, ToolsetBuilder, ToolsetState};
pub use facts::{Effect, Facts, Guide, Sponsor, StatusText, Widget, World};
pub use instructions::{MAX_INSTRUCTIONS_BYTES, tools_in};
pub use prompt::{Prompt, PromptArgument};
pub use purchase::ProofOfReservation;
pub use registered_tool::RegisteredTool;
pub use registry::Registry;
pub use reply::Reply;
pub use resource::{NextPart, Resource, ResourcePage, ResourceTemplate, ResourceText};
pub use selection::{SelectionError, ToolSelection};

use crate::{Call, Identity, ToolError, WireError};

/// A group of tools that share state, settings and the form of their errors on the wire.
pub trait Toolset: Send + Sync + Sized + 'static {
    /// The name for `--toolset`.
    const NAME: &'static str;
    /// Its sentences in the server's instructions, the most important one first: what it is for, which tool to call first,
    /// and the usual sequence. Backticks enclose the names of tools and nothing else, because a sentence that names a tool
    /// which a caller does not see is left out.
    const INSTRUCTIONS: &'static [&'static str];
    /// What the result of a tool says to a caller who must sign in first; `None` for the usual error.
    const SIGN_IN_MESSAGE: Option<&'static str> = None;
    /// Its prompts.
    const PROMPTS: &'static [Prompt] = &[];
    /// How strictly numbers in the arguments of its tools are parsed.
    const NUMBERS: NumberParsing = NumberParsing::Strict;
    /// Its validated settings.
    type Config: Send + Sync + 'static;

    /// Creates the shared state. It runs on the first call that needs the state, and again only after a failure.
    fn open(config: &Self::Config) -> impl Future<Output = Result<Self, ToolError>> + Send;

    /// Finishes pending work before the process ends. It runs once, and only if the state was opened. The process waits
    /// for it no longer than the grace period of a shutdown.
    fn close(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// Suggests values for an argument that begin with what the user has `typed` so far (MCP completion).
    /// `other_arguments` are the arguments that the user has already chosen; `registry` has the tools that are served. A
    /// value is suggested only to a caller who could read it otherwise.
    fn complete(
        &self,
        registry: &Registry,
        identity: &Identity,
        argument: &str,
        typed: &str,
        other_arguments: &HashMap<String, String>,
    ) -> impl Future<Output = Vec<String>> + Send {
        let _ = (registry, identity, argument, typed, other_arguments);
        std::future::ready(Vec::new())
    }

    /// The resources that `resources/list` shows. Listing them does not open the state.
    #[must_use]
    fn resources(config: &Self::Config) -> Vec<Resource> {
        let _ = config;
        Vec::new()
    }

    /// The templates of resources that exist only when they are read or listed, such as files.
    #[must_use]
    fn resource_templates(config: &Self::Config) -> Vec<ResourceTemplate> {
        let _ = config;
        Vec::new()
    }

    /// A page of the resources that match one of its templates, given by its name. The first page has no cursor.
    fn list_resources(
        state: &ToolsetState<Self>,
        call: &Call,
        template: &str,
        cursor: Option<&str>,
    ) -> impl Future<Output = Result<ResourcePage, ToolError>> + Send {
        let _ = (state, call, template, cursor);
        std::future::ready(Ok(ResourcePage::default()))
    }

    /// Reads a listed resource, or one that matches a template; `None` when it does not exist.
    fn read_resource(
        state: &ToolsetState<Self>,
        call: &Call,
        uri: &str,
    ) -> impl Future<Output = Result<Option<ResourceText>, ToolError>> + Send {
        let _ = (state, call, uri);
        std::future::ready(Ok(None))
    }

    /// The form of an error on the wire.
    #[must_use]
    fn wire(config: &Self::Config, tool: &Facts, error: &ToolError) -> WireError {
        let _ = (config, tool);
        WireError::result(error)
    }
}

/// How strictly numbers in the arguments of a tool are parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberParsing {
    /// Only a JSON number of the declared type is accepted.
    Strict,
    /// `"3"` and `3.0` are accepted where the integer 3 is expected, because models send them.
    Lenient,
}

/// The declaration of one tool.
pub trait Tool: 'static {
    /// Name, description, access and everything else that is known before the tool runs.
    const FACTS: Facts;
    /// The toolset it belongs to.
    type Set: Toolset;
    /// Its arguments. Their schema is published, and arguments are validated against it before `run`.
    type Input: DeserializeOwned + JsonSchema + Send;
    /// Its structured result.
    type Output: Serialize + JsonSchema + Send;

    /// Executes a call.
    fn run(
        set: &Self::Set,
        call: &Call,
        input: Self::Input,
    ) -> impl Future<Output = Result<Reply<Self::Output>, ToolError>> + Send;
}
