//! Benchmarks HTTP as ratios to a static axum route that sends the same bytes, in the same run.

use std::net::SocketAddr;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use annai_testkit::bench::{HttpProcess, built_program, mark, median, resident_mib};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(700);
const BODY: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}}"#;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some("--static") {
        static_route(&arguments.next().expect("a file"));
        return ExitCode::SUCCESS;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let all_met = runtime.block_on(measure());
    if all_met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn measure() -> bool {
    let mut all_met = true;
    println!(
        "{:46} {:>10} {:>10} {:>8} {:>7}",
        "http, requests per second", "annai", "axum", "ratio", "target"
    );
    for name in ["annai", "fixture"] {
        let ours = HttpProcess::start(Command::new(built_program(name)).args(["--http", "127.0.0.1:0"]));
        let (reply, size) = first_reply(ours.address).await;
        let file = std::env::temp_dir().join(format!("annai-bench-http-{}", std::process::id()));
        std::fs::write(&file, &reply).expect("a temporary file");
        let this = std::env::current_exe().expect("this program");
        let peer = HttpProcess::start(Command::new(this).arg("--static").arg(&file));
        let (_, peer_size) = first_reply(peer.address).await;
        for connections in [1, 64] {
            let (mut rates, mut peer_rates) = (Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                rates.push(rate(ours.address, connections, size).await);
                peer_rates.push(rate(peer.address, connections, peer_size).await);
            }
            let (rate, peer_rate) = (median(rates), median(peer_rates));
            let ratio = rate / peer_rate;
            let what = format!("tools/list of {name}, {} bytes, {connections} connections", reply.len());
            let mark = mark(ratio >= 0.5);
            println!("{what:46} {rate:10.0} {peer_rate:10.0} {ratio:8.2} {:>7} {mark}", "≥ 0.50");
            all_met &= ratio >= 0.5;
        }
        let _ = std::fs::remove_file(file);
    }
    all_met & memory_is_stable().await
}

/// Whether memory stays the same over many requests.
async fn memory_is_stable() -> bool {
    let server = HttpProcess::start(Command::new(built_program("fixture")).args(["--http", "127.0.0.1:0"]));
    let (_, size) = first_reply(server.address).await;
    requests(server.address, 16, size, 20_000).await;
    let before = resident_mib(server.id());
    requests(server.address, 16, size, 100_000).await;
    let after = resident_mib(server.id());
    let met = after - before < 2.0;
    let mark = mark(met);
    println!(
        "{:46} {before:6.1} → {after:.1} {:>19} {mark}",
        "MiB before and after 100,000 requests", "< 2 more"
    );
    met
}

/// The baseline: an axum server with one route that sends one body.
fn static_route(file: &str) {
    let body = bytes::Bytes::from(std::fs::read(file).expect("the body"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async move {
        let json = [("content-type", "application/json")];
        let route = axum::routing::post(move || std::future::ready((json, body.clone())));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        eprintln!("{{\"msg\":\"listening\",\"url\":\"http://{address}/mcp\"}}");
        axum::serve(listener, axum::Router::new().route("/mcp", route)).await.expect("a server");
    });
}

fn request() -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json\r\n\
         content-length: {}\r\n\r\n{BODY}",
        BODY.len()
    )
}

/// The body of a reply, and the size of the whole reply including its head.
async fn first_reply(address: SocketAddr) -> (Vec<u8>, usize) {
    let mut stream = TcpStream::connect(address).await.expect("the server accepts");
    stream.write_all(request().as_bytes()).await.expect("the server reads");
    tokio::time::sleep(Duration::from_millis(300)).await;
    let mut reply = vec![0; 1 << 20];
    let size = stream.read(&mut reply).await.expect("the server answers");
    reply.truncate(size);
    let head = reply.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head") + 4;
    assert!(reply.starts_with(b"HTTP/1.1 200"));
    (reply.split_off(head), size)
}

/// Requests per second over a number of connections.
async fn rate(address: SocketAddr, connections: usize, size: usize) -> f64 {
    let count = Arc::new(AtomicU64::new(0));
    let end = Instant::now() + ROUND;
    let started = Instant::now();
    let tasks: Vec<_> = (0..connections)
        .map(|_| {
            let count = count.clone();
            tokio::spawn(async move {
                let mut client = Client::connect(address).await;
                while Instant::now() < end {
                    client.trip(size).await;
                    count.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("a client");
    }
    count.load(Ordering::Relaxed) as f64 / started.elapsed().as_secs_f64()
}

async fn requests(address: SocketAddr, connections: usize, size: usize, total: usize) {
    let tasks: Vec<_> = (0..connections)
        .map(|_| {
            tokio::spawn(async move {
                let mut client = Client::connect(address).await;
                for _ in 0..total / connections {
                    client.trip(size).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("a client");
    }
}

struct Client {
    stream: TcpStream,
    request: String,
    buffer: Vec<u8>,
}

impl Client {
    async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("the server accepts");
        stream.set_nodelay(true).expect("an option");
        Self { stream, request: request(), buffer: vec![0; 1 << 16] }
    }

    async fn trip(&mut self, size: usize) {
        self.stream.write_all(self.request.as_bytes()).await.expect("the server reads");
        let mut remaining = size;
        while remaining > 0 {
            let size = remaining.min(self.buffer.len());
            let read = self.stream.read(&mut self.buffer[..size]).await.expect("the server answers");
            assert!(read > 0, "the server closed");
            remaining -= read;
        }
    }
}
