//! How a connection begins and ends.

use std::time::{Duration, Instant};

use annai_testkit::mcp::{FRAMINGS, Framing, StdioServer};
use serde_json::{Value, json};

use crate::{fixture, started};

#[test]
fn before_initialize_notifications_are_ignored_and_requests_are_told_what_to_do() {
    let mut server = StdioServer::start(&mut fixture(), Framing::Lines);
    server.notify("notifications/initialized", json!({}));
    server.notify("notifications/cancelled", json!({ "requestId": 1 }));
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    let reply = server.request("tools/list", json!({}));
    assert_eq!(reply["error"]["code"], -32602);
    assert!(reply["error"]["message"].as_str().unwrap().contains("initialize"), "{reply}");
    server.initialize("2025-11-25");
    assert!(server.request("tools/list", json!({}))["result"]["tools"].is_array());
    server.finish();
}

fn sleeps(server: &mut StdioServer, ms: u64) -> Value {
    server.start_request("tools/call", json!({ "name": "sleep", "arguments": { "ms": ms } })).into()
}

fn answered_after_the_end_of_input(ms: u64) {
    for framing in FRAMINGS {
        let mut server = started(framing);
        let id = sleeps(&mut server, ms);
        server.end_input();
        let limit = Duration::from_millis(ms) + Duration::from_secs(10);
        let reply = server.receive_within(limit).expect("an answer").message;
        assert_eq!((&reply["id"], &reply["result"]["structuredContent"]["text"]), (&id, &json!("slept")));
        assert_eq!(server.process.wait(Duration::from_secs(2)).code(), Some(0));
    }
}

#[test]
fn calls_under_way_are_answered_after_the_end_of_input() {
    // Longer than the SDK itself would wait.
    answered_after_the_end_of_input(6_500);
}

#[test]
#[ignore = "takes two minutes; scripts/prove runs it"]
fn a_call_that_needs_a_minute_is_answered_after_the_end_of_input() {
    answered_after_the_end_of_input(60_000);
}

#[test]
fn the_last_message_needs_no_line_break() {
    let mut server = started(Framing::Lines);
    server.write(br#"{"jsonrpc":"2.0","id":"last","method":"ping"}"#);
    server.end_input();
    assert_eq!(server.reply_to(&json!("last"))["result"], json!({}));
    assert_eq!(server.process.wait(Duration::from_secs(2)).code(), Some(0));
}

#[test]
fn without_calls_the_end_of_input_ends_the_process_at_once() {
    for begun in [false, true] {
        let mut server = StdioServer::start(&mut fixture(), Framing::Lines);
        if begun {
            server.initialize("2025-11-25");
        }
        server.end_input();
        let since = Instant::now();
        assert_eq!(server.process.wait(Duration::from_secs(5)).code(), Some(0));
        assert!(since.elapsed() < Duration::from_secs(1));
    }
}

#[test]
fn a_signal_lets_calls_finish() {
    for name in ["TERM", "INT"] {
        let mut server = started(Framing::Lines);
        let id = sleeps(&mut server, 700);
        server.request("ping", json!({}));
        server.process.signal(name);
        assert_eq!(server.reply_to(&id)["result"]["structuredContent"]["text"], "slept");
        assert_eq!(server.process.wait(Duration::from_secs(2)).code(), Some(0));
    }
}

#[test]
fn ten_seconds_after_a_signal_the_rest_is_told_and_left() {
    let mut server = started(Framing::Lines);
    let id = sleeps(&mut server, 60_000);
    server.request("ping", json!({}));
    let since = Instant::now();
    server.process.signal("TERM");
    let reply = server.reply_to(&id);
    assert_eq!(reply["error"]["code"], -32603, "{reply}");
    assert_eq!(server.process.wait(Duration::from_secs(2)).code(), Some(0));
    assert!((9.5..12.0).contains(&since.elapsed().as_secs_f64()), "{:?}", since.elapsed());
    assert_eq!(server.receive_within(Duration::ZERO), None, "one answer only");
}

#[test]
fn a_second_signal_does_not_wait() {
    let mut server = started(Framing::Lines);
    sleeps(&mut server, 60_000);
    server.request("ping", json!({}));
    server.process.signal("TERM");
    server.process.wait_for_log("SIGTERM");
    server.process.signal("INT");
    assert_eq!(server.process.wait(Duration::from_secs(2)).code(), Some(130));
}
