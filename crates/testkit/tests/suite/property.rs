//! A property test: after arbitrary bytes, the server still answers a valid message on a new line.

use std::sync::Mutex;

use annai_testkit::mcp::{Framing, StdioServer, frame};
use proptest::prelude::*;
use serde_json::json;

use crate::fixture;

fn noise() -> impl Strategy<Value = Vec<u8>> {
    let ping = r#"{"jsonrpc":"2.0","id":"noise","method":"ping"}"#;
    let piece = prop_oneof![
        3 => prop::collection::vec(any::<u8>(), 0..20),
        2 => Just(frame(ping, Framing::Lines)),
        2 => Just(frame(ping, Framing::Headers)),
        2 => (0u64..100_000).prop_map(|size| format!("Content-Length: {size}\r\n\r\n").into_bytes()),
        1 => Just(b"Content-Length: 99999999999\r\n\r\n".to_vec()),
        1 => Just(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":".to_vec()),
        1 => Just(b"\r\n".to_vec()),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

#[test]
fn a_valid_message_is_answered_after_arbitrary_bytes() {
    let server = Mutex::new((StdioServer::start(&mut fixture(), Framing::Lines), 0));
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(bytes in noise(), cut in any::<prop::sample::Index>(), headers in any::<bool>())| {
        let mut guard = server.lock().unwrap();
        let (server, count) = &mut *guard;
        *count += 1;
        let id = format!("valid {count}");
        let valid = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string();
        let framing = if headers { Framing::Headers } else { Framing::Lines };
        server.write(&bytes[..cut.index(bytes.len() + 1)]);
        server.write(b"\n");
        server.write(&frame(&valid, framing));
        server.reply_to(&json!(id));
    });
    server.into_inner().unwrap().0.finish();
}
