//! Clients that send their bodies slowly, or send bodies with tokens that are refused.

use std::io::{BufReader, Read as _, Write as _};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use annai_testkit::http::Response;
use annai_testkit::process::TEST_TIMEOUT;
use annai_testkit::slow_clients::{SlowClients, head};
use serde_json::json;

use crate::start_http;

const INVENTED: &str = "authorization: Bearer invented\r\n";

/// Asserts that the requests of others are answered as always while 520 clients send with this head.
fn assert_nobody_is_shut_out(head: String) {
    let server = start_http();
    let (stop, connected) = (AtomicBool::new(false), AtomicUsize::new(0));
    let slow = SlowClients { address: server.address, heads: &[head], count: 520, connected: &connected };
    std::thread::scope(|scope| {
        scope.spawn(|| slow.run(&stop));
        let started = Instant::now();
        while connected.load(Ordering::Relaxed) < 500 {
            assert!(started.elapsed() < TEST_TIMEOUT, "the slow clients never connected");
            std::thread::sleep(Duration::from_millis(10));
        }
        // Elapsed time is tested on purpose: whoever is shut out is served as soon as the slow clients time out.
        let (began, mut worst) = (Instant::now(), Duration::ZERO);
        while began.elapsed() < Duration::from_secs(7) {
            let asked = Instant::now();
            assert!(server.request("tools/list", json!({}))["result"]["tools"].is_array());
            assert_eq!(server.send("POST", "/fixture/length", &[], "four").body, "4");
            worst = worst.max(asked.elapsed());
            std::thread::sleep(Duration::from_millis(50));
        }
        stop.store(true, Ordering::Relaxed);
        assert!(worst < Duration::from_secs(4), "two requests took {worst:?}");
    });
}

#[test]
fn slow_bodies_shut_nobody_out() {
    assert_nobody_is_shut_out(head("/mcp", ""));
}

#[test]
fn slow_bodies_with_an_invented_token_shut_nobody_out() {
    assert_nobody_is_shut_out(head("/mcp", INVENTED));
}

#[test]
fn slow_bodies_of_routes_shut_nobody_out() {
    assert_nobody_is_shut_out(head("/fixture/length", ""));
}

#[test]
fn the_body_of_a_refused_request_is_not_waited_for_unless_it_is_short() {
    let server = start_http();
    // Nothing of the body is sent. Without the limit the reply would come after the timeout of the body.
    for length in [8193, 65_536, 4 << 20] {
        let mut stream = server.connect();
        let head = head("/mcp", INVENTED).replace("65536", &length.to_string());
        let started = Instant::now();
        stream.write_all(head.as_bytes()).unwrap();
        let response = Response::read(&mut BufReader::new(stream)).unwrap();
        assert_eq!((response.status, &response.json()["id"]), (401, &json!(null)));
        assert!(started.elapsed() < Duration::from_secs(4), "{length}: {:?}", started.elapsed());
    }
    // A short one is read: its id is in the reply, and the connection stays open.
    let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    let request = |padding: usize| {
        let body = format!("{ping}{}", " ".repeat(padding));
        let headers = [("content-type", "application/json"), ("authorization", "Bearer invented")];
        annai_testkit::http::request("POST", "/mcp", &headers, &body)
    };
    let mut stream = server.connect();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    for _ in 0..2 {
        stream.write_all(request(8192 - ping.len()).as_bytes()).unwrap();
        let response = Response::read(&mut reader).unwrap();
        assert_eq!((response.status, &response.json()["id"]), (401, &json!(7)));
    }
}

#[test]
fn a_client_that_sends_much_with_a_refused_token_reads_the_refusal_and_is_not_listened_to() {
    let server = start_http();
    let mut stream = server.connect();
    let length = 64 << 20;
    stream.write_all(head("/mcp", INVENTED).replace("65536", &length.to_string()).as_bytes()).unwrap();
    // Most clients send before they read. What fits into the buffers of the system is sent in any case.
    stream.write_all(&[b' '; 100_000]).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    assert_eq!(Response::read(&mut reader).unwrap().status, 401);
    stream.set_write_timeout(Some(TEST_TIMEOUT)).unwrap();
    let piece = vec![b' '; 1 << 20];
    let sent = (0..40).take_while(|_| stream.write_all(&piece).is_ok()).count();
    assert!(sent < 20, "the server has read {sent} MiB");
    assert!(!matches!(reader.read(&mut [0]), Ok(1)), "nothing follows the refusal");
}
