//! Many concurrent calls, and clients that do not read.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use annai_testkit::bench::resident_mib;
use annai_testkit::mcp::Framing;
use annai_testkit::process::{TEST_TIMEOUT, wait_until_idle};
use serde_json::{Value, json};

use crate::{fixture, start_http_with, start_stdio, start_stdio_with};

#[test]
fn the_number_of_concurrent_calls_is_limited_and_the_others_are_queued() {
    let mut server = start_stdio_with(fixture().env("FIXTURE_MAX_IN_FLIGHT", "4"), Framing::Lines);
    let ids: Vec<_> = (0..30)
        .map(|_| server.start_request("tools/call", json!({ "name": "sleep", "arguments": { "ms": 20 } })))
        .collect();
    let mut answered: Vec<_> = ids.iter().map(|_| server.receive().message["id"].as_i64().unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, ids);
    assert_eq!(server.call("count", json!({}))["result"]["structuredContent"]["max_concurrent"], 4);
    server.finish();
}

/// Far more slow calls of one toolset than there are places hold up neither another toolset nor the protocol.
#[test]
fn slow_calls_of_a_toolset_do_not_hold_up_another_over_stdio() {
    let mut server = start_stdio_with(fixture().env("FIXTURE_MAX_IN_FLIGHT", "4"), Framing::Lines);
    let sleep = json!({ "name": "sleep", "arguments": { "ms": 60_000 } });
    let slow: Vec<_> = (0..300).map(|_| server.start_request("tools/call", sleep.clone())).collect();
    // Half of the time that the slow calls would take, at most.
    assert_eq!(server.call("refuses", json!({}))["error"]["code"], -32050);
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    for id in slow {
        server.notify("notifications/cancelled", json!({ "requestId": id }));
    }
    assert_eq!(server.call("count", json!({}))["result"]["structuredContent"]["max_concurrent"], 4);
    server.finish();
}

#[test]
fn slow_calls_of_a_toolset_do_not_hold_up_another_over_http() {
    let server = start_http_with("FIXTURE_MAX_IN_FLIGHT", "4");
    let params = json!({ "name": "sleep", "arguments": { "ms": 60_000 } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let json = [("content-type", "application/json")];
    let slow: Vec<_> = (0..300)
        .map(|_| {
            let mut stream = server.connect();
            let request = annai_testkit::http::request("POST", "/mcp", &json, &call);
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    assert_eq!(server.call("refuses", json!({}))["error"]["code"], -32050);
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    assert_eq!(server.send("GET", "/fixture/items/1", &[], "").status, 200);
    drop(slow);
}

#[test]
fn a_queued_call_can_be_cancelled() {
    let mut server = start_stdio_with(fixture().env("FIXTURE_MAX_IN_FLIGHT", "1"), Framing::Lines);
    let sleep = json!({ "name": "sleep", "arguments": { "ms": 60_000 } });
    let running = server.start_request("tools/call", sleep.clone());
    let queued = server.start_request("tools/call", sleep);
    for id in [queued, running] {
        server.notify("notifications/cancelled", json!({ "requestId": id }));
    }
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    server.finish();
}

#[test]
fn a_thousand_calls_are_all_answered() {
    let mut server = start_stdio(Framing::Headers);
    let ids: Vec<_> = (0..1000)
        .map(|n| {
            server.start_request(
                "tools/call",
                json!({ "name": "strict", "arguments": { "query": n.to_string() } }),
            )
        })
        .collect();
    let mut answers: Vec<_> = ids
        .iter()
        .map(|_| {
            let reply = server.receive().message;
            let query =
                reply["result"]["structuredContent"]["query"].as_str().unwrap().parse::<i64>().unwrap();
            (reply["id"].as_i64().unwrap(), query)
        })
        .collect();
    answers.sort_unstable();
    assert_eq!(answers, ids.iter().map(|id| (*id, id - ids[0])).collect::<Vec<_>>());
    server.finish();
}

/// Performs the handshake on bare pipes, after which the test decides when it reads.
fn greet(input: &mut impl Write, output: &mut impl BufRead) {
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {} });
    let hello = json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params });
    writeln!(input, "{hello}").unwrap();
    let mut reply = String::new();
    output.read_line(&mut reply).unwrap();
    assert!(reply.contains("\"hello\""), "{reply}");
}

/// Queued calls must not start while nobody reads the answers of the calls before them.
#[test]
fn queued_calls_do_not_start_while_the_client_does_not_read() {
    let mut command = fixture();
    command.env("FIXTURE_MAX_IN_FLIGHT", "4");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    greet(&mut input, &mut output);
    let mut text = String::new();
    for id in 0..300 {
        let params = json!({ "name": "big", "arguments": { "bytes": 1_000_000 } });
        text.push_str(&format!(
            "{}\n",
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
        ));
    }
    input.write_all(text.as_bytes()).unwrap();
    // A server that went on would have something to do until it had finished all calls.
    wait_until_idle(child.id());
    let resident = resident_mib(child.id());
    assert!(resident < 100.0, "{resident} MiB resident");
    drop(input);
    let mut all = String::new();
    output.read_to_string(&mut all).unwrap();
    assert_eq!(all.lines().count(), 300);
    assert!(child.wait().unwrap().success());
}

/// The client sends far more requests than it reads answers, and reads the rest only later.
#[test]
fn the_server_stops_reading_while_the_client_does_not_read() {
    let mut command = fixture();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    greet(&mut input, &mut output);
    let total = 6000;
    let written = Arc::new(AtomicUsize::new(0));
    let counter = written.clone();
    let writer = std::thread::spawn(move || {
        for id in 0..total {
            let params = json!({ "name": "big", "arguments": { "bytes": 30_000 } });
            let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
            writeln!(input, "{call}").unwrap();
            counter.fetch_add(1, Ordering::SeqCst);
        }
    });
    // The server has nothing to do and nothing more can be written: it has stopped reading, or has read everything.
    let mut before = 0;
    while before == 0 || before < written.load(Ordering::SeqCst) {
        before = written.load(Ordering::SeqCst);
        wait_until_idle(child.id());
    }
    assert!(!writer.is_finished(), "the server read everything though nobody reads its answers");
    let resident = resident_mib(child.id());
    assert!(resident < 150.0, "{resident} MiB resident");
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    writer.join().unwrap();
    assert_eq!(text.lines().count(), total);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_client_that_does_not_read_the_log_does_not_block_the_server() {
    let mut command = fixture();
    command.env("DEBUG", "1").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(output));
    for id in 0..5000 {
        writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })).unwrap();
        let reply: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(reply["id"], id);
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_server_exits_when_the_client_closes_its_output() {
    let mut command = fixture();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    drop(child.stdout.take());
    let since = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(since.elapsed() < TEST_TIMEOUT, "the server is still running");
        // The server notices with an answer that it cannot write. Once it has exited, this write fails too.
        let _ = writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
        std::thread::sleep(Duration::from_millis(10));
    }
}
