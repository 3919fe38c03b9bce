//! What stdio costs, as ratios to a peer in the same run. `scripts/bench` runs it.
//!
//! Client and server are held to one core where `taskset` can: across cores a round trip measures how fast
//! the machine wakes an idle core, which drowns everything else.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use annai_testkit::bench::{built, mark, median, resident_mib};
use serde_json::json;

const STARTS: usize = 40;
const ROUNDS: usize = 60;
const TRIPS_A_ROUND: usize = 200;

fn main() -> ExitCode {
    let id = std::process::id().to_string();
    let pinned =
        Command::new("taskset").args(["-cp", "0", &id]).output().is_ok_and(|done| done.status.success());
    println!("held to one core: {pinned}");
    let annai = built("annai");
    let mut bars = Bars { failed: false };
    println!("{:46} {:>10} {:>10} {:>8} {:>7}", "stdio", "annai", "peer", "ratio", "bar");

    let (ours, node) = starts(&annai);
    bars.ratio("spawn → initialize reply / `node -e 0`", ours, node, 0.15);

    let mib = idle_memory(&annai);
    bars.value("idle memory after initialize, MiB", mib, 15.0);

    for (name, program) in [("annai", annai), ("fixture", built("fixture"))] {
        let (ours, echo, bytes) = round_trips(&program);
        bars.ratio(&format!("tools/list of {name}, {bytes} bytes / echo"), ours, echo, 1.5);
    }
    if bars.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

struct Bars {
    failed: bool,
}

impl Bars {
    fn ratio(&mut self, what: &str, ours: Duration, peer: Duration, bar: f64) {
        let ratio = ours.as_secs_f64() / peer.as_secs_f64();
        self.judge(ratio <= bar);
        let micros = |time: Duration| format!("{:.1} µs", time.as_secs_f64() * 1e6);
        println!(
            "{what:46} {:>10} {:>10} {ratio:8.3} {bar:7.2} {}",
            micros(ours),
            micros(peer),
            mark(ratio <= bar)
        );
    }

    fn value(&mut self, what: &str, value: f64, bar: f64) {
        self.judge(value <= bar);
        println!("{what:46} {value:10.1} {:>10} {:>8} {bar:7.2} {}", "", "", mark(value <= bar));
    }

    fn judge(&mut self, good: bool) {
        self.failed |= !good;
    }
}

/// The medians of starting annai up to its initialize reply, and of a bare node, taken in turns.
fn starts(annai: &Path) -> (Duration, Duration) {
    let (mut ours, mut node) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let started = Instant::now();
        let server = Peer::start(Command::new(annai).arg("--stdio"));
        ours.push(started.elapsed());
        server.end();
        let started = Instant::now();
        let status = Command::new("node").args(["-e", "0"]).status().expect("node is installed");
        node.push(started.elapsed());
        assert!(status.success());
    }
    (median(ours), median(node))
}

fn idle_memory(annai: &Path) -> f64 {
    let server = Peer::start(Command::new(annai).arg("--stdio"));
    std::thread::sleep(Duration::from_millis(200));
    let mib = resident_mib(server.child.id());
    server.end();
    mib
}

/// The medians of a round trip with the server and with the echo process, in turns, and the reply's size.
fn round_trips(program: &Path) -> (Duration, Duration, usize) {
    let mut server = Peer::start(Command::new(program).arg("--stdio"));
    let request = format!("{}\n", json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {} }));
    let reply = server.trip(request.as_bytes());
    let file = std::env::temp_dir().join(format!("annai-bench-{}", std::process::id()));
    std::fs::write(&file, &reply).expect("a temporary file");
    let mut echo = Peer::spawn(Command::new(built("echo")).arg(&file));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for (peer, times) in [(&mut server, &mut ours), (&mut echo, &mut theirs)] {
            for _ in 0..TRIPS_A_ROUND {
                let started = Instant::now();
                assert_eq!(peer.trip(request.as_bytes()).len(), reply.len());
                times.push(started.elapsed());
            }
        }
    }
    server.end();
    echo.end();
    let _ = std::fs::remove_file(file);
    (median(ours), median(theirs), reply.len())
}

/// A process that answers lines with lines.
struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peer {
    fn spawn(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::with_capacity(1 << 16, child.stdout.take().expect("a pipe"));
        Self { child, input, output }
    }

    fn start(command: &mut Command) -> Self {
        let mut server = Self::spawn(command);
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" },
        });
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let reply = server.trip(format!("{hello}\n").as_bytes());
        assert!(reply.starts_with(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\""));
        server
    }

    fn trip(&mut self, request: &[u8]) -> Vec<u8> {
        self.input.write_all(request).expect("the process reads");
        let mut reply = Vec::new();
        self.output.read_until(b'\n', &mut reply).expect("the process answers");
        reply
    }

    fn end(mut self) {
        drop(self.input);
        let _ = self.child.wait();
    }
}
