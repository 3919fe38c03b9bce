//! Tool calls over stdio: arguments, results, both forms of errors, progress, cancellation.

use annai_testkit::mcp::{FRAMINGS, Framing, StdioServer};
use serde_json::{Value, json};

use crate::{fixture, start_stdio, start_stdio_with};

fn error_of(reply: &Value) -> &Value {
    let result = &reply["result"];
    assert_eq!(result["isError"], true, "{reply}");
    assert!(result.get("structuredContent").is_none(), "{reply}");
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["_meta"]["annai/error"]);
    &result["_meta"]["annai/error"]
}

#[test]
fn errors_of_invalid_arguments_name_the_field_and_what_is_allowed() {
    let mut server = start_stdio(Framing::Lines);
    for (arguments, message) in [
        (json!({}), "query is required"),
        (json!({ "query": "" }), "query: expected a string that is not empty, got an empty string"),
        (json!({ "query": 5 }), "query: expected a string that is not empty, got 5"),
        (json!({ "query": "q", "limit": 11 }), "limit: expected an integer from 1 to 10, got 11"),
        (json!({ "query": "q", "limit": 2.5 }), "limit: expected an integer from 1 to 10, got 2.5"),
        (json!({ "query": "q", "mode": "odd" }), "mode: expected one of fast, slow, got \"odd\""),
        (
            json!({ "query": "q", "budget": { "time_ms": "3" } }),
            "budget.time_ms: expected an integer of at least 0, got a string",
        ),
        (json!({ "query": "q", "budget": { "x": 1 } }), "budget.x: unknown key; allowed: time_ms"),
        (json!({ "query": "q", "foo": 1 }), "foo: unknown key; allowed: query, limit, mode, budget"),
    ] {
        let reply = server.call("strict", arguments);
        assert_eq!(error_of(&reply), &json!({ "code": "invalid_parameter", "message": message }));
    }
    let reply = server
        .call("strict", json!({ "query": "q", "limit": null, "mode": "slow", "budget": { "time_ms": 3 } }));
    let output = json!({ "query": "q", "limit": null, "mode": "slow", "time_ms": 3 });
    assert_eq!(reply["result"]["structuredContent"], output);
    server.finish();
}

#[test]
fn errors_have_the_form_that_their_toolset_chose() {
    let mut server = start_stdio(Framing::Lines);
    let reply = server.call("test_error_handling", json!({}));
    assert_eq!(
        error_of(&reply),
        &json!({
            "code": "conflict",
            "message": "This tool intentionally returns an error for testing",
            "details": { "on": "purpose" },
        })
    );
    let reply = server.call("refuses", json!({}));
    assert_eq!(
        reply["error"],
        json!({ "code": -32050, "message": "upstream failed", "data": { "retries": 3 } })
    );
    let reply = server.call("refuses", json!({ "x": 1 }));
    assert_eq!(
        reply["error"],
        json!({
            "code": -32001, "message": "refuses: invalid arguments",
            "data": { "reason": "x: unknown key; no key is allowed here" },
        })
    );
    let log = server.finish();
    assert!(!log.contains("\"msg\":\"panic\""), "{log}");
}

#[test]
fn a_panic_fails_only_its_call_and_its_message_is_never_shown() {
    let mut server = start_stdio(Framing::Lines);
    let reply = server.call("panics", json!({}));
    assert_eq!(error_of(&reply)["code"], "internal");
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    let log = server.finish();
    assert!(log.contains("\"code\":\"internal\""), "{log}");
    assert!(!log.contains("secret words") && !reply.to_string().contains("secret words"), "{log}");
}

#[test]
fn a_call_is_aborted_at_the_call_timeout() {
    let mut server = start_stdio_with(fixture().env("FIXTURE_CALL_TIMEOUT_MS", "100"), Framing::Lines);
    let reply = server.call("sleep", json!({ "ms": 60_000 }));
    assert_eq!(error_of(&reply)["code"], "timed_out");
    server.process.wait_for_log("sleep was dropped");
    server.finish();
}

#[test]
fn progress_is_sent_before_the_result_and_only_on_request() {
    for framing in FRAMINGS {
        let mut server = start_stdio(framing);
        let params = json!({ "name": "test_tool_with_progress", "_meta": { "progressToken": "p1" } });
        let id = server.start_request("tools/call", params);
        for done in [0.0, 50.0, 100.0] {
            let message = server.receive().message;
            assert_eq!(message["method"], "notifications/progress");
            let params =
                json!({ "progressToken": "p1", "progress": done, "total": 100.0, "message": "on the way" });
            assert_eq!(message["params"], params);
        }
        assert_eq!(server.receive().message["id"], id);
        let id = server.start_request("tools/call", json!({ "name": "test_tool_with_progress" }));
        assert_eq!(server.receive().message["id"], id);
        server.finish();
    }
}

#[test]
fn replies_are_sent_in_the_order_of_completion() {
    let mut server = start_stdio(Framing::Lines);
    let slow = server.start_request("tools/call", json!({ "name": "sleep", "arguments": { "ms": 300 } }));
    let quick = server.start_request("tools/call", json!({ "name": "sleep", "arguments": { "ms": 1 } }));
    assert_eq!(server.receive().message["id"], quick);
    assert_eq!(server.receive().message["id"], slow);
    server.finish();
}

fn cancel(server: &mut StdioServer, id: Value) {
    server.notify("notifications/cancelled", json!({ "requestId": id, "reason": "changed my mind" }));
}

#[test]
fn a_cancelled_call_is_aborted_and_not_answered() {
    for framing in FRAMINGS {
        let mut server = start_stdio_with(fixture().env("DEBUG", "1"), framing);
        let id =
            server.start_request("tools/call", json!({ "name": "sleep", "arguments": { "ms": 60_000 } }));
        server.process.wait_for_log("recv method=tools/call");
        cancel(&mut server, id.into());
        server.process.wait_for_log("sleep was dropped");
        server.process.wait_for_log(&format!("cancelled requestId={id} reason=changed my mind"));
        cancel(&mut server, json!("never heard of"));
        cancel(&mut server, id.into());
        let ping = server.start_request("ping", json!({}));
        assert_eq!(server.receive().message["id"], ping, "the cancelled call is not answered");
        server.finish_without_messages();
    }
}

#[test]
fn the_state_of_a_toolset_is_opened_once() {
    let mut server = start_stdio(Framing::Lines);
    for _ in 0..3 {
        assert_eq!(server.call("count", json!({}))["result"]["structuredContent"]["opened"], 1);
    }
    server.finish();
}

#[test]
fn the_id_of_a_cancelled_call_cannot_be_reused_while_the_call_is_known() {
    let mut server = start_stdio(Framing::Lines);
    let sleep = |ms: u64| {
        let params = json!({ "name": "sleep", "arguments": { "ms": ms } });
        json!({ "jsonrpc": "2.0", "id": "again", "method": "tools/call", "params": params })
    };
    server.send(&sleep(1500));
    cancel(&mut server, json!("again"));
    server.send(&sleep(1));
    let reply = server.reply_to(&json!("again"));
    assert_eq!(reply["error"]["code"], -32600, "{reply}");
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    server.finish();
}

#[test]
fn initialize_cannot_be_cancelled() {
    let mut server = StdioServer::start(&mut fixture(), Framing::Lines);
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-11-25" } });
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    server.write(format!("{hello}\n{cancel}\n").as_bytes());
    assert_eq!(server.reply_to(&json!(1))["result"]["protocolVersion"], "2025-11-25");
    server.finish();
}
