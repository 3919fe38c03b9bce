//! Both framings: each message is recognized by its own framing and answered in the same one.

use annai_testkit::mcp::{FRAMINGS, Framing, StdioServer, frame};
use serde_json::json;

use crate::{fixture, start_stdio, start_stdio_with};

#[test]
fn handshake_list_and_call_work_in_either_framing() {
    for framing in FRAMINGS {
        let mut server = StdioServer::start(&mut fixture(), framing);
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {} });
        let reply = server.request("initialize", params);
        assert_eq!(reply["result"]["protocolVersion"], "2025-06-18");
        let list = server.request("tools/list", json!({}));
        let names: Vec<_> =
            list["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert!(names.contains(&&json!("test_simple_text")) && names.contains(&&json!("test_image_content")));
        let reply = server.call("test_simple_text", json!({}));
        assert_eq!(reply["result"]["content"][0]["text"], "This is a simple text response for testing.");
        server.finish();
    }
}

#[test]
fn replies_use_the_framing_last_received() {
    let mut server = start_stdio(Framing::Lines);
    let ping = |id: i64| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string();
    for (id, framing) in [(100, Framing::Headers), (101, Framing::Lines), (102, Framing::Headers)] {
        server.write(&frame(&ping(id), framing));
        let received = server.receive();
        assert_eq!((&received.message["id"], received.framing), (&json!(id), framing));
    }
    server.finish();
}

#[test]
fn pipelined_requests_are_answered_each_in_its_own_framing() {
    let mut server = start_stdio(Framing::Lines);
    let call = |id: i64, name: &str| {
        let params = json!({ "name": name, "arguments": { "ms": 100 } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
    };
    let list = |id: i64| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" }).to_string();
    // All of them arrive before the first reply, and the framing changes with each of them.
    let mut sent = Vec::new();
    let mut bytes = Vec::new();
    for id in 100..140 {
        let framing = FRAMINGS[usize::from(id % 2 == 0)];
        let text = match id % 3 {
            0 => list(id),
            1 => call(id, "sleep"),
            _ => call(id, "no_such_tool"),
        };
        bytes.extend(frame(&text, framing));
        sent.push((id, framing));
    }
    server.write(&bytes);
    let mut received: Vec<_> = sent
        .iter()
        .map(|_| {
            let reply = server.receive();
            (reply.message["id"].as_i64().unwrap(), reply.framing)
        })
        .collect();
    received.sort_by_key(|(id, _)| *id);
    assert_eq!(received, sent);
    server.finish();
}

#[test]
fn line_mode_can_be_forced() {
    let mut server = start_stdio_with(fixture().env("MCP_LINE_MODE", "1"), Framing::Headers);
    server.start_request("ping", json!({}));
    assert_eq!(server.receive().framing, Framing::Lines);
    server.finish();
}

#[test]
fn text_beyond_ascii_is_framed_by_its_length_in_bytes() {
    for framing in FRAMINGS {
        let mut server = start_stdio(framing);
        let reply = server.call("strict", json!({ "query": "案内 — 🧭" }));
        assert_eq!(reply["result"]["structuredContent"]["query"], "案内 — 🧭");
        server.finish();
    }
}

#[test]
fn a_leading_byte_order_mark_is_skipped_and_logged() {
    let mut server = StdioServer::start(&mut fixture(), Framing::Lines);
    server.write("\u{feff}".as_bytes());
    server.initialize("2025-11-25");
    server.process.wait_for_log("byte order mark");
    server.finish();
}

#[test]
fn headers_are_accepted_in_any_order_and_case() {
    let mut server = start_stdio(Framing::Headers);
    let ping = r#"{"jsonrpc":"2.0","id":"h","method":"ping"}"#;
    for head in ["content-LENGTH: 42\n\n", "Content-Type: application/json\r\nCONTENT-LENGTH:42\r\n\r\n"] {
        assert_eq!(ping.len(), 42);
        server.write(format!("{head}{ping}").as_bytes());
        assert_eq!(server.reply_to(&json!("h"))["result"], json!({}));
    }
    server.finish();
}
