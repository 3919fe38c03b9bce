//! Clients that misbehave below HTTP.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use annai_testkit::http::{HttpServer, Response};
use serde_json::json;

use crate::{fixture, over_http};

fn lives(server: &HttpServer) {
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn ten_thousand_headers_are_too_many() {
    let server = over_http();
    let mut request = String::from("POST /mcp HTTP/1.1\r\nhost: localhost\r\n");
    for number in 0..10_000 {
        request.push_str(&format!("x-{number}: y\r\n"));
    }
    request.push_str("\r\n");
    assert_eq!(server.raw(request.as_bytes()).status, 431);
    let long = format!("GET /health HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "y".repeat(200_000));
    assert_eq!(server.raw(long.as_bytes()).status, 431);
    lives(&server);
}

#[test]
fn what_is_not_http_1_1_has_an_answer_too() {
    let server = over_http();
    let old = server.raw(b"GET /health HTTP/1.0\r\n\r\n");
    assert_eq!(old.status, 200);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let old = format!(
        "POST /mcp HTTP/1.0\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    assert_eq!(server.raw(old.as_bytes()).json()["result"], json!({}));
    // HTTP/2 without asking first, TLS, and noise: refused or closed, never left hanging.
    for bytes in [
        &b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..],
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"nonsense\r\n\r\n",
    ] {
        let mut stream = server.connect();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert!(
            answer.is_empty() || answer.starts_with(b"HTTP/1.1 4") || answer.starts_with(b"HTTP/1.1 5"),
            "{answer:?}"
        );
    }
    lives(&server);
}

#[test]
fn two_lengths_or_a_length_and_chunks_are_refused() {
    let server = over_http();
    for head in [
        "content-length: 5\r\ncontent-length: 6\r\n",
        "content-length: -1\r\n",
        "content-length: five\r\n",
        "transfer-encoding: gzip\r\n",
    ] {
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{head}\r\n{{}}"
        );
        let status = server.raw(request.as_bytes()).status;
        assert!((400..=501).contains(&status), "{head}: {status}");
    }
    lives(&server);
}

#[test]
fn a_client_that_sends_a_byte_a_second_is_left() {
    let server = over_http();
    let started = Instant::now();
    let mut stream = server.connect();
    let mut ended = false;
    for byte in b"POST /mcp HTTP/1.1\r\nhost: localhost\r\n" {
        if stream.write_all(&[*byte]).is_err() {
            ended = true;
            break;
        }
        std::thread::sleep(Duration::from_secs(1));
        lives(&server);
        stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let mut answer = [0; 64];
        // Closed, or told off: either way it is over.
        if matches!(stream.read(&mut answer), Ok(size) if size == 0 || answer.starts_with(b"HTTP/1.1 4")) {
            ended = true;
            break;
        }
    }
    assert!(ended && started.elapsed() < Duration::from_secs(25), "{:?}", started.elapsed());
}

#[test]
fn a_body_that_takes_too_long_is_refused() {
    let server = over_http();
    let started = Instant::now();
    let mut stream = server.connect();
    let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut slow = stream.try_clone().unwrap();
    let writer = std::thread::spawn(move || {
        while slow.write_all(b" ").is_ok() && started.elapsed() < Duration::from_secs(40) {
            std::thread::sleep(Duration::from_secs(1));
        }
    });
    stream.set_read_timeout(Some(Duration::from_secs(40))).unwrap();
    let response = Response::read(&mut BufReader::new(stream)).unwrap();
    assert_eq!(response.status, 408, "{response:?}");
    assert!((29.0..36.0).contains(&started.elapsed().as_secs_f64()), "{:?}", started.elapsed());
    lives(&server);
    drop(server);
    writer.join().unwrap();
}

#[test]
fn a_thousand_idle_connections_keep_nobody_out() {
    let server = over_http();
    let idle: Vec<TcpStream> = (0..1000).map(|_| server.connect()).collect();
    let started = Instant::now();
    lives(&server);
    assert!(started.elapsed() < Duration::from_secs(2));
    drop(idle);
    lives(&server);
}

#[test]
fn connections_beyond_the_limit_wait_and_are_served_later() {
    let mut command = fixture();
    let server =
        HttpServer::start(command.args(["--http", "127.0.0.1:0"]).env("FIXTURE_MAX_CONNECTIONS", "2"));
    let held: Vec<_> = (0..2).map(|_| server.connect()).collect();
    std::thread::sleep(Duration::from_millis(100));
    let mut third = server.connect();
    third.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    third.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(third.read(&mut [0; 1]).is_err(), "nobody answers yet");
    drop(held);
    third.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    assert_eq!(Response::read(&mut BufReader::new(third)).unwrap().status, 200);
}

#[test]
fn requests_on_one_connection_are_answered_in_order() {
    let server = over_http();
    let mut stream = server.connect();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let one = annai_testkit::http::request("POST", "/mcp", &[("content-type", "application/json")], body);
    stream.write_all(one.repeat(20).as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    for _ in 0..20 {
        assert_eq!(Response::read(&mut reader).unwrap().json()["result"], json!({}));
    }
}
