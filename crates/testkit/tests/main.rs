//! The transports, proved on the `fixture` server: a real process, every byte seen.

mod suite {
    mod bad_input;
    mod calls;
    mod framing;
    mod lifecycle;
    mod load;
    mod log;
    mod property;
    mod versions;
}

use std::process::Command;

use annai_testkit::mcp::{Framing, StdioServer};

/// The fixture, not started yet.
fn fixture() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixture"));
    command.env_remove("DEBUG").env_remove("MCP_LINE_MODE").env_remove("LOG_LEVEL");
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
