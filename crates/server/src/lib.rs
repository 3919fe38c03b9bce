//! The transports of Annai: one MCP service over stdio and over HTTP.

mod bulkheads;
pub mod envelope;
mod era;
mod failure;
pub mod framing;
mod handler;
pub mod http;
mod icon;
mod message;
mod outgoing;
pub mod process;
mod prompts;
mod resources;
mod service;
mod settings;
pub mod stdio;
pub mod tokens;
mod tool_list;

pub use handler::{Handler, ServerName};
pub use service::McpService;
pub use settings::{LogLevel, ServerSection, ServerSettings, Transport};
pub use tool_list::ToolList;
