//! Measures what a call of a services tool over MCP costs more than its REST twin on the same server: both over connections
//! that stay open, in alternation, once with an access token and once as the development user.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use annai_testkit::bench::{HttpProcess, built_program, mark, median};
use axum::routing::post;
use serde_json::{Value, json};

#[path = "support/issuer.rs"]
mod issuer;

use issuer::{AUDIENCE, Issuer};

/// The pairs of calls of each tool. Runs write to the disk, so there are fewer of them.
const PAIRS: usize = 2000;
const RUN_PAIRS: usize = 300;
/// The most that MCP may cost more.
const TARGET_MICROS: f64 = 300.0;
const EMAIL: &str = "bench@example.com";
const GPT_KEY: &str = "gpt-key-of-the-bench";
const SPONSOR_KEY: &str = "sponsor-key-of-the-bench";

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let issuer = Issuer::start(&runtime);
    let scope = "user.read user.write tasks.read tasks.write services.execute";
    let token = issuer.token(&json!({ "email": EMAIL, "email_verified": true, "scope": scope }));
    let upstream = start_upstream(&runtime);
    let oauth = [("OAUTH_ISSUER", issuer.url.as_str()), ("AUTH0_AUDIENCE", AUDIENCE)];
    let signed_in = measure("with an access token (ES256)", &oauth, Some(&token), upstream);
    let development = measure("the development user", &[("ANNAI_DEV_USER", EMAIL)], None, upstream);
    if signed_in && development { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The service that the runs call.
fn start_upstream(runtime: &tokio::runtime::Runtime) -> SocketAddr {
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a port");
    let address = listener.local_addr().expect("an address");
    let routes = axum::Router::new().route("/", post(async || "done"));
    runtime.spawn(async move { axum::serve(listener, routes).await });
    address
}

/// Whether every tool costs at most the target more than its route.
fn measure(title: &str, settings: &[(&str, &str)], token: Option<&str>, upstream: SocketAddr) -> bool {
    let home = TemporaryFolder::new();
    let mut command = Command::new(built_program("annai"));
    command.args(["--http", "127.0.0.1:0", "--toolset", "services"]).env_clear();
    command.env("HOME", &home.0).env("SERVICES_DATABASE_PATH", home.0.join("services.sqlite"));
    command.env("GPT_ACTIONS_API_KEY", GPT_KEY).env("SPONSOR_API_KEY", SPONSOR_KEY);
    command.env("ALLOW_PRIVATE_UPSTREAMS", "true").env("RATE_LIMIT_PER_MIN", "1000000");
    let server = HttpProcess::start(command.envs(settings.iter().copied()));
    let mut rest = Client::connect(server.address);
    let mut mcp = Client::connect(server.address);
    let campaign = seed(&mut rest, upstream);

    let call = |tool: &str, arguments: Value| {
        let params = json!({ "name": tool, "arguments": arguments });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        request("POST", "/mcp", token, Some(&body))
    };
    let consent =
        json!({ "data_sharing_agreed": true, "purpose_acknowledged": true, "contact_permission": false });
    let task = json!({ "campaign_id": campaign, "task_name": "survey", "consent": consent });
    mcp.send(&call("complete_task", task));
    let signed_in = mcp.send(&call("authenticate_user", json!({ "email": EMAIL, "region": "JP" })));
    let session = signed_in["result"]["_meta"]["session_token"].as_str().expect("a session").to_owned();
    let get = |path: &str, more: &str| {
        request("GET", &format!("{path}?session_token={session}{more}"), Some(GPT_KEY), None)
    };
    let input = json!({ "session_token": session, "input": "x" });
    let pairs = [
        ("search_services", json!({ "q": "tea" }), get("/gpt/services", "&q=tea"), PAIRS),
        (
            "get_task_details",
            json!({ "campaign_id": campaign }),
            get(&format!("/gpt/tasks/{campaign}"), ""),
            PAIRS,
        ),
        ("get_user_status", json!({}), get("/gpt/user/status", ""), PAIRS),
        ("get_preferences", json!({}), get("/gpt/preferences", ""), PAIRS),
        (
            "run_service",
            json!({ "service": "echo", "input": "x" }),
            request("POST", "/gpt/services/echo/run", Some(GPT_KEY), Some(&input)),
            RUN_PAIRS,
        ),
    ];
    println!("{:46} {:>10} {:>10} {:>10} {:>8}", title, "MCP, µs", "REST, µs", "more", "target");
    let mut all_met = true;
    for (tool, arguments, route, count) in pairs {
        let call = call(tool, arguments);
        let mut times = [Vec::new(), Vec::new()];
        for number in 0..count + count / 10 {
            let pair = match number % 2 {
                0 => [mcp.time(&call), rest.time(&route)],
                _ => {
                    let second = rest.time(&route);
                    [mcp.time(&call), second]
                }
            };
            // The first calls warm up.
            if number >= count / 10 {
                times.iter_mut().zip(pair).for_each(|(times, time)| times.push(time));
            }
        }
        let [mcp, rest] = times.map(|times| median(times).as_secs_f64() * 1e6);
        let more = mcp - rest;
        let met = more <= TARGET_MICROS;
        all_met &= met;
        println!("{tool:46} {mcp:10.1} {rest:10.1} {more:10.1} {:>8} {}", "≤ 300", mark(met));
    }
    all_met
}

/// Creates a service and a campaign that pays for it; the id of the campaign.
fn seed(client: &mut Client, upstream: SocketAddr) -> String {
    let api = json!({
        "name": "Echo", "sponsor": "Echo Inc", "upstream_url": format!("http://{upstream}/"), "service_key": "echo",
        "price_cents": 1, "budget_cents": 0,
    });
    client.send(&request("POST", "/sponsored-apis", Some(SPONSOR_KEY), Some(&api)));
    let campaign = json!({
        "name": "Tea survey", "sponsor": "Sencha Co", "required_task": "survey", "subsidy_per_call_cents": 1,
        "budget_cents": 100_000_000, "target_tools": ["echo"],
    });
    let made = client.send(&request("POST", "/campaigns", Some(SPONSOR_KEY), Some(&campaign)));
    made["campaign"]["id"].as_str().expect("an id").to_owned()
}

/// The bytes of a request.
fn request(method: &str, path: &str, token: Option<&str>, body: Option<&Value>) -> Vec<u8> {
    let authorization = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
    let body = body.map(Value::to_string).unwrap_or_default();
    let content = match body.len() {
        0 => String::new(),
        length => format!("content-type: application/json\r\ncontent-length: {length}\r\n"),
    };
    format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\n{authorization}{content}\r\n{body}"
    )
    .into_bytes()
}

