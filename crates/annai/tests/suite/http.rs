//! `annai --http` and `annai demo`.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use annai_testkit::http::HttpServer;
use annai_testkit::openai::{self, FakeOpenai, Step};
use annai_testkit::process::TEST_TIMEOUT;
use serde_json::{Value, json};

use crate::{Home, annai};

#[test]
fn the_server_listens_on_the_given_address_and_stops_on_a_signal() {
    let home = Home::new();
    let mut server = HttpServer::start(annai(&home).args(["--http", "127.0.0.1:0", "--toolset", "library"]));
    let reply = server.request("initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {} }));
    assert_eq!(reply["result"]["serverInfo"]["name"], "annai-library");
    assert_eq!(server.send("GET", "/health", &[], "").json()["version"], env!("CARGO_PKG_VERSION"));
    server.process.signal("INT");
    assert_eq!(server.process.wait(TEST_TIMEOUT).code(), Some(0));
}

fn asking(api: &FakeOpenai, home: &Home) -> Command {
    let mut command = annai(home);
    command.args(["--http", "127.0.0.1:0"]);
    command.env("OPENAI_BASE_URL", api.base_url()).env("OPENAI_API_KEY", openai::KEY);
    command
}

#[test]
fn answers_and_their_progress_come_over_http() {
    let (api, home) = (FakeOpenai::start(), Home::new());
    let server = HttpServer::start(&mut asking(&api, &home));
    let reply = server.call("answer", json!({ "query": "weather" }));
    assert_eq!(reply["result"]["structuredContent"]["used_search"], true);
    let error = server.call("answer", json!({}))["error"].take();
    assert_eq!((&error["code"], &error["data"]["reason"]), (&json!(-32001), &json!("query is required")));

    api.then(Step::Delay(Duration::from_millis(300), Box::new(Step::Answer)));
    let params =
        json!({ "name": "answer", "arguments": { "query": "news" }, "_meta": { "progressToken": 7 } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let events = server.post(&[], &call).events();
    assert_eq!(
        (&events[0]["method"], &events[0]["params"]["progress"]),
        (&json!("notifications/progress"), &json!(0.0))
    );
    assert_eq!(events.last().unwrap()["result"]["structuredContent"]["used_search"], true);

    let metrics = server.send("GET", "/metrics", &[], "").body;
    for line in [
        "annai_tool_calls_total{tool=\"answer\",ok=\"true\"} 2",
        "annai_upstream_requests_total{server=\"openai\",status=\"200\"} 2",
    ] {
        assert!(metrics.contains(line), "{line} is not in {metrics}");
    }
}

#[test]
fn anonymous_callers_are_asked_for_a_token_before_anything_else() {
    let (api, home) = (FakeOpenai::start(), Home::new());
    let mut command = asking(&api, &home);
    command.args(["--toolset", "answers"]).env("PUBLIC_URL", "https://annai.example.com");
    let server = HttpServer::start(&mut command);
    let headers = [("host", "annai.example.com")];
    let message = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let call = json!({ "name": "answer", "arguments": { "query": "x" } });
    for (method, params) in [("initialize", json!({})), ("tools/list", json!({})), ("tools/call", call)] {
        let reply = server.post(&headers, &message(method, params));
        assert_eq!(reply.status, 401, "{method}");
        assert!(reply.json()["error"]["message"].as_str().unwrap().contains("ask the operator"), "{method}");
    }
    assert_eq!(api.requests().len(), 0);
}

#[test]
fn where_a_tool_is_open_to_everybody_only_the_others_ask_for_a_token() {
    let (api, home) = (FakeOpenai::start(), Home::new());
    let server = HttpServer::start(asking(&api, &home).env("PUBLIC_URL", "https://annai.example.com"));
    let headers = [("host", "annai.example.com")];
    let message = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let initialize = message("initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {} }));
    assert_eq!(server.post(&headers, &initialize).status, 200);
    let list = server.post(&headers, &message("tools/list", json!({}))).json();
    let names: Vec<_> =
        list["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(
        names.len(),
        8,
        "the tools of the services are listed for everybody, others for nobody: {names:?}"
    );
    let call =
        |name: &str| server.post(&headers, &message("tools/call", json!({ "name": name, "arguments": {} })));
    assert_eq!(call("search_services").json()["result"]["structuredContent"]["total_count"], 0);
    let refused = call("get_user_status");
    assert_eq!(refused.status, 401);
    let refused = refused.json();
    let text = refused["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("このアクションを実行するにはログインが必要です。"), "{text}");
    let challenge = refused["result"]["_meta"]["mcp/www_authenticate"][0].as_str().unwrap();
    let scopes = "scope=\"services.execute tasks.read tasks.write user.read user.write\"";
    assert!(challenge.contains(scopes), "{challenge}");
    assert_eq!(call("answer").status, 401);
    assert_eq!(api.requests().len(), 0);
}

#[test]
fn a_disconnect_of_a_2026_07_28_client_cancels_its_request() {
    let (api, home) = (FakeOpenai::start(), Home::new());
    let server = HttpServer::start(&mut asking(&api, &home));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "answer", "arguments": { "query": "x" }, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "answer"),
    ];
    api.then(Step::Silence);
    let mut stream = server.connect();
    std::io::Write::write_all(
        &mut stream,
        annai_testkit::http::request("POST", "/mcp", &headers, &body).as_bytes(),
    )
    .unwrap();
    api.wait_for(1);
    drop(stream);
    api.wait_until_dropped(0);
}

#[test]
fn a_port_in_use_is_reported() {
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
fn the_demo_prints_examples_and_deletes_its_workspace() {
    let home = Home::new();
    let mut demo = annai(&home).arg("demo").env("TMPDIR", &home.0).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines().map(Result::unwrap);
    let said: Vec<_> = lines.by_ref().take_while(|line| !line.starts_with("Ctrl-C")).collect();
    let said = said.join("\n");
    for word in [
        "Find: \"how many calls may run at the same moment\"\n  api-guide/rate-limits.md:63  Rate limits > Concurrency\n",
        "same moment: 20 on the Standard plan and 100 on the Scale plan.",
        "200 does not occur in the cited lines",
        "the way is the goal → 5 words, 19 characters\n  Sencha Co paid for this run of word-count.\n",
        "/health",
        "/annai call get_user_status",
        "claude mcp add --transport http",
    ] {
        assert!(said.contains(word), "{word} is not in {said}");
    }
    // The demo reads and writes only its own workspace.
    let address = said.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap();
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "vault_create", "arguments": { "path": "new.md", "content": "x" } },
    });
    let headers = [("content-type", "application/json"), ("connection", "close")];
    let request = annai_testkit::http::request("POST", "/mcp", &headers, &body.to_string());
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    let reply = annai_testkit::http::Response::read(&mut BufReader::new(stream)).unwrap();
    assert_eq!(reply.json()["result"]["structuredContent"]["written_path"], "new.md", "{reply:?}");
    assert_eq!(std::fs::read_dir(&home.0).unwrap().count(), 1);
    assert!(Command::new("kill").args(["-INT", &demo.id().to_string()]).status().unwrap().success());
    assert!(demo.wait().unwrap().success());
    assert_eq!(std::fs::read_dir(&home.0).unwrap().count(), 0);

    // A second signal, which does not wait for the calls in progress, deletes the workspace too.
    let mut demo = annai(&home).arg("demo").env("TMPDIR", &home.0).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines().map(Result::unwrap);
    let said: Vec<_> = lines.by_ref().take_while(|line| !line.starts_with("Ctrl-C")).collect();
    let address = said.iter().find_map(|line| line.split("http://").nth(1)?.split('/').next()).unwrap();
    // A call in progress: its body never ends.
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{{"
    );
    std::io::Write::write_all(&mut stream, head.as_bytes()).unwrap();
    for _ in 0..2 {
        assert!(Command::new("kill").args(["-INT", &demo.id().to_string()]).status().unwrap().success());
    }
    demo.wait().unwrap();
    assert_eq!(std::fs::read_dir(&home.0).unwrap().count(), 0, "after two signals");

    // The workspace is also deleted when the signal comes early.
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
