//! MCP over HTTP: statuses, errors and content types, for protocol versions with a handshake and for 2026-07-28 without.

use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use annai_testkit::http::{HttpServer, Response, request};
use annai_testkit::mcp::Framing;
use annai_testkit::process::count_calls;
use serde_json::{Value, json};

use crate::{start_http, start_http_with, start_stdio};

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "testkit", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// The headers that protocol version 2026-07-28 requires.
fn required_headers<'a>(method: &'a str, name: Option<&'a str>) -> Vec<(&'static str, &'a str)> {
    let mut headers = vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
    headers.extend(name.map(|name| ("mcp-name", name)));
    headers
}

fn message(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 5, "method": method, "params": params })
}

#[track_caller]
fn assert_error(response: &Response, status: u16, code: i64) -> Value {
    assert_eq!(response.status, status, "{response:?}");
    assert_eq!(response.header("content-type"), Some("application/json"), "{response:?}");
    let reply = response.json();
    assert!(reply.as_object().unwrap().contains_key("id"), "{reply}");
    assert_eq!(reply["error"]["code"], code, "{reply}");
    reply
}

#[test]
fn every_invalid_request_gets_a_json_rpc_error() {
    let server = start_http();
    let json_type = [("content-type", "application/json")];
    for body in ["{bad", "", "\u{0}"] {
        assert_error(&server.send("POST", "/mcp", &json_type, body), 400, -32700);
    }
    assert_error(&server.raw(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 4\r\n\r\n\"\xff\xfe\""), 400, -32700);
    for body in [
        "[]",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
        "{}",
        "5",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
    ] {
        assert_error(&server.send("POST", "/mcp", &json_type, body), 400, -32600);
    }
    let ping = message("ping", json!({})).to_string();
    assert_error(&server.send("POST", "/mcp", &[("content-type", "text/plain")], &ping), 415, -32600);
    assert_error(&server.send("POST", "/mcp", &[], &ping), 415, -32600);
    for method in ["GET", "DELETE", "PUT", "PATCH"] {
        let response = server.send(method, "/mcp", &[("accept", "text/event-stream")], "");
        assert_error(&response, 405, -32600);
        assert_eq!(response.header("allow"), Some("POST"));
    }
    assert_error(&server.post(&[], &message("no/such", json!({}))), 200, -32601);
    assert_error(&server.post(&[], &message("tools/call", json!({}))), 200, -32602);
    assert_error(
        &server.post(&[("mcp-protocol-version", "1999-01-01")], &message("tools/list", json!({}))),
        400,
        -32600,
    );
    assert_error(&server.post(&[], &json!({ "jsonrpc": "2.0", "id": 1, "result": {} })), 400, -32600);
    assert_eq!(server.send("GET", "/nowhere", &[], "").json()["error"]["code"], "not_found");
    assert_eq!(server.send("POST", "/health", &[], "").status, 405);
}