/// A connection that stays open.
struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the server accepts");
        stream.set_nodelay(true).expect("an option");
        Self { stream, buffer: vec![0; 1 << 20] }
    }

    /// Sends a request and returns the body of its reply, which must be a success.
    fn send(&mut self, request: &[u8]) -> Value {
        let (head, end) = self.exchange(request);
        let body: Value = serde_json::from_slice(&self.buffer[head..end]).expect("JSON");
        assert_ne!(body["result"]["isError"], true, "{body}");
        body
    }

    /// The time of one exchange.
    fn time(&mut self, request: &[u8]) -> Duration {
        let started = Instant::now();
        let (head, end) = self.exchange(request);
        let time = started.elapsed();
        let body = &self.buffer[head..end];
        assert!(
            !body.windows(14).any(|text| text == b"\"isError\":true"),
            "{}",
            String::from_utf8_lossy(body)
        );
        time
    }

    /// Sends a request and reads its reply into the buffer: where its body begins and ends.
    fn exchange(&mut self, request: &[u8]) -> (usize, usize) {
        self.stream.write_all(request).expect("the server reads");
        let mut end = 0;
        loop {
            let read = self.stream.read(&mut self.buffer[end..]).expect("the server answers");
            assert!(read > 0, "the server closed");
            end += read;
            let received = &self.buffer[..end];
            let Some(head) = received.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { continue };
            let text = String::from_utf8_lossy(&received[..head]).to_lowercase();
            assert!(text.starts_with("http/1.1 20"), "{}", String::from_utf8_lossy(received));
            let length = text.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
            let length: usize = length.and_then(|length| length.parse().ok()).expect("a length");
            if end >= head + 4 + length {
                return (head + 4, end);
            }
        }
    }
}

/// A folder that is deleted with this value.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("annai-bench-services-mcp-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
