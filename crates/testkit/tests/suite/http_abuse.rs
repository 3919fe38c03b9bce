//! Clients that violate HTTP, or send and read slowly.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use annai_testkit::http::{HttpServer, Response};
use annai_testkit::process::TEST_TIMEOUT;
use serde_json::json;

use crate::{fixture, start_http, start_http_with};

/// Asserts that the server still answers.
fn assert_alive(server: &HttpServer) {
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn too_many_or_too_long_headers_are_rejected() {
    let server = start_http();
    let mut request = String::from("POST /mcp HTTP/1.1\r\nhost: localhost\r\n");
    for number in 0..10_000 {
        request.push_str(&format!("x-{number}: y\r\n"));
    }
    request.push_str("\r\n");
    assert_eq!(server.raw(request.as_bytes()).status, 431);
    let long = format!("GET /health HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "y".repeat(200_000));
    assert_eq!(server.raw(long.as_bytes()).status, 431);
    let head_of = |bytes: usize| {
        let empty = "GET /health HTTP/1.1\r\nhost: localhost\r\nx: \r\n\r\n";
        empty.replace("x: ", &format!("x: {}", "y".repeat(bytes - empty.len())))
    };
    // At once and in two pieces: how the bytes arrive does not change the limit.
    for (bytes, status) in [(64 << 10, 200), ((64 << 10) + 1, 431), ((64 << 10) + 500, 431)] {
        let head = head_of(bytes);
        assert_eq!((head.len(), server.raw(head.as_bytes()).status), (bytes, status));
        let mut stream = server.connect();
        let (start, end) = head.as_bytes().split_at(60_000);
        stream.write_all(start).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        let _ = stream.write_all(end);
        assert_eq!(
            Response::read(&mut BufReader::new(stream)).unwrap().status,
            status,
            "{bytes} in two pieces"
        );
    }
    assert_alive(&server);
}

#[test]
fn http_1_0_is_answered_and_other_protocols_are_rejected_or_closed() {
    let server = start_http();
    let old = server.raw(b"GET /health HTTP/1.0\r\n\r\n");
    assert_eq!(old.status, 200);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let old = format!(
        "POST /mcp HTTP/1.0\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    assert_eq!(server.raw(old.as_bytes()).json()["result"], json!({}));
    // HTTP/2 with prior knowledge, TLS, and garbage: the connection must be closed, with or without an error.
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
    assert_alive(&server);
}

#[test]
fn ambiguous_or_invalid_body_lengths_are_rejected() {
    let server = start_http();
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
    assert_alive(&server);
}

#[test]
fn a_client_that_sends_its_head_too_slowly_is_disconnected() {
    // Elapsed time is tested on purpose: the timeout for the head is fixed, and the server is another process.
    let server = start_http();
    let started = Instant::now();
    let mut stream = server.connect();
    let mut disconnected = false;
    for byte in b"POST /mcp HTTP/1.1\r\nhost: localhost\r\n" {
        if stream.write_all(&[*byte]).is_err() {
            disconnected = true;
            break;
        }
        // The slow client is what is tested.
        std::thread::sleep(Duration::from_secs(1));
        assert_alive(&server);
        stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let mut answer = [0; 64];
        // Either the connection is closed, or an error is sent first.
        if matches!(stream.read(&mut answer), Ok(size) if size == 0 || answer.starts_with(b"HTTP/1.1 4")) {
            disconnected = true;
            break;
        }
    }
    assert!(disconnected && started.elapsed() < Duration::from_secs(35), "{:?}", started.elapsed());
}

#[test]
fn a_body_that_is_sent_too_slowly_is_rejected() {
    // Elapsed time is tested on purpose: the minimum rate is fixed, and the server is another process.
    let server = start_http();
    let started = Instant::now();
    let mut stream = server.connect();
    let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut slow = stream.try_clone().unwrap();
    let writer = std::thread::spawn(move || {
        while slow.write_all(b" ").is_ok() && started.elapsed() < Duration::from_secs(40) {
            // The slow client is what is tested.
            std::thread::sleep(Duration::from_secs(1));
        }
    });
    stream.set_read_timeout(Some(Duration::from_secs(40))).unwrap();
    let response = Response::read(&mut BufReader::new(stream)).unwrap();
    assert_eq!(response.status, 408, "{response:?}");
    assert!((4.9..20.0).contains(&started.elapsed().as_secs_f64()), "{:?}", started.elapsed());
    assert_alive(&server);
    drop(server);
    writer.join().unwrap();
}

/// The head of a request to `/mcp` whose body has so many bytes.
fn head(length: usize) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    )
}

#[test]
fn bodies_that_stall_give_way_to_others() {
    let mut command = fixture();
    command.env("FIXTURE_MAX_BODY_BYTES", "1048576").env("FIXTURE_MAX_PENDING_BYTES", "2097152");
    let server = HttpServer::start(command.args(["--http", "127.0.0.1:0"]));
    let stalled: Vec<_> = (0..5)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(head(1_000_000).as_bytes()).unwrap();
            stream.write_all(&[b' '; 1000]).unwrap();
            stream
        })
        .collect();
    // Ordinary requests do not wait for large ones at all.
    assert_alive(&server);
    // A large one waits until those before it have paused for too long. Without that, each would have 30 seconds.
    let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}{}", " ".repeat(900_000));
    let mut stream = server.connect();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(head(body.len()).as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let started = Instant::now();
    assert_eq!(Response::read(&mut BufReader::new(stream)).unwrap().status, 200);
    assert!(started.elapsed() < Duration::from_secs(25), "{:?}", started.elapsed());
    for stream in stalled {
        let response = Response::read(&mut BufReader::new(stream)).expect("those that stalled are told");
        assert_eq!(response.status, 408, "{response:?}");
    }
}