#[test]
fn a_body_that_exceeds_the_limit_is_rejected() {
    let server = start_http_with("FIXTURE_MAX_BODY_BYTES", "2000");
    let long = message("ping", json!({ "x": "y".repeat(3000) }));
    assert_error(&server.post(&[], &long), 413, -32600);
    // The same with a chunked body, whose length is not known in advance and which never ends.
    let mut stream = server.connect();
    stream.write_all(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n").unwrap();
    for _ in 0..40 {
        let _ = stream.write_all(format!("64\r\n{}\r\n", "x".repeat(100)).as_bytes());
    }
    let response = Response::read(&mut BufReader::new(stream)).unwrap();
    assert_error(&response, 413, -32600);
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn clients_that_do_not_accept_event_streams_get_json() {
    let server = start_http();
    let call =
        message("tools/call", json!({ "name": "test_tool_with_progress", "_meta": { "progressToken": 1 } }));
    for accept in ["application/json", "application/json;q=0.9", "text/html"] {
        let response = server.post(&[("accept", accept)], &call);
        assert_eq!(
            (response.status, response.header("content-type")),
            (200, Some("application/json")),
            "{accept}"
        );
        assert_eq!(response.json()["result"]["structuredContent"]["text"], "Progress was reported.");
    }
    let response = server.post(&[], &call);
    assert_eq!(response.header("content-type"), Some("text/event-stream"));
    let events = response.events();
    let steps: Vec<_> = events.iter().filter_map(|event| event["params"]["progress"].as_f64()).collect();
    assert_eq!(steps, [0.0, 50.0, 100.0]);
    assert_eq!(events.last().unwrap()["id"], 5);
    let quiet = message("tools/call", json!({ "name": "test_tool_with_progress" }));
    assert_eq!(server.post(&[], &quiet).header("content-type"), Some("application/json"));
}

#[test]
fn the_handshake_creates_no_session() {
    let server = start_http();
    for (requested, negotiated) in
        [("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("2030-01-01", "2025-11-25")]
    {
        let reply = server.request("initialize", json!({ "protocolVersion": requested, "capabilities": {} }));
        assert_eq!(reply["result"]["protocolVersion"], negotiated, "{reply}");
    }
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(server.post(&[], &initialized).status, 202);
    let unheard = json!({ "jsonrpc": "2.0", "method": "notifications/unheard_of" });
    assert_eq!(server.post(&[], &unheard).status, 202);
    assert!(server.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().len() > 10);
    let reply = server.call("refuses", json!({}));
    assert_eq!(reply["error"]["code"], -32050);
}

#[test]
fn version_2026_07_28_requires_its_headers_and_metadata_in_every_request() {
    let server = start_http();
    let reply = server.post(
        &required_headers("server/discover", None),
        &message("server/discover", json!({ "_meta": meta() })),
    );
    assert!(reply.json()["result"]["supportedVersions"].is_array(), "{reply:?}");
    let reply = server
        .post(&required_headers("tools/list", None), &message("tools/list", json!({ "_meta": meta() })))
        .json();
    assert_eq!(reply["result"]["resultType"], "complete");
    let call = message("tools/call", json!({ "name": "refuses", "_meta": meta() }));
    let reply = server.post(&required_headers("tools/call", Some("refuses")), &call).json();
    assert_eq!(reply["result"]["_meta"]["annai/error"]["details"]["code"], -32050);

    // Headers that are missing or contradict the body.
    let list = message("tools/list", json!({ "_meta": meta() }));
    assert_error(&server.post(&[], &list), 400, -32020);
    assert_error(&server.post(&[("mcp-protocol-version", "2026-07-28")], &list), 400, -32020);
    assert_error(&server.post(&required_headers("tools/call", None), &list), 400, -32020);
    assert_error(&server.post(&required_headers("tools/call", None), &call), 400, -32020);
    assert_error(&server.post(&required_headers("tools/call", Some("other")), &call), 400, -32020);
    assert_error(
        &server.post(&required_headers("tools/list", None), &message("tools/list", json!({}))),
        400,
        -32602,
    );
    assert_error(
        &server.post(&required_headers("no/such", None), &message("no/such", json!({ "_meta": meta() }))),
        404,
        -32601,
    );
    let mut future = meta();
    future["io.modelcontextprotocol/protocolVersion"] = "2031-01-01".into();
    let headers = [("mcp-protocol-version", "2031-01-01"), ("mcp-method", "tools/list")];
    assert_error(&server.post(&headers, &message("tools/list", json!({ "_meta": future }))), 400, -32022);
}

/// Sends a call on a new connection, which the caller drops before the call is answered.
#[must_use]
fn send_call(server: &HttpServer, headers: &[(&str, &str)], call: &Value) -> TcpStream {
    let mut all =
        vec![("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    all.extend_from_slice(headers);
    let mut stream = server.connect();
    stream.write_all(request("POST", "/mcp", &all, &call.to_string()).as_bytes()).unwrap();
    stream
}

#[test]
fn closing_the_connection_cancels_a_call_with_effects_only_in_version_2026_07_28() {
    let server = start_http();
    let sleep = |ms: u64, meta: Value| {
        message("tools/call", json!({ "name": "sleep", "arguments": { "ms": ms }, "_meta": meta }))
    };
    let connection =
        send_call(&server, &required_headers("tools/call", Some("sleep")), &sleep(60_000, meta()));
    server.process.wait_for_log("sleep began");
    drop(connection);
    server.process.wait_for_log("sleep was dropped");

    let server = start_http();
    let connections = [
        send_call(&server, &[], &sleep(1500, json!({}))),
        send_call(&server, &[], &sleep(1500, json!({ "progressToken": 1 }))),
    ];
    server.process.wait_for_log_lines("sleep began", 2);
    drop(connections);
    assert_eq!(server.call("count", json!({}))["result"]["structuredContent"]["running"], 2);
    server.process.wait_for_successful_calls("sleep", 2);
    assert_eq!(server.call("count", json!({}))["result"]["structuredContent"]["running"], 0);
    let log = server.stop();
    assert!(!log.contains("sleep was dropped"), "{log}");
    assert_eq!(count_calls(&log, "sleep", true), 2, "{log}");
}

#[test]
fn the_same_calls_give_the_same_results_over_both_transports() {
    let (server, mut pipe) = (start_http(), start_stdio(Framing::Lines));
    for (tool, arguments) in [
        ("test_simple_text", json!({})),
        ("test_image_content", json!({})),
        ("test_embedded_resource", json!({})),
        ("test_error_handling", json!({})),
        ("strict", json!({ "query": "案内", "limit": 3, "mode": "slow" })),
        ("strict", json!({ "query": 5, "other": true })),
        ("refuses", json!({})),
        ("refuses", json!({ "x": 1 })),
        ("panics", json!({})),
        ("local_only", json!({})),
        ("no_such_tool", json!({})),
        ("big", json!({ "bytes": 1_000_000 })),
    ] {
        let mut over_pipe = pipe.call(tool, arguments.clone());
        over_pipe["id"] = 1.into();
        assert_eq!(server.call(tool, arguments), over_pipe, "{tool}");
    }
    for (method, params) in [
        ("tools/list", json!({})),
        ("tools/list", json!({ "cursor": "x" })),
        ("prompts/list", json!({})),
        ("resources/read", json!({ "uri": "test://static-text" })),
        ("resources/read", json!({ "uri": "test://none" })),
        ("ping", json!({})),
        ("no/such", json!({})),
    ] {
        let mut over_pipe = pipe.request(method, params.clone());
        over_pipe["id"] = 1.into();
        assert_eq!(server.request(method, params), over_pipe, "{method}");
    }
    pipe.finish();
}

#[test]
fn health_and_metrics_report_the_state_of_the_server() {
    let server = start_http();
    server.call("count", json!({}));
    server.call("refuses", json!({}));
    let health = server.send("GET", "/health", &[], "").json();
    assert_eq!((&health["status"], &health["version"]), (&json!("ok"), &json!("1")));
    assert!(health["uptime"].is_u64());
    let metrics = server.send("GET", "/metrics", &[], "");
    assert!(metrics.header("content-type").unwrap().starts_with("application/openmetrics-text"));
    for line in [
        "annai_tool_calls_total{tool=\"count\",ok=\"true\"} 1",
        "annai_tool_calls_total{tool=\"refuses\",ok=\"false\"} 1",
        "annai_tool_seconds_count{tool=\"count\"} 1",
        "http_requests_total{route=\"/mcp\",status=\"200\"} 2",
    ] {
        assert!(metrics.body.contains(line), "{line} is not in {}", metrics.body);
    }
}

#[test]
fn running_calls_are_answered_after_a_signal() {
    let mut server = start_http();
    let call = message("tools/call", json!({ "name": "sleep", "arguments": { "ms": 800 } })).to_string();
    let mut stream = server.connect();
    stream
        .write_all(request("POST", "/mcp", &[("content-type", "application/json")], &call).as_bytes())
        .unwrap();
    let idle = server.connect();
    server.process.wait_for_log("sleep began");
    server.process.signal("TERM");
    let reply = Response::read(&mut BufReader::new(stream)).unwrap().json();
    assert_eq!(reply["result"]["structuredContent"]["text"], "slept");
    // The time is part of the test: an idle connection that was waited for would take the grace period of ten seconds.
    assert_eq!(server.process.wait(Duration::from_secs(8)).code(), Some(0));
    drop(idle);
}

#[test]
fn the_number_of_concurrent_calls_is_limited() {
    let server = start_http_with("FIXTURE_MAX_IN_FLIGHT", "3");
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                let reply = server.call("sleep", json!({ "ms": 50 }));
                assert_eq!(reply["result"]["structuredContent"]["text"], "slept");
            });
        }
    });
    assert_eq!(server.call("count", json!({}))["result"]["structuredContent"]["max_concurrent"], 3);
}

#[test]
fn a_signal_stops_the_server_even_if_every_connection_is_busy() {
    let mut server = start_http_with("FIXTURE_MAX_CONNECTIONS", "1");
    let call = message("tools/call", json!({ "name": "sleep", "arguments": { "ms": 60_000 } })).to_string();
    let mut stream = server.connect();
    stream
        .write_all(request("POST", "/mcp", &[("content-type", "application/json")], &call).as_bytes())
        .unwrap();
    server.process.wait_for_log("sleep began");
    server.process.signal("TERM");
    // The call, which takes a minute, is not waited for longer than the grace period of ten seconds.
    assert_eq!(server.process.wait(Duration::from_secs(40)).code(), Some(0));
}

#[test]
fn a_queued_call_with_effects_of_an_older_version_runs_although_its_connection_was_closed() {
    let server = start_http_with("FIXTURE_MAX_IN_FLIGHT", "1");
    let sleep = message("tools/call", json!({ "name": "sleep", "arguments": { "ms": 5000 } }));
    let running = send_call(&server, &[], &sleep);
    server.process.wait_for_log("sleep began");
    let short = message("tools/call", json!({ "name": "sleep", "arguments": { "ms": 1 } }));
    let queued = send_call(&server, &[], &short);
    // A queued call leaves no trace in the log; once the server has nothing to do, it has read it.
    server.process.wait_until_idle();
    drop((running, queued));
    server.process.wait_for_successful_calls("sleep", 2);
    let log = server.stop();
    assert_eq!(count_calls(&log, "sleep", true), 2, "{log}");
}

#[test]
fn access_control_and_execution_agree_about_duplicate_json_members() {
    let server = start_http();
    let headers = [("content-type", "application/json")];
    // The last of two members counts, both for access control and for the call.
    let twice = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_simple_text","name":"count"}}"#;
    let reply = server.send("POST", "/mcp", &headers, twice).json();
    assert!(reply["result"]["structuredContent"]["opened"].is_u64(), "{reply}");
    let twice = r#"{"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{"_meta":{},"_meta":{}}}"#;
    assert_eq!(server.send("POST", "/mcp", &headers, twice).status, 200);
    let twice = r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert_error(&server.send("POST", "/mcp", &headers, twice), 400, -32600);
}

#[test]
fn a_tool_that_sends_notifications_is_answered_with_json_if_the_client_accepts_nothing_else() {
    let server = start_http();
    let call = message("tools/call", json!({ "name": "test_tool_with_logging" }));
    for accept in
        ["application/json", "application/json, text/event-stream;q=0", "application/json, */*;q=0.0"]
    {
        let response = server.post(&[("accept", accept)], &call);
        assert_eq!(response.header("content-type"), Some("application/json"), "{accept}");
        assert_eq!(response.json()["result"]["content"][0]["text"], "Logged.");
    }
    let response = server.post(&[("accept", "APPLICATION/JSON, TEXT/Event-Stream")], &call);
    assert_eq!(response.header("content-type"), Some("text/event-stream"));
}
