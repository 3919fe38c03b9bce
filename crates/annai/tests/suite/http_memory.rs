//! The memory of replies that nobody reads.

use std::io::Write as _;

use annai_testkit::bench::resident_mib;
use annai_testkit::http::{HttpServer, request};

use crate::{Home, annai};

/// The list of all tools has more than 100 KiB. A copy for each of these clients would take more than twice the limit.
#[test]
fn replies_to_tools_list_that_nobody_reads_share_one_list() {
    let home = Home::new();
    let server = HttpServer::start(annai(&home).args(["--http", "127.0.0.1:0"]));
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let list = request("POST", "/mcp", &[("content-type", "application/json")], body).repeat(50);
    let before = resident_mib(server.process.id());
    let clients: Vec<_> = (0..700)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(list.as_bytes()).unwrap();
            stream
        })
        .collect();
    for client in &clients {
        assert_eq!(client.peek(&mut [0]).unwrap(), 1, "the reply has begun");
    }
    let grown = server.process.peak_mib() - before;
    assert!(grown < 50.0, "{grown} MiB for {} clients", clients.len());
}
