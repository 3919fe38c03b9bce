//! What a caller who is refused with 401 or 403 is told, and whether the next step is possible.

use annai_testkit::http::HttpServer;
use serde_json::{Value, json};

use crate::{Home, annai, stdout};

const SIGN_IN: &str = "このアクションを実行するにはログインが必要です。 (Sign in to do this.)";
const NO_SIGN_IN: &str = "this server has no sign-in yet: its operator has to set OAUTH_ISSUER";

/// A server for others with these toolsets, without an issuer unless `env` names one.
fn start(home: &Home, toolsets: &[&str], env: &[(&str, &str)]) -> HttpServer {
    let mut command = annai(home);
    command.args(["--http", "127.0.0.1:0"]).args(toolsets.iter().flat_map(|name| ["--toolset", name]));
    command.env("PUBLIC_URL", "https://annai.example.com").envs(env.iter().copied());
    HttpServer::start(&mut command)
}

fn new_token(home: &Home, scope: &str) -> String {
    let output = annai(home).args(["token", "new", scope, "--scope", scope]).output().unwrap();
    stdout(&output).trim().to_owned()
}

/// Calls a tool; the status and the result of the reply.
fn call(server: &HttpServer, tool: &str, token: Option<&str>) -> (u16, Value) {
    let authorization = token.map(|token| format!("Bearer {token}"));
    let mut headers = vec![("host", "annai.example.com")];
    headers.extend(authorization.iter().map(|value| ("authorization", value.as_str())));
    let params = json!({ "name": tool, "arguments": {} });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let reply = server.post(&headers, &message);
    (reply.status, reply.json()["result"].take())
}

fn message(result: &Value) -> &str {
    result["_meta"]["annai/error"]["message"].as_str().unwrap()
}

#[test]
fn without_an_issuer_a_tool_that_needs_a_person_names_the_setting() {
    let home = Home::new();
    let server = start(&home, &["services", "library"], &[]);
    let (status, result) = call(&server, "get_user_status", None);
    let needs = format!("this needs an access token with the scope user.read, and {NO_SIGN_IN}");
    assert_eq!((status, message(&result)), (401, needs.as_str()));
    assert_eq!(result["content"][0]["text"], format!("{SIGN_IN}\n{needs}"));

    let (status, result) = call(&server, "manual_find", None);
    let ask = "this needs a token with the scope library.read; ask the operator of this server for one (annai token new)";
    assert_eq!((status, message(&result)), (401, ask));
    let challenge = result["_meta"]["mcp/www_authenticate"][0].as_str().unwrap();
    assert!(challenge.ends_with("scope=\"library.read library.write\""), "one sign-in suffices: {challenge}");

    let token = new_token(&home, "library.read");
    let (status, result) = call(&server, "get_user_status", Some(&token));
    let lacks = "the token lacks the scope user.read, which this needs; a static token cannot have it";
    assert_eq!((status, message(&result)), (403, format!("{lacks}, and {NO_SIGN_IN}").as_str()));
}

#[test]
fn the_text_of_a_refusal_is_a_sentence_where_all_failures_of_the_toolset_are() {
    let home = Home::new();
    let server = start(&home, &["services", "library"], &[("OAUTH_ISSUER", "http://127.0.0.1:1")]);
    let token = new_token(&home, "library.read");
    let (status, result) = call(&server, "get_user_status", Some(&token));
    let lacks = "the token lacks the scope user.read, which this needs; a static token cannot have it: sign in instead";
    assert_eq!((status, &result["content"][0]["text"]), (403, &json!(lacks)));
    assert_eq!(result["_meta"]["annai/error"], json!({ "code": "forbidden", "message": lacks }));
    let (status, result) = call(&server, "vault_create", Some(&token));
    let lacks = "the token lacks the scope library.write, which this needs; ask the operator of this server for a token with it (annai token new)";
    let error = json!({ "code": "forbidden", "message": lacks });
    assert_eq!((status, &result["content"][0]["text"]), (403, &json!(error.to_string())));

    let (status, result) = call(&server, "get_user_status", None);
    assert_eq!((status, &result["content"][0]["text"]), (401, &json!(SIGN_IN)));
    // The issuer is away: signing in would not help.
    let jwt = "eyJhbGciOiJSUzI1NiIsImtpZCI6ImEifQ.e30.AAAA";
    let (status, result) = call(&server, "get_user_status", Some(jwt));
    let unavailable = "the keys of the OAuth issuer cannot be fetched at the moment; try again later";
    assert_eq!((status, &result["content"][0]["text"]), (503, &json!(unavailable)));
}

#[test]
fn a_server_where_every_tool_needs_a_token_says_how_to_get_one() {
    let home = Home::new();
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let refused = |server: &HttpServer| {
        let reply = server.post(&[("host", "annai.example.com")], &list);
        assert_eq!(reply.status, 401);
        let body = reply.json();
        assert_eq!(body["id"], Value::Null, "the body of a request without a token is not read");
        body["error"]["message"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        refused(&start(&home, &["library"], &[])),
        "this server needs a token; ask the operator of this server for one (annai token new)"
    );
    assert_eq!(
        refused(&start(&home, &["services"], &[("ANNAI_TOOLS", "-search_services")])),
        format!("this server needs an access token, and {NO_SIGN_IN}")
    );
    assert_eq!(
        refused(&start(&home, &["library"], &[("OAUTH_ISSUER", "http://127.0.0.1:1")])),
        "sign in first: this server needs an access token"
    );
}
