//! Tools for tests and benchmarks, never part of the product: clients that drive a real executable over stdio or HTTP, a
//! fake of OpenAI's API, and the `fixture` server, which offers what the official MCP conformance suite requires on top of
//! the product's own transports.

pub mod bench;
pub mod fixture;
pub mod http;
pub mod mcp;
#[cfg(target_os = "linux")]
pub mod network;
pub mod openai;
pub mod process;
pub mod slow_clients;
