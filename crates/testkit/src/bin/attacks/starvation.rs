//! Attacks that let some tools wait for others.

use std::net::TcpListener;

use serde_json::json;

use crate::Figures;
use crate::place::{Place, timed_call};

/// 300 questions to an API that never answers, and one look into the vault.
pub fn slow_upstream(place: &Place) -> Figures {
    place.write("vault/a.md", "x\n");
    let api = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", api.local_addr().unwrap());
    std::thread::spawn(move || {
        let accepted: Vec<_> = api.incoming().collect();
        drop(accepted);
    });
    let mut command = place.command(&["--stdio"]);
    command.env("OPENAI_BASE_URL", &url).env("OPENAI_API_KEY", "sk-attack-0123456789abcdefghij0123456789");
    let mut server = place.stdio(&mut command);
    for number in 0..300 {
        let arguments = json!({ "query": format!("question {number}") });
        server.start_request("tools/call", json!({ "name": "answer", "arguments": arguments }));
    }
    let (reply, seconds) = timed_call(&mut server, "vault_ls", json!({}));
    Figures::default().check("a reply", reply.is_some()).add("vault_ls over stdio", seconds, "s", 1.0)
}
