//! For tests only: clients that drive a real executable, and the `fixture` server, which mounts what the
//! official conformance suite asks for on the product's own crates.

pub mod bench;
pub mod fixture;
pub mod http;
pub mod mcp;
pub mod openai;
pub mod process;
