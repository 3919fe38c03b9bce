//! Much at once, and clients that do not read.

use std::io::{Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use annai_testkit::mcp::Framing;
use serde_json::{Value, json};

use crate::{fixture, introduced, started};

#[test]
fn no_more_calls_run_at_once_than_allowed_and_the_rest_wait_their_turn() {
    let mut server = introduced(fixture().env("FIXTURE_MAX_IN_FLIGHT", "4"), Framing::Lines);
    let ids: Vec<_> = (0..30)
        .map(|_| server.start_request("tools/call", json!({ "name": "sleep", "arguments": { "ms": 20 } })))
        .collect();
    let mut answered: Vec<_> = ids.iter().map(|_| server.receive().message["id"].as_i64().unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, ids);
    assert_eq!(server.call("count", json!({}))["result"]["structuredContent"]["most"], 4);
    server.finish();
}

#[test]
fn a_call_can_be_cancelled_while_all_places_are_taken() {
    let mut server = introduced(fixture().env("FIXTURE_MAX_IN_FLIGHT", "1"), Framing::Lines);
    let sleep = json!({ "name": "sleep", "arguments": { "ms": 60_000 } });
    let running = server.start_request("tools/call", sleep.clone());
    let _waiting = server.start_request("tools/call", sleep);
    for id in [running + 1, running] {
        server.notify("notifications/cancelled", json!({ "requestId": id }));
    }
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    server.finish();
}

#[test]
fn a_thousand_calls_are_all_answered() {
    let mut server = started(Framing::Headers);
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

/// Calls that wait for their turn do not start while nobody reads the answers of those before them.
#[test]
fn a_reader_that_stops_makes_waiting_calls_wait() {
    let mut command = fixture();
    command.env("FIXTURE_MAX_IN_FLIGHT", "4");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let hello = json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": { "protocolVersion": "2025-11-25" } });
    let mut text = format!("{hello}\n");
    for id in 0..300 {
        let params = json!({ "name": "big", "arguments": { "bytes": 1_000_000 } });
        text.push_str(&format!(
            "{}\n",
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
        ));
    }
    input.write_all(text.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_secs(3));
    let resident = resident_bytes(child.id());
    assert!(resident < 100 << 20, "{resident} bytes resident");
    drop(input);
    let mut all = String::new();
    child.stdout.take().unwrap().read_to_string(&mut all).unwrap();
    assert_eq!(all.lines().count(), 301);
    assert!(child.wait().unwrap().success());
}

/// A client that asks for far more than it reads, then reads after all.
#[test]
fn a_reader_that_stops_makes_the_server_stop_reading() {
    let mut command = fixture();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let total = 6000;
    let writer = std::thread::spawn(move || {
        let hello = json!({
            "jsonrpc": "2.0", "id": "hello", "method": "initialize",
            "params": { "protocolVersion": "2025-11-25", "capabilities": {} },
        });
        writeln!(input, "{hello}").unwrap();
        for id in 0..total {
            let params = json!({ "name": "big", "arguments": { "bytes": 30_000 } });
            let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
            writeln!(input, "{call}").unwrap();
        }
    });
    std::thread::sleep(Duration::from_secs(2));
    assert!(!writer.is_finished(), "the server read everything though nobody reads its answers");
    let resident = resident_bytes(child.id());
    assert!(resident < 150 << 20, "{resident} bytes resident");
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    writer.join().unwrap();
    assert_eq!(text.lines().count(), total + 1);
    assert!(child.wait().unwrap().success());
}

fn resident_bytes(process: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

#[test]
fn a_log_that_nobody_reads_stops_nothing() {
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
    let since = Instant::now();
    assert!(child.wait().unwrap().success());
    assert!(since.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_client_that_closes_its_end_ends_the_server() {
    let mut command = fixture();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    drop(child.stdout.take());
    for id in 0..10 {
        // The pipe breaks at some point, as it should.
        let _ = writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }));
        std::thread::sleep(Duration::from_millis(20));
    }
    let since = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(since.elapsed() < Duration::from_secs(5), "the server outlives its client");
        std::thread::sleep(Duration::from_millis(10));
    }
}
