//! The file that `--debug PATH` writes: for its owner alone, and safe to look at.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use annai_testkit::mcp::{Framing, StdioServer};
use serde_json::{Value, json};

use crate::{Home, annai};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn serve(home: &Home, file: &Path) -> StdioServer {
    let mut command = annai(home);
    command.args(["--stdio", "--toolset", "library"]).env("DEBUG", file);
    let mut server = StdioServer::start(&mut command, Framing::Lines);
    server.initialize("2025-06-18");
    server
}

#[test]
fn only_its_owner_can_open_the_debug_file() {
    let home = Home::new();
    let new = home.0.join("logs/new.jsonl");
    serve(&home, &new).finish();
    assert_eq!(mode(&new), 0o600);
    let old = home.write("old.jsonl", "before\n");
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o664)).unwrap();
    serve(&home, &old).finish();
    assert_eq!(mode(&old), 0o600, "a file that others could open is narrowed");
    assert!(std::fs::read_to_string(&old).unwrap().starts_with("before\n{"), "and continued");
}

#[test]
fn what_clients_send_cannot_forge_or_reorder_lines_of_the_log() {
    let (home, hostile) = (Home::new(), "x\n{\"level\":\"error\"}\u{2028}\u{85}\u{9b}2J\u{202e}\u{2066}y");
    let file = home.0.join("debug.jsonl");
    let mut server = serve(&home, &file);
    let id = json!(hostile);
    server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": hostile, "arguments": {} } }));
    server.reply_to(&id);
    server.notify("notifications/cancelled", json!({ "requestId": "none", "reason": hostile }));
    server.request("ping", json!({}));
    let log = server.process.wait_for_log("cancelled requestId=none");
    server.finish();
    for text in [log, std::fs::read_to_string(&file).unwrap()] {
        let is_harmless =
            |ch: char| ch == '\n' || !ch.is_control() && !matches!(ch, '\u{2028}' | '\u{202e}' | '\u{2066}');
        assert!(text.chars().all(is_harmless), "{text:?}");
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines.iter().all(|line| line["ts"].is_string()), "{text}");
        let said = lines.iter().filter_map(|line| line["msg"].as_str());
        assert!(said.into_iter().any(|line| line.contains(hostile)), "the text itself is kept: {text}");
    }
}
