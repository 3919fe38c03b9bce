//! Measures what a verified token costs a call, next to the same call under loopback trust on the same server.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use annai_testkit::bench::{HttpProcess, built_program, mark, median};
use serde_json::json;

#[path = "support/issuer.rs"]
mod issuer;

use issuer::{AUDIENCE, Issuer};

/// The calls of each kind, which alternate.
const CALLS: usize = 4000;
/// The most that a verified token may cost.
const TARGET: Duration = Duration::from_micros(200);
const CALL: &str =
    r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"manual_list","arguments":{}}}"#;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    // ES256 is the slowest of the algorithms that issuers commonly use.
    let issuer = Issuer::start(&runtime);
    let manuals = std::env::temp_dir().join(format!("annai-bench-sign-in-{}", std::process::id()));
    std::fs::create_dir_all(manuals.join("handbook")).expect("a folder");
    let mut command = Command::new(built_program("annai"));
    command.args(["--http", "127.0.0.1:0", "--toolset", "library", "--manuals"]).arg(&manuals);
    command.env("OAUTH_ISSUER", &issuer.url).env("HOME", &manuals).env_remove("PUBLIC_URL");
    command.env("AUTH0_AUDIENCE", AUDIENCE).env("LOG_LEVEL", "info");
    let token_file = manuals.join("tokens.json");
    command.env("ANNAI_TOKEN_FILE", &token_file);
    let made = Command::new(built_program("annai"))
        .args(["token", "new", "bench", "--scope", "library.read"])
        .env("ANNAI_TOKEN_FILE", &token_file)
        .output()
        .expect("a token");
    let static_token = String::from_utf8(made.stdout).expect("text").trim().to_owned();
    let server = HttpProcess::start(&mut command);
    let mut trusted = Client::connect(server.address, None);
    let mut verified =
        Client::connect(server.address, Some(&issuer.token(&json!({ "scope": "library.read" }))));
    let mut by_static = Client::connect(server.address, Some(&static_token));
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for number in 0..CALLS + CALLS / 10 {
        for (client, times) in [&mut trusted, &mut verified, &mut by_static].into_iter().zip(&mut times) {
            let time = client.trip();
            // The first calls load the keys and warm up.
            if number >= CALLS / 10 {
                times.push(time);
            }
        }
    }
    let _ = std::fs::remove_dir_all(&manuals);
    let [trusted, verified, by_static] = times.map(median);
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    println!("{:46} {:>10} {:>10} {:>8}", "a call over HTTP, median in µs", "time", "more", "target");
    println!("{:46} {:10.1}", "under loopback trust", micros(trusted));
    let mut all_met = true;
    for (what, time) in [("with an access token (ES256)", verified), ("with a static token", by_static)] {
        let more = time.saturating_sub(trusted);
        let met = more <= TARGET;
        all_met &= met;
        println!("{what:46} {:10.1} {:10.1} {:>8} {}", micros(time), micros(more), "≤ 200", mark(met));
    }
    if all_met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Client {
    stream: TcpStream,
    request: String,
    buffer: Vec<u8>,
}

impl Client {
    fn connect(address: SocketAddr, token: Option<&str>) -> Self {
        let stream = TcpStream::connect(address).expect("the server accepts");
        stream.set_nodelay(true).expect("an option");
        let authorization =
            token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json\r\n\
             {authorization}content-length: {}\r\n\r\n{CALL}",
            CALL.len()
        );
        Self { stream, request, buffer: vec![0; 1 << 16] }
    }

    /// The time of one call. The reply is small and arrives in one piece.
    fn trip(&mut self) -> Duration {
        let started = Instant::now();
        self.stream.write_all(self.request.as_bytes()).expect("the server reads");
        let read = self.stream.read(&mut self.buffer).expect("the server answers");
        let time = started.elapsed();
        assert!(
            self.buffer[..read].starts_with(b"HTTP/1.1 200"),
            "{}",
            String::from_utf8_lossy(&self.buffer[..read])
        );
        time
    }
}
