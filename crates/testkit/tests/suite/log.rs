//! The log: JSON Lines on stderr that never contain arguments or results.

use annai_testkit::mcp::Framing;
use serde_json::{Value, json};

use crate::{fixture, start_stdio, start_stdio_with};

fn lines(log: &str) -> Vec<Value> {
    log.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

#[test]
fn every_call_is_logged_as_one_line() {
    let mut server = start_stdio(Framing::Lines);
    let id = server.start_request("tools/call", json!({ "name": "count" }));
    server.reply_to(&id.into());
    let log = lines(&server.process.wait_for_log("\"tool\":\"count\""));
    let [line] = log.as_slice() else { panic!("{log:?}") };
    assert_eq!(
        (&line["level"], &line["tool"], &line["ok"], &line["request_id"], &line["counted"]),
        (&json!("info"), &json!("count"), &json!(true), &json!(id.to_string()), &json!(true))
    );
    assert!(line["elapsed_ms"].is_u64() && line["ts"].as_str().unwrap().ends_with('Z'), "{line}");
    server.call("refuses", json!({}));
    let log = lines(&server.process.wait_for_log("\"tool\":\"refuses\""));
    let line = log.iter().find(|line| line["tool"] == "refuses").unwrap();
    assert_eq!(
        (&line["level"], &line["ok"], &line["code"]),
        (&json!("error"), &json!(false), &json!("upstream_error"))
    );
    assert_eq!(line["cause"], "the private cause");
    server.call("strict", json!({}));
    let log = lines(&server.process.wait_for_log("\"tool\":\"strict\""));
    let line = log.iter().find(|line| line["tool"] == "strict").unwrap();
    assert_eq!(
        (&line["level"], &line["code"]),
        (&json!("warn"), &json!("invalid_parameter")),
        "the caller is at fault"
    );
    server.finish();
}

#[test]
fn debug_lines_have_sizes_and_methods_but_no_contents() {
    for (framing, sent) in [(Framing::Lines, "send line bytes="), (Framing::Headers, "send framed bytes=")] {
        let mut server = start_stdio_with(fixture().env("DEBUG", "1"), framing);
        let id = server
            .start_request("tools/call", json!({ "name": "strict", "arguments": { "query": "my secret" } }));
        server.reply_to(&id.into());
        let log = server.finish();
        let received = format!("recv method=tools/call id={id}");
        assert!(log.contains("stdin chunk=") && log.contains(&received) && log.contains(sent), "{log}");
        assert_eq!(log.contains("headerEnd="), framing == Framing::Headers);
        assert!(!log.contains("my secret"), "{log}");
        lines(&log);
    }
}

#[test]
fn without_debug_mode_only_calls_are_logged() {
    let mut server = start_stdio(Framing::Lines);
    server.write(b"nonsense\n");
    server.receive();
    server.request("ping", json!({}));
    server.call("count", json!({}));
    let log = server.finish();
    let said: Vec<_> = lines(&log).iter().map(|line| (line["tool"].clone(), line["msg"].clone())).collect();
    // The last line is the fixture's own.
    assert_eq!(
        said,
        [(json!("count"), json!(null)), (json!(null), json!("the toolset was closed"))],
        "{log}"
    );
}
