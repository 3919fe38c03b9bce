//! Protocol versions: the handshake of the older ones, and 2026-07-28, which has none.

use annai_testkit::mcp::{Framing, StdioServer};
use serde_json::{Value, json};

use crate::{fixture, start_stdio};

#[test]
fn a_known_version_is_accepted_and_for_any_other_the_newest_with_a_handshake_is_offered() {
    for (requested, negotiated) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("soon", "2025-11-25"),
    ] {
        let mut server = StdioServer::start(&mut fixture(), Framing::Lines);
        assert_eq!(server.initialize(requested)["result"]["protocolVersion"], negotiated);
        server.finish();
    }
}

fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": { "name": "testkit", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[test]
fn version_2026_07_28_needs_no_handshake() {
    let mut server = StdioServer::start(&mut fixture(), Framing::Lines);
    let reply = server.request("server/discover", json!({ "_meta": meta("2026-07-28") }));
    let versions = reply["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2024-11-05")), "{reply}");
    let reply = server.request("tools/list", json!({ "_meta": meta("2026-07-28") }));
    assert_eq!(reply["result"]["resultType"], "complete");
    assert!(reply["result"]["tools"].as_array().unwrap().len() > 10);
    let reply = server.request("tools/call", json!({ "name": "count", "_meta": meta("2026-07-28") }));
    assert_eq!(reply["result"]["structuredContent"]["opened"], 1);

    let reply = server.request("tools/list", json!({ "_meta": meta("2031-01-01") }));
    assert_eq!(reply["error"]["code"], -32022);
    assert!(reply["error"]["data"]["supported"].is_array(), "{reply}");
    let reply = server.request("tools/list", json!({}));
    assert_eq!(reply["error"]["code"], -32602);
    server.finish();
}

#[test]
fn a_handshake_is_possible_after_server_discover() {
    let mut server = StdioServer::start(&mut fixture(), Framing::Lines);
    server.request("server/discover", json!({ "_meta": meta("2026-07-28") }));
    server.initialize("2025-06-18");
    let reply = server.request("tools/list", json!({}));
    assert!(reply["result"].get("resultType").is_none(), "{}", reply["result"]["resultType"]);
    server.finish();
}

#[test]
fn errors_are_tool_results_in_version_2026_07_28() {
    let mut server = StdioServer::start(&mut fixture(), Framing::Lines);
    let reply = server.request("tools/call", json!({ "name": "refuses", "_meta": meta("2026-07-28") }));
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    assert_eq!(
        reply["result"]["_meta"]["annai/error"],
        json!({ "code": "upstream_error", "message": "upstream failed", "details": { "code": -32050, "retries": 3 } })
    );
    server.finish();
}

#[test]
fn every_list_method_returns_an_array_and_an_unknown_resource_is_an_error() {
    let mut server = start_stdio(Framing::Lines);
    for (method, key) in [
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ] {
        assert!(server.request(method, json!({}))["result"][key].is_array(), "{method}");
    }
    let reply = server.request("resources/read", json!({ "uri": "test://none" }));
    assert_eq!(reply["error"]["code"], -32002);
    server.finish();
}
