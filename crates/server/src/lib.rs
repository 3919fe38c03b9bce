//! The transports: one MCP service, reached over stdio and HTTP.

pub mod envelope;
pub mod framing;
mod handler;
pub mod http;
mod message;
mod outgoing;
pub mod process;
mod settings;
pub mod stdio;
mod tool_list;

pub use handler::{Handler, ServerName};
pub use settings::{LogLevel, Server, ServerSettings, Transport};
pub use tool_list::ToolList;
