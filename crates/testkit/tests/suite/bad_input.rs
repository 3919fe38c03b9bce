//! Invalid input over stdio: it gets the right JSON-RPC error code, and the connection stays usable.

use annai_testkit::mcp::{FRAMINGS, Framing, StdioServer, frame};
use serde_json::{Value, json};

use crate::{fixture, start_stdio, start_stdio_with};

/// Sends `bytes`, asserts that the reply is one error and that a ping is answered afterwards, and returns the message.
#[track_caller]
fn assert_error(server: &mut StdioServer, bytes: &[u8], id: &Value, code: i64) -> String {
    server.write(bytes);
    let reply = server.receive().message;
    assert!(reply.as_object().unwrap().contains_key("id"), "the id is present, even if null: {reply}");
    let what = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
    assert_eq!((&reply["id"], &reply["error"]["code"]), (id, &json!(code)), "{what:?} gave {reply}");
    assert_eq!(server.request("ping", json!({}))["result"], json!({}), "after {what:?}");
    reply["error"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn input_that_is_not_json_is_a_parse_error() {
    let mut server = start_stdio(Framing::Lines);
    let null = Value::Null;
    for bytes in [
        &b"{\"jsonrpc\":\"2.0\",\n"[..],
        b"nonsense\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}\n",
        b"Content-Length: many\r\n\r\n",
        b"Content-Length: -5\r\n\r\n",
        b"Content-Type: text/plain\r\n\r\n",
        b"Content-Length: 3\r\n\r\n{a}\n",
        b"Content-Length: 0\r\n\r\n",
        b"{\"a\":1}{\"b\":2}\n",
        b"\"unterminated\n",
        b"\x00\x01\x02\n",
    ] {
        assert_error(&mut server, bytes, &null, -32700);
    }
    server.finish();
}

#[test]
fn json_that_is_not_a_request_is_an_invalid_request() {
    for framing in FRAMINGS {
        let mut server = start_stdio(framing);
        for (message, id) in [
            (json!([{ "jsonrpc": "2.0", "id": 5, "method": "ping" }]), Value::Null),
            (json!([]), Value::Null),
            (json!({ "jsonrpc": "1.0", "id": 5, "method": "ping" }), json!(5)),
            (json!({ "id": "five", "method": "ping" }), json!("five")),
            (json!({ "jsonrpc": "2.0", "id": 1.5, "method": "ping" }), Value::Null),
            (json!({ "jsonrpc": "2.0", "id": [], "method": "ping" }), Value::Null),
            (json!({ "jsonrpc": "2.0", "id": 5, "method": {} }), json!(5)),
            (json!({ "jsonrpc": "2.0", "id": 5 }), json!(5)),
            (json!({}), Value::Null),
        ] {
            assert_error(&mut server, &frame(&message.to_string(), framing), &id, -32600);
        }
        server.finish();
    }
}

#[test]
fn invalid_parameters_and_unknown_methods_have_different_codes() {
    let mut server = start_stdio(Framing::Lines);
    let mut assert_request_fails = |method: &str, params: Value, code: i64| {
        let message = json!({ "jsonrpc": "2.0", "id": "x", "method": method, "params": params });
        assert_error(&mut server, &frame(&message.to_string(), Framing::Lines), &json!("x"), code)
    };
    assert_eq!(
        assert_request_fails("tools/call", json!({}), -32602),
        "tools/call: params: missing field `name`"
    );
    let message = assert_request_fails("tools/call", json!({ "name": "strict", "arguments": [] }), -32602);
    assert!(message.contains("params.arguments"), "{message}");
    let message = assert_request_fails("tools/call", json!({ "name": "no_such_tool" }), -32602);
    assert!(message.contains("unknown tool: no_such_tool"), "{message}");
    assert_request_fails("tools/list", json!({ "cursor": "page2" }), -32602);
    assert_request_fails("tools/list", json!({ "cursor": 2 }), -32602);
    assert_request_fails("tools/list", json!([1]), -32602);
    assert_request_fails("initialize", json!({}), -32602);
    assert_request_fails("resources/read", json!({}), -32602);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let message = format!(r#"{{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{{"name":{deep}}}}}"#);
    assert_error(&mut server, &frame(&message, Framing::Lines), &json!("x"), -32602);
    let mut assert_request_fails = |method: &str, params: Value, code: i64| {
        let message = json!({ "jsonrpc": "2.0", "id": "x", "method": method, "params": params });
        assert_error(&mut server, &frame(&message.to_string(), Framing::Lines), &json!("x"), code)
    };
    assert_request_fails("no/such/method", json!({}), -32601);
    assert_request_fails("notifications/initialized", json!({}), -32601);
    server.finish();
}

#[test]
fn a_message_that_is_too_long_is_rejected_and_skipped() {
    for framing in FRAMINGS {
        let mut server = start_stdio_with(fixture().env("FIXTURE_MAX_MESSAGE_BYTES", "2048"), framing);
        let long =
            json!({ "jsonrpc": "2.0", "id": 9, "method": "ping", "params": { "x": "y".repeat(300_000) } });
        let message = assert_error(&mut server, &frame(&long.to_string(), framing), &Value::Null, -32600);
        assert!(message.contains("2048"), "{message}");
        server.finish();
    }
}

#[test]
fn blank_lines_replies_and_notifications_are_not_answered() {
    let mut server = start_stdio(Framing::Lines);
    server.write(b"\n\r\n   \n");
    server.send(&json!({ "jsonrpc": "2.0", "id": 77, "result": {} }));
    server.send(&json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": "?" } }));
    server.notify("notifications/unheard_of", json!({}));
    server.notify("notifications/cancelled", json!({ "requestId": {} }));
    server.notify("notifications/progress", json!("?"));
    let ping = server.start_request("ping", json!({}));
    assert_eq!(server.receive().message["id"], ping, "nothing before the ping is answered");
    server.finish_without_messages();
}

#[test]
fn a_request_with_the_id_of_a_running_request_is_rejected() {
    let mut server = start_stdio(Framing::Lines);
    let call = json!({
        "jsonrpc": "2.0", "id": "twice", "method": "tools/call",
        "params": { "name": "sleep", "arguments": { "ms": 300 } },
    });
    server.send(&call);
    server.send(&json!({ "jsonrpc": "2.0", "id": "twice", "method": "ping" }));
    assert_eq!(server.reply_to(&json!("twice"))["error"]["code"], -32600);
    assert_eq!(server.reply_to(&json!("twice"))["result"]["structuredContent"]["text"], "slept");
    server.finish();
}

#[test]
fn after_a_malformed_frame_the_following_messages_are_answered() {
    let ping = |id: i64| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string();
    let japanese = r#"{"jsonrpc":"2.0","id":900,"method":"日本語"}"#;
    for bad in [
        format!("Content-Length: {}\r\n\r\n{}", ping(900).len() - 2, ping(900)),
        format!("Content-Length: {}\r\n\r\n{}", ping(900).len() + 3, ping(900)),
        format!("Content-Length: {}\r\n\r\n{japanese}", japanese.chars().count()),
        format!("Content-Length: -1\r\n\r\n{}", ping(900)),
        format!("Content-Length: 99999999\r\n\r\n{}", ping(900)),
        "garbage without a line break".to_owned(),
    ] {
        let mut server = start_stdio(Framing::Headers);
        server.write(bad.as_bytes());
        for id in 901..905 {
            server.write(&frame(&ping(id), Framing::Headers));
            assert_eq!(server.reply_to(&json!(id))["result"], json!({}), "after {bad:?}");
        }
        server.finish();
    }
}

#[test]
fn a_message_inside_of_a_message_is_not_executed() {
    let mut server = start_stdio_with(fixture().env("DEBUG", "1"), Framing::Headers);
    let inner = r#"{"jsonrpc":"2.0","id":"inner","method":"ping"}"#;
    let call = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"outer\",\"method\":\"tools/call\",\"params\":{{\"name\":\"strict\",\"arguments\":{{\"query\":\"q\",\"x\":\n{inner}\n}}}}}}"
    );
    let bytes = frame(&call, Framing::Headers);
    let (first, second) = bytes.split_at(bytes.len() - 3);
    // After this reply the server has read everything before, so the next chunk that it reads is the first part.
    server.request("ping", json!({}));
    server.write(first);
    server.process.wait_for_log(&format!("stdin chunk={}\"", first.len()));
    server.write(second);
    let reply = server.receive().message;
    assert_eq!(reply["id"], "outer", "{reply}");
    server.finish_without_messages();
}
