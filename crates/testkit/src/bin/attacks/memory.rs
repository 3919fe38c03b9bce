//! Attacks on memory, before anybody is known.

use std::io::{BufReader, ErrorKind, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use annai_testkit::bench::resident_mib;
use annai_testkit::http::{HttpServer, Response, request};
use serde_json::json;

use crate::Figures;
use crate::place::Place;

/// How many clients there are, as many as the server accepts.
const CLIENTS: usize = 4096;
/// How much each of them sends of its body of 4 MiB.
const SENT_BYTES: usize = 256 << 10;

/// The longest time that `/health` takes, of several requests.
fn health(server: &HttpServer) -> f64 {
    let times = (0..5).map(|_| {
        let started = Instant::now();
        let answered = server.send("GET", "/health", &[("connection", "close")], "").status == 200;
        if answered { started.elapsed().as_secs_f64() } else { f64::INFINITY }
    });
    times.fold(0.0, f64::max)
}

/// Sends as much as the server takes at once.
fn send(stream: &mut TcpStream, bytes: &[u8]) {
    stream.set_nonblocking(true).unwrap();
    let mut rest = bytes;
    while !rest.is_empty() {
        match stream.write(rest) {
            Ok(sent) => rest = rest.get(sent..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
}

fn stall(server: &HttpServer, clients: usize, head: &str, body: &[u8]) -> Vec<TcpStream> {
    let mut streams = Vec::with_capacity(clients);
    // One place stays free for whoever asks for `/health`.
    for _ in 1..clients {
        let Ok(mut stream) = TcpStream::connect(server.address) else { break };
        send(&mut stream, head.as_bytes());
        streams.push(stream);
    }
    for stream in &mut streams {
        send(stream, body);
    }
    std::thread::sleep(Duration::from_secs(2));
    for stream in &mut streams {
        send(stream, body);
    }
    std::thread::sleep(Duration::from_secs(2));
    streams
}

pub fn stalled_bodies(place: &Place) -> Figures {
    let server = place.http();
    let before = resident_mib(server.process.id());
    let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 4194304\r\n\r\n";
    let body = vec![b' '; SENT_BYTES / 2];
    let streams = stall(&server, CLIENTS, head, &body);
    let count = streams.len() as f64;
    let health = health(&server);
    let peak = server.process.peak_mib();
    drop(streams);
    std::thread::sleep(Duration::from_secs(3));
    let after = resident_mib(server.process.id());
    Figures::default()
        .check(&format!("{count} clients, {before:.0} MiB before"), count >= CLIENTS as f64 - 1.0)
        .add("peak memory", peak, "MiB", 160.0)
        .add("/health", health, "s", 1.0)
        .add("memory afterwards", after, "MiB", 120.0)
}

pub fn long_heads(place: &Place) -> Figures {
    let server = place.http();
    let head = format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\nx-long: {}", "y".repeat(60_000));
    let streams = stall(&server, CLIENTS, &head, b"");
    let health = health(&server);
    let peak = server.process.peak_mib();
    drop(streams);
    Figures::default().add("peak memory", peak, "MiB", 160.0).add("/health", health, "s", 1.0)
}

/// A client that sends everything before it reads, as most do.
pub fn too_large(place: &Place) -> Figures {
    let server = place.http();
    let mut figures = Figures::default();
    for (name, framing) in
        [("a length", "content-length: 33554432"), ("chunks", "transfer-encoding: chunked")]
    {
        let mut stream = server.connect();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{framing}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let piece = vec![b' '; 1 << 20];
        let sent = (0..32).try_for_each(|_| match framing.starts_with('t') {
            true => {
                write!(stream, "{:x}\r\n", piece.len())?;
                stream.write_all(&piece)?;
                stream.write_all(b"\r\n")
            }
            false => stream.write_all(&piece),
        });
        let sent = sent
            .and_then(|()| if framing.starts_with('t') { stream.write_all(b"0\r\n\r\n") } else { Ok(()) });
        let status = Response::read(&mut BufReader::new(stream)).map(|response| response.status);
        figures = figures.check(
            &format!("with {name}: sent {sent:?}, read {status:?}"),
            sent.is_ok() && status == Some(413),
        );
    }
    figures
}

/// How long memory may take to be given back.
pub const REST: Duration = Duration::from_secs(60);
/// How much of it may stay.
pub const MAX_KEPT_MIB: f64 = 64.0;

/// 1,000 clients that send 200 requests each before they read anything.
pub fn pipelined_requests(place: &Place) -> Figures {
    let server = place.http();
    let before = resident_mib(server.process.id());
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let list = request("POST", "/mcp", &[("content-type", "application/json")], body).repeat(200);
    let streams: Vec<_> = (0..1000)
        .map(|_| {
            let mut stream = server.connect();
            send(&mut stream, list.as_bytes());
            stream
        })
        .collect();
    std::thread::sleep(Duration::from_secs(2));
    let mut read = 0;
    for stream in streams {
        stream.set_nonblocking(false).unwrap();
        let mut stream = BufReader::new(stream);
        // A few replies of each; the rest is left.
        read += (0..5).map_while(|_| Response::read(&mut stream)).count();
    }
    let peak = server.process.peak_mib();
    std::thread::sleep(REST);
    let kept = resident_mib(server.process.id()) - before;
    Figures::default()
        .check(&format!("{read} replies were read"), read == 5000)
        .add("peak memory", peak, "MiB", 160.0)
        .add("memory that is kept after a minute", kept, "MiB", MAX_KEPT_MIB)
}

/// 300 calls with arguments of 1 MiB, 64 at a time.
pub fn large_calls(place: &Place) -> Figures {
    let server = place.http();
    let before = resident_mib(server.process.id());
    let arguments = json!({ "path": "large.md", "content": "x ".repeat(1 << 19) });
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| (0..5).for_each(|_| drop(server.call("vault_create", arguments.clone()))));
        }
    });
    std::thread::sleep(REST);
    let kept = resident_mib(server.process.id()) - before;
    Figures::default().add("memory that is kept after a minute", kept, "MiB", MAX_KEPT_MIB)
}