#[test]
fn memory_is_limited_however_many_bodies_stall() {
    let server = start_http();
    let streams: Vec<_> = (0..600)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(head(4 << 20).as_bytes()).unwrap();
            stream.set_nonblocking(true).unwrap();
            let _ = stream.write(&vec![b' '; 512 << 10]);
            stream
        })
        .collect();
    let started = Instant::now();
    assert_eq!(server.send("GET", "/health", &[], "").status, 200);
    // A body that stalls is given up after 30 seconds, and only then would a server that waits for it answer.
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    let peak = server.process.peak_mib();
    assert!(peak < 160.0, "{peak} MiB");
    drop(streams);
    assert_alive(&server);
}

/// Most clients send the whole body before they read the response.
#[test]
fn a_client_that_sends_everything_first_reads_that_it_was_too_much() {
    let server = start_http();
    let mut stream = server.connect();
    stream.write_all(head(16 << 20).as_bytes()).unwrap();
    for _ in 0..16 {
        stream.write_all(&vec![b' '; 1 << 20]).expect("the server reads what it does not want");
    }
    assert_eq!(Response::read(&mut BufReader::new(stream)).unwrap().status, 413);
    let mut stream = server.connect();
    let chunked = head(0).replace("content-length: 0", "transfer-encoding: chunked");
    stream.write_all(chunked.as_bytes()).unwrap();
    for _ in 0..16 {
        stream.write_all(b"100000\r\n").unwrap();
        stream.write_all(&vec![b' '; 1 << 20]).unwrap();
        stream.write_all(b"\r\n").unwrap();
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
    assert_eq!(Response::read(&mut BufReader::new(stream)).unwrap().status, 413);
}

#[test]
fn a_connection_that_is_idle_gives_way_when_the_server_is_full() {
    let server = start_http_with("FIXTURE_MAX_CONNECTIONS", "2");
    let started = Instant::now();
    let _idle: Vec<_> = (0..2).map(|_| server.connect()).collect();
    // One of them gives way after two seconds. All of them time out after 15 seconds, so that only a shorter time proves
    // anything.
    assert_alive(&server);
    assert!(started.elapsed() < Duration::from_secs(13), "{:?}", started.elapsed());
}

#[test]
fn idle_connections_do_not_delay_other_clients() {
    let server = start_http();
    let idle: Vec<TcpStream> = (0..1000).map(|_| server.connect()).collect();
    // The time limit is part of the test: idle connections time out, and only then would a blocked server answer.
    let started = Instant::now();
    assert_alive(&server);
    assert!(started.elapsed() < Duration::from_secs(13), "{:?}", started.elapsed());
    drop(idle);
    assert_alive(&server);
}

#[test]
fn connections_beyond_the_limit_wait_and_are_served_later() {
    let server = start_http_with("FIXTURE_MAX_CONNECTIONS", "2");
    let held: Vec<_> = (0..2).map(|_| server.connect()).collect();
    // Connections are accepted in order, so the third one is the one that waits.
    let mut third = server.connect();
    third.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    // That nothing happens can only be tested by waiting for a while: one that is shorter than the two seconds after which
    // an idle connection gives way.
    third.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(third.read(&mut [0; 1]).is_err(), "the third connection is not served yet");
    drop(held);
    third.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
    assert_eq!(Response::read(&mut BufReader::new(third)).unwrap().status, 200);
}

#[test]
fn pipelined_requests_are_all_answered() {
    let server = start_http();
    let mut stream = server.connect();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let one = annai_testkit::http::request("POST", "/mcp", &[("content-type", "application/json")], body);
    stream.write_all(one.repeat(20).as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    for _ in 0..20 {
        assert_eq!(Response::read(&mut reader).unwrap().json()["result"], json!({}));
    }
}
