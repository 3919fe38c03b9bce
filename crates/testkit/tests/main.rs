//! The transports, proved on the `fixture` server: a real process, every byte seen.

mod suite {
    mod bad_input;
    mod calls;
    mod framing;
    mod http_abuse;
    mod http_door;
    mod http_mcp;
    mod http_routes;
    mod lifecycle;
    mod load;
    mod log;
    mod property;
    mod versions;
}

use std::process::Command;

use annai_testkit::http::HttpServer;
use annai_testkit::mcp::{Framing, StdioServer};

/// The fixture, not started yet.
fn fixture() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixture"));
    for name in
        ["DEBUG", "MCP_LINE_MODE", "LOG_LEVEL", "PORT", "PUBLIC_URL", "MCP_SERVER_URL", "CORS_ALLOW_ORIGINS"]
    {
        command.env_remove(name);
    }
    command
}

/// The fixture, started and introduced.
fn started(framing: Framing) -> StdioServer {
    introduced(&mut fixture(), framing)
}

fn introduced(command: &mut Command, framing: Framing) -> StdioServer {
    let mut server = StdioServer::start(command, framing);
    let reply = server.initialize("2025-11-25");
    assert_eq!(reply["result"]["serverInfo"]["name"], "fixture", "{reply}");
    server
}

/// The fixture over HTTP, on a free port.
fn over_http() -> HttpServer {
    HttpServer::start(fixture().args(["--http", "127.0.0.1:0"]))
}
