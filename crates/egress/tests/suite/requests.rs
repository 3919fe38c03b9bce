//! What a request looks like on the wire.

use annai_egress::{Access, EgressError, Method, OutboundRequest, RequestHeaders, Target};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::mpsc;

use super::server::{Server, client, read_request};

/// A server that answers `ok` and keeps each request.
async fn recording() -> (Server, mpsc::Receiver<String>) {
    let (sender, receiver) = mpsc::channel(8);
    let server = Server::start(move |mut stream| {
        let sender = sender.clone();
        async move {
            // The cookie and the alternative service must not be remembered.
            let reply =
                "HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nAlt-Svc: h2=\":1\"\r\nContent-Length: 2\r\n\r\nok";
            while let Ok(request) = read_request(&mut stream).await {
                sender.send(request).await.map_err(std::io::Error::other)?;
                stream.write_all(reply.as_bytes()).await?;
            }
            Ok(())
        }
    })
    .await;
    (server, receiver)
}

#[tokio::test]
async fn requests_carry_the_given_headers_and_ours() {
    let (server, mut requests) = recording().await;
    let client = client();
    let target =
        Target::parse(&format!("http://{}/v1?q=%20#part", server.address), Access::AllowPrivate).unwrap();
    let own = RequestHeaders::parse([
        ("Authorization", "Bearer 1"),
        ("content-type", "application/vnd.api+json"),
        ("User-Agent", "sponsor/2"),
    ])
    .unwrap();
    let body = json!({ "input": "案内\u{0}\r\n" });
    for (method, headers, body) in [
        (Method::Post, &RequestHeaders::default(), Some(&body)),
        (Method::Put, &own, Some(&body)),
        (Method::Patch, &own, Some(&body)),
        (Method::Get, &RequestHeaders::default(), None),
    ] {
        let request =
            OutboundRequest { target: &target, method, headers, idempotency_key: Some("tx-1"), body };
        assert_eq!(client.send(request).await.unwrap().text, "ok");
        let request = requests.recv().await.unwrap();
        let (head, sent) = request.split_once("\r\n\r\n").unwrap();
        let mut lines: Vec<_> = head.lines().collect();
        assert_eq!(lines.remove(0), format!("{} /v1?q=%20 HTTP/1.1", method.as_str()));
        let (chosen, content_type) = if headers == &own {
            (vec!["authorization: Bearer 1", "user-agent: sponsor/2"], "application/vnd.api+json")
        } else {
            (vec![concat!("user-agent: annai/", env!("CARGO_PKG_VERSION"))], "application/json")
        };
        let host = format!("host: {}", server.address);
        let mut expected = vec!["accept: */*", "accept-encoding: identity", "idempotency-key: tx-1", &host];
        expected.extend(chosen);
        let body_headers =
            [format!("content-type: {content_type}"), format!("content-length: {}", sent.len())];
        if let Some(body) = body {
            expected.extend(body_headers.iter().map(String::as_str));
            assert_eq!(sent, body.to_string());
        }
        lines.sort_unstable();
        expected.sort_unstable();
        assert_eq!(lines, expected);
    }
    // Every request had its own connection, so its own check.
    assert_eq!(server.connections(), 4);
}

#[tokio::test]
async fn a_key_that_is_no_header_value_is_refused() {
    let (server, _requests) = recording().await;
    let target = Target::parse(&server.url(), Access::AllowPrivate).unwrap();
    let headers = RequestHeaders::default();
    for key in ["", "a\r\nHost: b", "鍵", "\t", &"k".repeat(256)] {
        let request = OutboundRequest {
            target: &target,
            method: Method::Post,
            headers: &headers,
            idempotency_key: Some(key),
            body: None,
        };
        let result = client().send(request).await;
        assert!(matches!(result, Err(EgressError::IdempotencyKey)), "{key:?}: {result:?}");
    }
    assert_eq!(server.connections(), 0);
}
