//! REST routes of a toolset: access control, limits and metrics.

use std::time::Duration;

use annai_testkit::process::TEST_TIMEOUT;
use serde_json::{Value, json};

use crate::{start_http, start_http_with};

#[test]
fn routes_have_the_host_origin_and_caller_checks_of_the_server() {
    let server = start_http();
    let get = |path: &str, headers: &[(&str, &str)]| server.send("GET", path, headers, "");
    assert_eq!(get("/fixture/items/7", &[]).body, "item 7");
    assert_eq!(get("/fixture/caller", &[]).body, "Owner");
    assert_eq!(get("/fixture/caller", &[("x-forwarded-for", "203.0.113.9")]).body, "Anonymous");
    assert_eq!(get("/fixture/items/7", &[("host", "evil.example")]).status, 403);
    assert_eq!(get("/fixture/items/7", &[("origin", "https://evil.example")]).status, 403);
    let allowed = get("/fixture/items/7", &[("origin", "https://chatgpt.com")]);
    assert_eq!(allowed.header("access-control-allow-origin"), Some("https://chatgpt.com"));
    assert_eq!(get("/fixture/none", &[]).json()["error"]["code"], "not_found");
}

#[test]
fn the_body_size_and_duration_of_route_requests_are_limited() {
    let server = start_http_with("FIXTURE_MAX_BODY_BYTES", "2000");
    assert_eq!(server.send("POST", "/fixture/length", &[], &"x".repeat(2000)).body, "2000");
    let refused = server.send("POST", "/fixture/length", &[], &"x".repeat(2001));
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (413, &json!("too_large")));
    let server = start_http_with("FIXTURE_CALL_TIMEOUT_MS", "100");
    let ended = server.send("GET", "/fixture/sleep/60000", &[], "");
    assert_eq!((ended.status, &ended.json()["error"]["code"]), (504, &json!("timed_out")));
}

#[test]
fn route_requests_have_a_limit_of_concurrent_calls() {
    let server = start_http_with("FIXTURE_MAX_IN_FLIGHT", "1");
    // Elapsed time is tested on purpose: that a request waited leaves no other trace.
    let started = std::time::Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert_eq!(server.send("GET", "/fixture/sleep/1000", &[], "").body, "slept"));
        }
    });
    assert!(started.elapsed() >= Duration::from_secs(2), "the requests did not wait for each other");
}

#[test]
fn route_requests_do_not_wait_for_mcp_calls() {
    let server = start_http_with("FIXTURE_MAX_IN_FLIGHT", "1");
    let params = json!({ "name": "sleep", "arguments": { "ms": 60_000 } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let call = annai_testkit::http::request("POST", "/mcp", &[("content-type", "application/json")], &call);
    let mut stream = server.connect();
    std::io::Write::write_all(&mut stream, call.as_bytes()).unwrap();
    server.process.wait_for_log("sleep began");
    assert_eq!(server.send("GET", "/fixture/items/7", &[], "").body, "item 7");
}

#[test]
fn route_requests_are_counted_by_route_pattern() {
    let server = start_http();
    for id in 0..3 {
        server.send("GET", &format!("/fixture/items/{id}"), &[], "");
    }
    server.send("GET", "/nowhere", &[], "");
    server.send("GET", "/metrics", &[("host", "evil.example")], "");
    let metrics = server.send("GET", "/metrics", &[], "").body;
    for line in [
        "http_requests_total{route=\"/fixture/items/{id}\",status=\"200\"} 3",
        "http_requests_total{route=\"none\",status=\"404\"} 1",
        "http_requests_total{route=\"refused\",status=\"403\"} 1",
    ] {
        assert!(metrics.contains(line), "{line} is not in {metrics}");
    }
}

fn read_request(uri: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": "resources/read", "params": { "uri": uri } })
}

#[test]
fn local_resources_are_neither_listed_for_nor_read_by_remote_callers() {
    let server = start_http();
    let remote = [("x-forwarded-for", "203.0.113.9")];
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/list" });
    let listed = |headers: &[(&str, &str)]| server.post(headers, &list).json().to_string();
    assert!(listed(&[]).contains("test://local-text") && !listed(&remote).contains("test://local-text"));
    let text =
        |uri: &str| server.post(&[], &read_request(uri)).json()["result"]["contents"][0]["text"].clone();
    assert_eq!(text("test://local-text"), "hello, owner");
    let refused = server.post(&remote, &read_request("test://local-text"));
    assert_eq!(refused.status, 401);
    assert!(refused.header("www-authenticate").unwrap().contains("scope=\"library.read\""), "{refused:?}");
    assert_eq!(refused.json()["id"], 7);
    assert_eq!(server.post(&remote, &read_request("test://static-text")).status, 200);
}

#[test]
fn bodies_up_to_the_servers_limit_pass_and_wrong_methods_get_json() {
    let server = start_http();
    let large = "x".repeat(3 << 20);
    assert_eq!(server.send("POST", "/fixture/length", &[], &large).body, large.len().to_string());
    let refused = server.send("DELETE", "/fixture/length", &[], "");
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (405, &json!("method_not_allowed")));
}

#[test]
fn opened_toolsets_are_closed_at_shutdown() {
    let mut server = start_http();
    server.call("count", json!({}));
    server.process.signal("TERM");
    assert_eq!(server.process.wait(TEST_TIMEOUT).code(), Some(0));
    server.process.wait_for_log("the toolset was closed");
}
