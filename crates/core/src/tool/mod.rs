//! One declaration per tool: a type that names its facts, its input, its output and its handler.

mod facts;
mod listing;
mod registry;
mod reply;

use std::collections::HashMap;
use std::future::Future;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use facts::{Access, Effect, Facts, Guide, Scope, Sponsor, Widget, World};
pub use registry::{Declared, Failed, Registry, RegistryBuilder, RegistryError};
pub use reply::Reply;

use crate::{Call, ToolError, WireError};

/// A family of tools that share state, settings and the way their failures look on the wire.
pub trait Toolset: Send + Sync + Sized + 'static {
    /// The name that `--toolset` takes.
    const NAME: &'static str;
    /// How strictly numbers are read.
    const NUMBERS: Numbers = Numbers::Exact;
    /// Its settings, resolved before anything runs.
    type Config: Send + Sync + 'static;

    /// Makes the shared state. Runs with the first call that needs it, and again only if it failed.
    fn open(config: &Self::Config) -> impl Future<Output = Result<Self, ToolError>> + Send;

    /// What an argument of its tools may be, for somebody who has typed a part of it; `given` are the arguments that
    /// are chosen already.
    fn complete(
        &self,
        argument: &str,
        typed: &str,
        given: &HashMap<String, String>,
    ) -> impl Future<Output = Vec<String>> + Send {
        let _ = (argument, typed, given);
        std::future::ready(Vec::new())
    }

    /// How a failure of one of its tools looks on the wire.
    #[must_use]
    fn wire(tool: &Facts, error: &ToolError) -> WireError {
        let _ = tool;
        WireError::result(error)
    }
}

/// How strictly the numbers among a tool's arguments are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// A number is a number.
    Exact,
    /// `"3"` and `3.0` will do where 3 is due: models send them.
    AsText,
}

/// One tool.
pub trait Tool: 'static {
    /// What is true of it before it runs.
    const FACTS: Facts;
    /// The family it belongs to.
    type Set: Toolset;
    /// Its arguments. Their schema is the contract: it is published and checked before `run`.
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
