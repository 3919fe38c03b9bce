//! `annai --http` and `annai demo`.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use annai_testkit::http::HttpServer;
use serde_json::json;

use crate::{Home, annai};

#[test]
fn the_server_listens_where_it_is_told() {
    let home = Home::new();
    let mut server = HttpServer::start(annai(&home).args(["--http", "127.0.0.1:0", "--toolset", "library"]));
    let reply = server.request("initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {} }));
    assert_eq!(reply["result"]["serverInfo"]["name"], "annai-library");
    assert_eq!(server.send("GET", "/health", &[], "").json()["version"], env!("CARGO_PKG_VERSION"));
    server.process.signal("INT");
    assert_eq!(server.process.wait(Duration::from_secs(3)).code(), Some(0));
}

#[test]
fn a_port_that_is_taken_is_named() {
    let home = Home::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = annai(&home).arg("--http").env("PORT", &port).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = crate::stderr(&output);
    assert!(
        text.contains(&format!("cannot listen on 127.0.0.1:{port}")) && text.contains("--http ADDR"),
        "{text}"
    );
}

#[test]
fn the_demo_prints_what_to_try_and_leaves_nothing_behind() {
    let home = Home::new();
    let mut demo = annai(&home).arg("demo").env("TMPDIR", &home.0).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines().map(Result::unwrap);
    let said: Vec<_> = lines.by_ref().take_while(|line| !line.starts_with("Ctrl-C")).collect();
    let said = said.join("\n");
    for word in ["/health", "curl -s http://127.0.0.1:", "claude mcp add --transport http", "init cursor"] {
        assert!(said.contains(word), "{word} is not in {said}");
    }
    assert_eq!(std::fs::read_dir(&home.0).unwrap().count(), 1);
    assert!(Command::new("kill").args(["-INT", &demo.id().to_string()]).status().unwrap().success());
    assert!(demo.wait().unwrap().success());
    assert_eq!(std::fs::read_dir(&home.0).unwrap().count(), 0);

    // However early the signal comes.
    for name in ["-TERM", "-INT", "-HUP"] {
        let mut demo =
            annai(&home).arg("demo").env("TMPDIR", &home.0).stdout(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(demo.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(Command::new("kill").args([name, &demo.id().to_string()]).status().unwrap().success());
        demo.wait().unwrap();
        assert_eq!(std::fs::read_dir(&home.0).unwrap().count(), 0, "{name}");
    }
}
