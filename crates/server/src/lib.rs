//! The transports: one MCP service, reached over stdio.

pub mod envelope;
pub mod framing;
mod handler;
mod message;
mod outgoing;
mod settings;
pub mod stdio;
mod tool_list;

pub use handler::{Handler, ServerName};
pub use settings::{LogLevel, Server, ServerSettings, Transport};
