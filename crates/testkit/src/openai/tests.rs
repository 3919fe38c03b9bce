//! The fake, tested over HTTP as a client sees it.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::json;

use super::*;
use crate::http::{Response, request};

fn connect(fake: &FakeOpenai) -> TcpStream {
    let stream = TcpStream::connect(fake.address()).unwrap();
    stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
    stream
}

fn post_request(body: &Value) -> String {
    let bearer = format!("Bearer {KEY}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    request("POST", "/v1/responses", &headers, &body.to_string())
}

fn question_body(stream: bool) -> Value {
    json!({ "model": "gpt-5-mini", "input": "東京の天気", "stream": stream, "tools": [{ "type": "web_search" }] })
}

fn send(fake: &FakeOpenai, bytes: &str) -> Response {
    let mut stream = connect(fake);
    stream.write_all(bytes.as_bytes()).unwrap();
    Response::read(&mut BufReader::new(stream)).expect("a response")
}

/// Everything until the connection is closed.
fn read_to_end(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn several_requests_can_use_one_connection() {
    let fake = FakeOpenai::start();
    let mut stream = connect(&fake);
    // The requests are pipelined: the second is sent before the first is answered.
    stream.write_all(post_request(&question_body(false)).repeat(2).as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    for _ in 0..2 {
        let reply = Response::read(&mut reader).unwrap();
        assert_eq!((reply.status, reply.json()["model"].as_str()), (200, Some("gpt-5-mini-2026-08-01")));
        assert!(
            reply.header("x-request-id").is_some() && reply.header("x-ratelimit-limit-requests").is_some()
        );
    }
    send(&fake, &request("GET", "/v1/models", &[], ""));
    let requests = fake.requests();
    let recorded: Vec<(&str, u64)> =
        requests.iter().map(|request| (request.path.as_str(), request.connection)).collect();
    assert_eq!(recorded, [("/v1/responses", 0), ("/v1/responses", 0), ("/v1/models", 1)]);
    assert_eq!(requests[0].body, question_body(false));
    assert_eq!(requests[0].header("content-type"), Some("application/json"));
}

#[test]
fn a_streamed_answer_is_split_inside_characters_and_ends_with_the_whole_response() {
    let fake = FakeOpenai::start();
    let mut stream = connect(&fake);
    stream.write_all(post_request(&question_body(true)).as_bytes()).unwrap();
    let mut bytes = Vec::new();
    // Chunks split characters, so the body is decoded only when it is complete.
    while !bytes.ends_with(b"\r\n0\r\n\r\n") {
        let mut some = [0; 4096];
        let size = stream.read(&mut some).unwrap();
        assert!(size > 0, "the connection ended");
        bytes.extend_from_slice(&some[..size]);
    }
    let start = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    assert!(String::from_utf8_lossy(&bytes[..start]).contains("text/event-stream"));
    let (mut body, mut remaining) = (Vec::new(), &bytes[start..]);
    let mut split_characters = 0;
    loop {
        let end = remaining.windows(2).position(|window| window == b"\r\n").unwrap();
        let size = usize::from_str_radix(std::str::from_utf8(&remaining[..end]).unwrap(), 16).unwrap();
        let chunk = &remaining[end + 2..end + 2 + size];
        split_characters += usize::from(std::str::from_utf8(chunk).is_err());
        body.extend_from_slice(chunk);
        remaining = &remaining[end + 4 + size..];
        if size == 0 {
            break;
        }
    }
    assert!(split_characters > 5);
    let body = String::from_utf8(body).unwrap();
    let events: Vec<Value> = body
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let text: String = events
        .iter()
        .filter(|event| event["type"] == "response.output_text.delta")
        .map(|event| event["delta"].as_str().unwrap())
        .collect();
    let last = events.last().unwrap();
    assert_eq!(last["type"], "response.completed");
    assert_eq!(last["response"]["output"][4]["content"][0]["text"], text.as_str());
}

#[test]
fn other_routes_methods_and_oversized_bodies_are_rejected() {
    let fake = FakeOpenai::start();
    let bearer = format!("Bearer {KEY}");
    let key = [("authorization", bearer.as_str())];
    let status = |method: &str, path: &str| {
        let reply = send(&fake, &request(method, path, &key, ""));
        assert!(reply.header("x-request-id").is_some());
        (reply.status, reply.json()["error"]["type"].as_str().map(str::to_owned))
    };
    let refused = Some("invalid_request_error".to_owned());
    assert_eq!(status("GET", "/v1/models"), (200, None));
    assert_eq!(status("POST", "/v1/models"), (405, refused.clone()));
    assert_eq!(status("GET", "/v1/responses"), (405, refused.clone()));
    assert_eq!(status("POST", "/responses"), (404, refused.clone()));
    assert_eq!(status("POST", "/v1/responses?x=1"), (400, refused));
    assert_eq!(send(&fake, &request("GET", "/v1/models", &[], "")).status, 401);
    let chunked = request("POST", "/v1/responses", &[("transfer-encoding", "chunked")], "");
    assert_eq!(send(&fake, &chunked).status, 411);
    let mut long = question_body(false);
    long["input"] = "x".repeat(11 * 1024 * 1024).into();
    assert_eq!(send(&fake, &post_request(&long)).status, 413);
}

#[test]
fn queued_steps_are_used_in_order_and_then_requests_are_answered() {
    let fake = FakeOpenai::start();
    let headers = vec![("retry-after".to_owned(), "1".to_owned())];
    fake.then(Step::Status(503, headers.clone(), "overloaded".to_owned()));
    let (kind, code) = ("requests", Some("rate_limit_exceeded"));
    fake.then(Step::Fail { status: 429, kind, code, message: "Slow down.".to_owned(), headers });
    fake.then(Step::Response(response("mine", vec![message("はい", Vec::new())])));
    fake.then(Step::Events(vec![json!({ "type": "error", "error": { "message": "x" } })]));
    fake.then(Step::Bytes { content_type: "text/plain", body: b"abcdef".to_vec(), piece: 4 });
    let next = || send(&fake, &post_request(&question_body(false)));
    let first = next();
    assert_eq!(
        (first.status, first.body.as_str(), first.header("retry-after")),
        (503, "overloaded", Some("1"))
    );
    let second = next();
    assert_eq!((second.status, second.json()["error"]["code"].as_str()), (429, code));
    assert_eq!(next().json()["model"], "mine");
    assert!(next().body.starts_with("event: error\ndata: {"));
    let bytes = next();
    assert_eq!((bytes.body.as_str(), bytes.header("content-type")), ("abcdef", Some("text/plain")));
    assert_eq!(next().json()["model"], "gpt-5-mini-2026-08-01");
}

#[test]
fn a_reply_can_be_cut_at_any_byte() {
    let fake = FakeOpenai::start();
    let body = || Box::new(Step::Bytes { content_type: "text/plain", body: b"abcdef".to_vec(), piece: 2 });
    fake.then(Step::HangUp);
    fake.then(Step::CutAfter(3, body()));
    fake.then(Step::CutAfter(4, Box::new(Step::Answer)));
    let next = || {
        let mut stream = connect(&fake);
        stream.write_all(post_request(&question_body(false)).as_bytes()).unwrap();
        read_to_end(stream)
    };
    assert_eq!(next(), "");
    assert!(next().ends_with("\r\n\r\n2\r\nab\r\n1\r\nc\r\n"));
    assert!(next().ends_with("\r\n\r\n{\"id"));
}

#[test]
fn a_client_that_closes_the_connection_is_recorded_as_dropped() {
    let fake = FakeOpenai::start();
    fake.then(Step::Silence);
    fake.then(Step::Delay(TEST_TIMEOUT * 2, Box::new(Step::Answer)));
    fake.then(Step::StallAfter(9, Box::new(Step::Answer)));
    for index in 0..3 {
        let mut stream = connect(&fake);
        stream.write_all(post_request(&question_body(true)).as_bytes()).unwrap();
        fake.wait_for(index + 1);
        drop(stream);
        fake.wait_until_dropped(index);
    }
}

#[test]
fn dropping_the_fake_closes_its_connections_and_its_port() {
    let fake = FakeOpenai::start();
    let address = fake.address();
    let stream = connect(&fake);
    drop(fake);
    assert_eq!(read_to_end(stream), "");
    assert!(TcpStream::connect(address).is_err());
}
