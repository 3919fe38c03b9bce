//! The beginning and the end of a stdio connection.

use std::time::{Duration, Instant};

use annai_testkit::mcp::{FRAMINGS, Framing, StdioServer};
use serde_json::{Value, json};

use crate::{fixture, start_stdio};

#[test]
fn before_initialize_notifications_are_ignored_and_requests_get_an_error_that_names_initialize() {
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

/// Starts a call of `sleep`, waits until it runs, and returns its id.
fn start_sleep(server: &mut StdioServer, ms: u64) -> Value {
    let id = server.start_request("tools/call", json!({ "name": "sleep", "arguments": { "ms": ms } }));
    server.process.wait_for_log("sleep began");
    id.into()
}

/// Asserts that a call which takes `ms` milliseconds is answered although stdin is closed right after it.
fn assert_answered_after_end_of_input(ms: u64) {
    for framing in FRAMINGS {
        let mut server = start_stdio(framing);
        let id = start_sleep(&mut server, ms);
        server.end_input();
        let timeout = Duration::from_millis(ms) + Duration::from_secs(10);
        let reply = server.receive_within(timeout).expect("an answer").message;
        assert_eq!((&reply["id"], &reply["result"]["structuredContent"]["text"]), (&id, &json!("slept")));
        assert_eq!(server.process.wait(Duration::from_secs(8)).code(), Some(0));
    }
}

#[test]
fn running_calls_are_answered_after_the_end_of_input() {
    // The real time matters: this is longer than the SDK by itself would wait.
    assert_answered_after_end_of_input(6_500);
}

#[test]
#[ignore = "takes two minutes; scripts/prove runs it"]
fn a_call_of_one_minute_is_answered_after_the_end_of_input() {
    assert_answered_after_end_of_input(60_000);
}

#[test]
fn the_last_message_may_lack_a_line_break() {
    let mut server = start_stdio(Framing::Lines);
    server.write(br#"{"jsonrpc":"2.0","id":"last","method":"ping"}"#);
    server.end_input();
    assert_eq!(server.reply_to(&json!("last"))["result"], json!({}));
    assert_eq!(server.process.wait(Duration::from_secs(8)).code(), Some(0));
}

#[test]
fn without_running_calls_the_process_exits_at_once_at_the_end_of_input() {
    for has_handshake in [false, true] {
        let mut server = StdioServer::start(&mut fixture(), Framing::Lines);
        if has_handshake {
            server.initialize("2025-11-25");
        }
        server.end_input();
        // Elapsed time is tested on purpose: the process must not wait for its grace period.
        let since = Instant::now();
        assert_eq!(server.process.wait(Duration::from_secs(8)).code(), Some(0));
        assert!(since.elapsed() < Duration::from_secs(8));
    }
}

#[test]
fn running_calls_are_answered_after_a_signal() {
    for name in ["TERM", "INT"] {
        let mut server = start_stdio(Framing::Lines);
        let id = start_sleep(&mut server, 700);
        server.process.signal(name);
        assert_eq!(server.reply_to(&id)["result"]["structuredContent"]["text"], "slept");
        assert_eq!(server.process.wait(Duration::from_secs(8)).code(), Some(0));
    }
}

#[test]
fn ten_seconds_after_a_signal_running_calls_get_an_error_and_the_process_exits() {
    let mut server = start_stdio(Framing::Lines);
    let id = start_sleep(&mut server, 60_000);
    // Elapsed time is tested on purpose: the grace period is fixed, and the server is another process.
    let since = Instant::now();
    server.process.signal("TERM");
    let reply = server.reply_to(&id);
    assert_eq!(reply["error"]["code"], -32603, "{reply}");
    assert_eq!(server.process.wait(Duration::from_secs(8)).code(), Some(0));
    assert!((9.5..18.0).contains(&since.elapsed().as_secs_f64()), "{:?}", since.elapsed());
    assert_eq!(server.receive_within(Duration::ZERO), None, "the call is answered only once");
}

#[test]
fn a_second_signal_stops_the_process_at_once() {
    let mut server = start_stdio(Framing::Lines);
    start_sleep(&mut server, 60_000);
    server.process.signal("TERM");
    server.process.wait_for_log("SIGTERM");
    server.process.signal("INT");
    assert_eq!(server.process.wait(Duration::from_secs(8)).code(), Some(130));
}
