//! The routes of a toolset: behind the door, within the limits, counted by their patterns.

use std::time::Duration;

use annai_testkit::http::HttpServer;
use serde_json::{Value, json};

use crate::{fixture, over_http};

fn server_with(variable: &str, value: &str) -> HttpServer {
    HttpServer::start(fixture().args(["--http", "127.0.0.1:0"]).env(variable, value))
}

#[test]
fn a_toolsets_routes_stand_behind_the_door() {
    let server = over_http();
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
fn their_bodies_and_their_time_are_limited() {
    let server = server_with("FIXTURE_MAX_BODY_BYTES", "2000");
    assert_eq!(server.send("POST", "/fixture/length", &[], &"x".repeat(2000)).body, "2000");
    let refused = server.send("POST", "/fixture/length", &[], &"x".repeat(2001));
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (413, &json!("too_large")));
    let server = server_with("FIXTURE_CALL_TIMEOUT_MS", "100");
    let ended = server.send("GET", "/fixture/sleep/60000", &[], "");
    assert_eq!((ended.status, &ended.json()["error"]["code"]), (504, &json!("timed_out")));
}

#[test]
fn they_share_the_calls_in_flight_with_mcp() {
    let server = server_with("FIXTURE_MAX_IN_FLIGHT", "1");
    std::thread::scope(|scope| {
        scope.spawn(|| server.call("sleep", json!({ "ms": 1500 })));
        server.process.wait_for_log("sleep began");
        let started = std::time::Instant::now();
        assert_eq!(server.send("GET", "/fixture/items/7", &[], "").body, "item 7");
        assert!(started.elapsed() > Duration::from_millis(100), "it did not wait for the call under way");
    });
}

#[test]
fn they_are_counted_by_their_patterns() {
    let server = over_http();
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

fn read(uri: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": "resources/read", "params": { "uri": uri } })
}

#[test]
fn local_resources_are_hidden_from_strangers_and_refused() {
    let server = over_http();
    let far = [("x-forwarded-for", "203.0.113.9")];
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/list" });
    let listed = |headers: &[(&str, &str)]| server.post(headers, &list).json().to_string();
    assert!(listed(&[]).contains("test://local-text") && !listed(&far).contains("test://local-text"));
    let text = |uri: &str| server.post(&[], &read(uri)).json()["result"]["contents"][0]["text"].clone();
    assert_eq!(text("test://local-text"), "hello, owner");
    let refused = server.post(&far, &read("test://local-text"));
    assert_eq!(refused.status, 401);
    assert!(refused.header("www-authenticate").unwrap().contains("scope=\"library.read\""), "{refused:?}");
    assert_eq!(refused.json()["id"], 7);
    assert_eq!(server.post(&far, &read("test://static-text")).status, 200);
}

#[test]
fn opened_toolsets_are_closed_at_the_end() {
    let mut server = over_http();
    server.call("count", json!({}));
    server.process.signal("TERM");
    assert_eq!(server.process.wait(Duration::from_secs(5)).code(), Some(0));
    assert!(server.process.log().contains("the toolset was closed"), "{}", server.process.log());
}
