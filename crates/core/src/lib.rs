//! What every toolset is made of: the declaration of a tool, the registry that runs it, the one
//! error type, configuration in layers and logging. Knows no protocol and no transport.

pub mod call;
pub mod config;
pub mod date;
pub mod error;
pub mod finding;
pub mod json;
pub mod metrics;
pub mod schema;
pub mod telemetry;
pub mod tool;

pub use call::{Call, Identity, Progress, ProgressSink};
pub use date::Date;
pub use error::{ErrorKind, ToolError, WireError};
pub use finding::Finding;
pub use tool::{
    Access, Effect, Facts, Guide, Numbers, Registry, RegistryBuilder, Reply, Scope, Sponsor, Tool, Toolset,
    Widget, World,
};

/// A JSON object.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;
