//! One declaration per tool: a type that names its facts, its input, its output and its handler.

mod access;
mod admitted;
mod builder;
mod facts;
mod listing;
mod registry;
mod reply;
mod resource;

use std::collections::HashMap;
use std::future::Future;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use access::{Access, Denied, TokenScope};
pub use admitted::{Admitted, FailedCall};
pub use builder::{RegistryBuilder, RegistryError, ToolsetBuilder, ToolsetState};
pub use facts::{Effect, Facts, Guide, Sponsor, Widget, World};
pub use registry::{AdmittedResource, RegisteredTool, Registry};
pub use reply::Reply;
pub use resource::{Resource, ResourceTemplate, ResourceText};

use crate::{Call, ToolError, WireError};

/// A family of tools that share state, settings and the way their failures look on the wire.
pub trait Toolset: Send + Sync + Sized + 'static {
    /// The name that `--toolset` takes.
    const NAME: &'static str;
    /// How strictly the numbers among its tools' arguments are read.
    const NUMBERS: NumberParsing = NumberParsing::Strict;
    /// Its settings, resolved before anything runs.
    type Config: Send + Sync + 'static;

    /// Makes the shared state. It runs with the first call that needs it, and again only if it failed.
    fn open(config: &Self::Config) -> impl Future<Output = Result<Self, ToolError>> + Send;

    /// Finishes what is under way before the process ends. It runs once, and only if the state was opened; the process
    /// waits for it within the grace period of a shutdown.
    fn close(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// Suggests values for an argument of its tools, for somebody who has typed a part of it; `given` holds the
    /// arguments that are chosen already.
    fn complete(
        &self,
        argument: &str,
        typed: &str,
        given: &HashMap<String, String>,
    ) -> impl Future<Output = Vec<String>> + Send {
        let _ = (argument, typed, given);
        std::future::ready(Vec::new())
    }

    /// The resources that it lists. Nothing is opened for them.
    #[must_use]
    fn resources(config: &Self::Config) -> Vec<Resource> {
        let _ = config;
        Vec::new()
    }

    /// The templates of resources that it can read without listing them.
    #[must_use]
    fn resource_templates(config: &Self::Config) -> Vec<ResourceTemplate> {
        let _ = config;
        Vec::new()
    }

    /// Reads a resource that it lists or that fits one of its templates; `None` when there is no such resource.
    fn read_resource(
        state: &ToolsetState<Self>,
        uri: &str,
    ) -> impl Future<Output = Result<Option<ResourceText>, ToolError>> + Send {
        let _ = (state, uri);
        std::future::ready(Ok(None))
    }

    /// How a failure of one of its tools looks on the wire.
    #[must_use]
    fn wire(config: &Self::Config, tool: &Facts, error: &ToolError) -> WireError {
        let _ = (config, tool);
        WireError::result(error)
    }
}

/// How strictly the numbers among a tool's arguments are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberParsing {
    /// Only a JSON number of the declared type is accepted.
    Strict,
    /// `"3"` and `3.0` are accepted where the integer 3 is expected, because models send them.
    Lenient,
}

/// One tool.
pub trait Tool: 'static {
    /// What is true of it before it runs.
    const FACTS: Facts;
    /// The toolset it belongs to.
    type Set: Toolset;
    /// Its arguments. Their schema is the contract: it is published, and checked before `run`.
    type Input: DeserializeOwned + JsonSchema + Send;
    /// Its structured result.
    type Output: Serialize + JsonSchema + Send;

    /// Does the work.
    fn run(
        set: &Self::Set,
        call: &Call,
        input: Self::Input,
    ) -> impl Future<Output = Result<Reply<Self::Output>, ToolError>> + Send;
}
