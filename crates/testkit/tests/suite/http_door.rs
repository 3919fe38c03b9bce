//! Access control over HTTP: Host and Origin checks, CORS, and local tools.

use annai_testkit::http::HttpServer;
use serde_json::{Value, json};

use crate::{fixture, start_http};

fn list() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })
}

fn status(server: &HttpServer, headers: &[(&str, &str)]) -> u16 {
    let response = server.post(headers, &list());
    assert_eq!(response.header("content-type"), Some("application/json"), "{response:?}");
    response.status
}

#[test]
fn requests_for_other_hosts_are_rejected_except_health_checks() {
    let server = start_http();
    assert_eq!(status(&server, &[("host", "localhost:9999")]), 200);
    assert_eq!(status(&server, &[("host", "127.0.0.1")]), 200);
    for host in ["evil.example", "localhost.evil.example", "10.0.0.1", ""] {
        assert_eq!(status(&server, &[("host", host)]), 403, "{host}");
        assert_eq!(server.send("GET", "/metrics", &[("host", host)], "").status, 403, "{host}");
        assert_eq!(server.send("GET", "/health", &[("host", host)], "").status, 200, "{host}");
    }
}

#[test]
fn ambiguous_or_missing_hosts_are_rejected() {
    let server = start_http();
    assert_eq!(
        server.raw(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n\r\n").status,
        403
    );
    assert_eq!(server.raw(b"POST http://evil.example/mcp HTTP/1.1\r\nhost: localhost\r\n\r\n").status, 403);
    assert_eq!(server.raw(b"POST http://localhost/mcp HTTP/1.1\r\nhost: evil.example\r\n\r\n").status, 403);
    assert_eq!(server.raw(b"POST /mcp HTTP/1.1\r\n\r\n").status, 403);
    assert_eq!(status(&server, &[("host", "evil.example"), ("x-forwarded-host", "localhost")]), 403);
}

#[test]
fn the_host_and_origin_of_the_public_url_are_accepted() {
    let mut command = fixture();
    command.args(["--http", "127.0.0.1:0"]).env("PUBLIC_URL", "https://annai.example.com");
    let server = HttpServer::start(&mut command);
    assert_eq!(status(&server, &[("host", "annai.example.com")]), 200);
    assert_eq!(status(&server, &[("host", "annai.example.com:444")]), 403);
    assert_eq!(
        status(&server, &[("host", "annai.example.com"), ("origin", "https://annai.example.com")]),
        200
    );
}

#[test]
fn allowed_origins_get_cors_headers_and_others_are_rejected() {
    let mut command = fixture();
    command
        .args(["--http", "127.0.0.1:0"])
        .env("CORS_ALLOW_ORIGINS", "https://app.example.com, https://b.example");
    let server = HttpServer::start(&mut command);
    for origin in
        ["http://localhost:5173", "https://chatgpt.com", "https://app.example.com", "https://b.example"]
    {
        let response = server.post(&[("origin", origin)], &list());
        assert_eq!(response.status, 200);
        assert_eq!(response.header("access-control-allow-origin"), Some(origin));
        assert_eq!(response.header("vary"), Some("Origin"));
        let preflight = server.send(
            "OPTIONS",
            "/mcp",
            &[("origin", origin), ("access-control-request-method", "POST")],
            "",
        );
        assert_eq!(preflight.status, 204);
        assert_eq!(preflight.header("access-control-allow-origin"), Some(origin));
        let headers = preflight.header("access-control-allow-headers").unwrap();
        assert!(
            headers.contains("Authorization") && headers.contains("Mcp-Method") && !headers.contains('*')
        );
    }
    for origin in ["https://evil.example", "null", "http://chatgpt.com", "https://app.example.com:444"] {
        assert_eq!(status(&server, &[("origin", origin)]), 403, "{origin}");
        assert_eq!(server.send("OPTIONS", "/mcp", &[("origin", origin)], "").status, 403, "{origin}");
    }
    let response = server.post(&[], &list());
    assert_eq!((response.status, response.header("access-control-allow-origin")), (200, None));
}

fn names(reply: &Value) -> Vec<&str> {
    reply["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn local_tools_are_neither_listed_for_nor_called_by_remote_callers() {
    let server = start_http();
    let local = server.post(&[], &list()).json();
    assert!(names(&local).contains(&"local_only"));
    assert_eq!(server.call("local_only", json!({}))["result"]["structuredContent"]["text"], "hello, owner");

    let call =
        json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": "local_only" } });
    for proxy_header in ["x-forwarded-for", "forwarded", "x-forwarded-proto"] {
        let remote = server.post(&[(proxy_header, "203.0.113.9")], &list()).json();
        assert!(!names(&remote).contains(&"local_only") && names(&remote).contains(&"strict"));
        let refused = server.post(&[(proxy_header, "203.0.113.9")], &call);
        assert_eq!(refused.status, 401);
        assert!(refused.header("www-authenticate").unwrap().starts_with("Bearer "), "{refused:?}");
        let reply = refused.json();
        assert_eq!((&reply["id"], &reply["result"]["isError"]), (&json!(7), &json!(true)));
        assert!(reply.to_string().contains("library.read"));
    }
    let open = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": "test_simple_text" } });
    assert_eq!(server.post(&[("x-forwarded-for", "203.0.113.9")], &open).status, 200);
}
