//! Callers that go away during a find: it ends, in every version of the protocol and on both transports.

use std::io::Write as _;
use std::time::{Duration, Instant};

use annai_testkit::http::{HttpServer, request};
use annai_testkit::mcp::{Framing, StdioServer};
use annai_testkit::process::{Process, TEST_TIMEOUT, count_calls};
use serde_json::{Value, json};

use crate::{Home, annai};

const HANDSHAKE_VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const PER_REQUEST_VERSION: &str = "2026-07-28";

/// A workspace with a manual whose first find takes long, because it is indexed first.
fn home() -> Home {
    let home = Home::new();
    let paragraph =
        "The valve must not exceed 12.5 bar, see [limits](#limits) and `table 4`. 弁の圧力は別表による。\n\n";
    home.write("manuals/m/prose.md", &format!("# Heading\n\n{}", paragraph.repeat(20)).repeat(8000));
    home
}

fn find(meta: Option<Value>) -> Value {
    let mut params = json!({ "name": "manual_find", "arguments": { "query": "valve", "manual_id": "m" } });
    if let Some(meta) = meta {
        params["_meta"] = meta;
    }
    params
}

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": PER_REQUEST_VERSION,
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A kind of request: its name, its headers and its parameters.
type Kind = (String, Vec<(&'static str, &'static str)>, Value);

/// Waits until the process works.
fn assert_works(process: &Process, before: Duration, name: &str) {
    let started = Instant::now();
    while process.cpu_time().saturating_sub(before) < Duration::from_millis(300) {
        assert!(started.elapsed() < TEST_TIMEOUT, "{name}: the find does not begin: {}", process.log());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Asserts that no find was answered: it was cancelled before.
fn assert_none_ended_by_itself(log: &str) {
    assert_eq!(count_calls(log, "manual_find", true), 0, "a find has ended by itself: {log}");
}

/// Asserts that the process stops working soon; the find itself would take much longer.
fn assert_rests(process: &Process, name: &str) {
    let started = Instant::now();
    loop {
        let before = process.cpu_time();
        std::thread::sleep(Duration::from_millis(300));
        if process.cpu_time() - before <= Duration::from_millis(20) {
            return;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "{name}: the find goes on");
    }
}

#[test]
fn a_find_ends_with_its_connection_in_every_version() {
    let home = home();
    let mut command = annai(&home);
    command.args(["--http", "127.0.0.1:0", "--toolset", "library"]).env("WORKSPACE_ROOT", ".");
    let server = HttpServer::start(&mut command);
    let mut kinds: Vec<Kind> = HANDSHAKE_VERSIONS
        .iter()
        .map(|version| ((*version).to_owned(), vec![("mcp-protocol-version", *version)], find(None)))
        .collect();
    kinds.push(("no version".to_owned(), Vec::new(), find(None)));
    kinds.push(("progress".to_owned(), Vec::new(), find(Some(json!({ "progressToken": 1 })))));
    let of_request = [
        ("mcp-protocol-version", PER_REQUEST_VERSION),
        ("mcp-method", "tools/call"),
        ("mcp-name", "manual_find"),
    ];
    kinds.push((PER_REQUEST_VERSION.to_owned(), of_request.into(), find(Some(meta()))));
    for (name, headers, params) in kinds {
        let mut all =
            vec![("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
        all.extend(headers);
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let before = server.process.cpu_time();
        let mut stream = server.connect();
        stream.write_all(request("POST", "/mcp", &all, &body).as_bytes()).unwrap();
        assert_works(&server.process, before, &name);
        drop(stream);
        assert_rests(&server.process, &name);
    }
    assert_none_ended_by_itself(&server.stop());
}

#[test]
fn a_find_ends_when_it_is_cancelled_over_stdio_in_every_version() {
    let home = home();
    for version in HANDSHAKE_VERSIONS.into_iter().chain([PER_REQUEST_VERSION]) {
        let mut command = annai(&home);
        command.args(["--stdio", "--toolset", "library"]).env("WORKSPACE_ROOT", ".");
        let mut server = StdioServer::start(&mut command, Framing::Lines);
        let is_per_request = version == PER_REQUEST_VERSION;
        if !is_per_request {
            assert_eq!(server.initialize(version)["result"]["protocolVersion"], version);
        }
        let before = server.process.cpu_time();
        let id = server.start_request("tools/call", find(is_per_request.then(meta)));
        assert_works(&server.process, before, version);
        server.notify("notifications/cancelled", json!({ "requestId": id }));
        assert_rests(&server.process, version);
        assert_none_ended_by_itself(&server.finish());
    }
}
