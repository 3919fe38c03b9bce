//! The foundation that every toolset is built on: the declaration of tools, the registry that admits and runs calls, the
//! error type, the layered configuration, logging and metrics. It knows no protocol and no transport.

pub mod call;
pub mod cancellation;
pub mod config;
pub mod date;
pub mod error;
pub mod finding;
mod identity;
pub mod json;
pub mod metrics;
pub mod owner_only;
pub mod schema;
pub mod store;
pub mod telemetry;
pub mod tool;

pub use call::{Call, Progress, ProgressSink};
pub use date::Date;
pub use error::{ErrorKind, ErrorText, Fault, ToolError, WireError, causes};
pub use finding::Finding;
pub use identity::{Identity, PeerAddress, Person, Principal, TokenScope};
pub use store::{BoundedStore, StoreLimits};
pub use tool::{
    Access, Admitted, Denied, Effect, Facts, FailedCall, Guide, NextPart, NumberParsing, Prompt,
    PromptArgument, ProofOfReservation, Registry, RegistryBuilder, Reply, Resource, ResourcePage,
    ResourceTemplate, ResourceText, SelectionError, Sponsor, StatusText, TokenScopes, Tool, ToolSelection,
    Toolset, ToolsetState, Widget, World,
};

/// A JSON object.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;
