//! What the scopes of the library allow over HTTP: `library.write` includes reading the vault, and nothing of the manuals.

use annai_testkit::http::HttpServer;
use serde_json::{Value, json};

use crate::{Home, annai, stdout};

/// A server for others, with a manual and a file in the vault.
fn start(home: &Home) -> HttpServer {
    home.write("manuals/secret/rules.md", "# Rules\n\nThe code is 4711.\n");
    home.write("vault/notes.md", "old plan\n");
    let mut command = annai(home);
    command.args(["--http", "127.0.0.1:0", "--toolset", "library"]);
    command.env("PUBLIC_URL", "https://annai.example.com").env("WORKSPACE_ROOT", ".");
    HttpServer::start(&mut command)
}

fn new_token(home: &Home, scopes: &str) -> String {
    let output = annai(home).args(["token", "new", scopes, "--scope", scopes]).output().unwrap();
    stdout(&output).trim().to_owned()
}

/// The status and the body of the reply to a request.
fn request(server: &HttpServer, token: &str, method: &str, params: &Value) -> (u16, Value) {
    let authorization = format!("Bearer {token}");
    let headers = [("host", "annai.example.com"), ("authorization", authorization.as_str())];
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let reply = server.post(&headers, &message);
    (reply.status, reply.json())
}

fn call(server: &HttpServer, token: &str, tool: &str, arguments: &Value) -> (u16, Value) {
    let (status, mut reply) =
        request(server, token, "tools/call", &json!({ "name": tool, "arguments": arguments }));
    (status, reply["result"].take())
}

/// The values that are suggested for an argument of a prompt.
fn complete(server: &HttpServer, token: &str, argument: &str, given: &Value) -> Value {
    let params = json!({
        "ref": { "type": "ref/prompt", "name": "find" },
        "argument": { "name": argument, "value": "" },
        "context": { "arguments": given },
    });
    let (_, reply) = request(server, token, "completion/complete", &params);
    reply["result"]["completion"]["values"].clone()
}

fn tools(server: &HttpServer, token: &str) -> Vec<String> {
    let (_, reply) = request(server, token, "tools/list", &json!({}));
    let tools = reply["result"]["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_writer_reads_the_vault_and_nothing_of_the_manuals() {
    let home = Home::new();
    // A running server sees a new token within a second, so these are made first.
    let (writer, reader) = (new_token(&home, "library.write"), new_token(&home, "library.read"));
    let server = start(&home);
    let expected = [
        "vault_find",
        "vault_ls",
        "vault_read",
        "vault_scan",
        "vault_search",
        "vault_create",
        "vault_write",
        "vault_replace",
    ];
    assert_eq!(tools(&server, &writer), expected);
    let (status, read) = call(&server, &writer, "vault_read", &json!({ "path": "notes.md", "full": true }));
    assert_eq!((status, &read["structuredContent"]["text"]), (200, &json!("old plan")));
    let read = |uri: &str| request(&server, &writer, "resources/read", &json!({ "uri": uri }));
    let (status, reply) = read("vault:///notes.md");
    assert_eq!((status, &reply["result"]["contents"][0]["text"]), (200, &json!("old plan")), "{reply}");
    assert_eq!(read("manual://secret/rules.md").0, 403);
    // The names of manuals and files are for those who may read both.
    for (argument, given) in
        [("manual_id", json!({})), ("path", json!({ "manual_id": "secret" })), ("path", json!({}))]
    {
        assert_eq!(complete(&server, &writer, argument, &given), json!([]), "{argument}");
    }
    assert_eq!(complete(&server, &reader, "manual_id", &json!({})), json!(["secret"]));
    assert_eq!(complete(&server, &reader, "path", &json!({ "manual_id": "secret" })), json!(["rules.md"]));
    assert_eq!(complete(&server, &reader, "path", &json!({})), json!(["notes.md"]));
}

#[test]
fn a_copy_from_a_manual_needs_both_scopes() {
    let home = Home::new();
    let (writer, reader) = (new_token(&home, "library.write"), new_token(&home, "library.read"));
    let both = new_token(&home, "library.read,library.write");
    let server = start(&home);
    let from = json!({ "target": "manual", "manual_id": "secret", "path": "rules.md", "start_line": 1 });
    let copy = json!({ "from_ref": from, "to_path": "copy.md", "mode": "overwrite" });
    for (token, lacks) in [(&writer, "library.read"), (&reader, "library.write")] {
        assert!(!tools(&server, token).iter().any(|tool| tool.starts_with("bridge_")));
        let (status, refused) = call(&server, token, "bridge_copy_section", &copy);
        let message = format!(
            "the token lacks the scope {lacks}, which this needs; ask the operator of this server for a token with it (annai token new)"
        );
        assert_eq!((status, &refused["_meta"]["annai/error"]["message"]), (403, &json!(message)));
        let challenge = refused["_meta"]["mcp/www_authenticate"][0].as_str().unwrap();
        assert!(challenge.ends_with("scope=\"library.read library.write\""), "{challenge}");
    }
    assert!(!home.0.join("vault/copy.md").exists());
    assert_eq!(tools(&server, &both).len(), 20);
    let (status, copied) = call(&server, &both, "bridge_copy_section", &copy);
    assert_eq!((status, &copied["structuredContent"]["written_path"]), (200, &json!("copy.md")));
    let (_, listed) = request(&server, &both, "tools/list", &json!({}));
    let listed = listed["result"]["tools"].as_array().unwrap();
    let entry = listed.iter().find(|tool| tool["name"] == "bridge_copy_section").unwrap();
    let scheme = json!([{ "type": "oauth2", "scopes": ["library.read", "library.write"] }]);
    assert_eq!(entry["securitySchemes"], scheme);
}

#[test]
fn doctor_counts_the_tools_that_each_scope_opens() {
    let home = Home::new();
    home.write("manuals/m/a.md", "# A\n");
    new_token(&home, "library.write");
    new_token(&home, "library.read");
    let doctor = || {
        let output = annai(&home)
            .args(["doctor", "--toolset", "library"])
            .env("PORT", "0")
            .env("PUBLIC_URL", "https://annai.example.com")
            .output()
            .unwrap();
        let text = stdout(&output);
        let line = text.lines().find(|line| line.contains("static tokens")).unwrap();
        line.split_once("tokens.json; ").unwrap().1.to_owned()
    };
    // Two tokens with one scope each do not make one with both.
    assert_eq!(
        doctor(),
        "library.read: 15 tools; library.write: 8 tools; library.read with library.write: no token"
    );
    new_token(&home, "library.read,library.write");
    assert_eq!(
        doctor(),
        "library.read: 15 tools; library.write: 8 tools; library.read with library.write: 20 tools"
    );
}
