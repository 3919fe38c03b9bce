//! Tests of the transports on the `fixture` server, which runs as a real process.

mod suite {
    mod bad_input;
    mod calls;
    mod framing;
    mod http_abuse;
    mod http_door;
    mod http_mcp;
    mod http_routes;
    mod http_slow_bodies;
    mod lifecycle;
    mod load;
    mod log;
    mod module_graph;
    mod module_sources;
    mod property;
    mod security_page;
    mod versions;
}

use std::process::Command;

use annai_testkit::http::HttpServer;
use annai_testkit::mcp::{Framing, StdioServer};

/// The command that starts the fixture, without the environment variables that it reads.
fn fixture() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixture"));
    for name in
        ["DEBUG", "MCP_LINE_MODE", "LOG_LEVEL", "PORT", "PUBLIC_URL", "MCP_SERVER_URL", "CORS_ALLOW_ORIGINS"]
    {
        command.env_remove(name);
    }
    command
}

/// Starts the fixture over stdio and performs the handshake.
fn start_stdio(framing: Framing) -> StdioServer {
    start_stdio_with(&mut fixture(), framing)
}

fn start_stdio_with(command: &mut Command, framing: Framing) -> StdioServer {
    let mut server = StdioServer::start(command, framing);
    let reply = server.initialize("2025-11-25");
    assert_eq!(reply["result"]["serverInfo"]["name"], "fixture", "{reply}");
    server
}

/// Starts the fixture over HTTP on a free port.
fn start_http() -> HttpServer {
    HttpServer::start(fixture().args(["--http", "127.0.0.1:0"]))
}

/// Starts the fixture over HTTP on a free port, with an environment variable.
fn start_http_with(variable: &str, value: &str) -> HttpServer {
    HttpServer::start(fixture().args(["--http", "127.0.0.1:0"]).env(variable, value))
}
