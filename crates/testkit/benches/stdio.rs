//! Benchmarks stdio as ratios to another program in the same run. `scripts/bench` runs it.
//!
//! Client and server are pinned to one core if `taskset` is available: across cores, a round trip mostly measures how long
//! the machine takes to wake an idle core.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use annai_testkit::bench::{built_program, mark, median, resident_mib};
use serde_json::json;

const STARTS: usize = 40;
const ROUNDS: usize = 60;
const TRIPS_PER_ROUND: usize = 200;

fn main() -> ExitCode {
    let id = std::process::id().to_string();
    let pinned =
        Command::new("taskset").args(["-cp", "0", &id]).output().is_ok_and(|done| done.status.success());
    println!("pinned to one core: {pinned}");
    let annai = built_program("annai");
    let mut targets = Targets { failed: false };
    println!("{:46} {:>10} {:>10} {:>8} {:>7}", "stdio", "annai", "peer", "ratio", "target");

    let (ours, node) = starts(&annai);
    targets.ratio("spawn → initialize reply / `node -e 0`", ours, node, 0.15);

    let mib = idle_memory(&annai);
    targets.value("idle memory after initialize, MiB", mib, 15.0);

    for (name, program) in [("annai", annai), ("fixture", built_program("fixture"))] {
        let (ours, echo, bytes) = round_trips(&program);
        targets.ratio(&format!("tools/list of {name}, {bytes} bytes / echo"), ours, echo, 1.5);
    }
    if targets.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Prints measurements with their targets, and remembers whether one was missed.
struct Targets {
    failed: bool,
}

impl Targets {
    fn ratio(&mut self, what: &str, ours: Duration, peer: Duration, target: f64) {
        let ratio = ours.as_secs_f64() / peer.as_secs_f64();
        self.record(ratio <= target);
        let micros = |time: Duration| format!("{:.1} µs", time.as_secs_f64() * 1e6);
        println!(
            "{what:46} {:>10} {:>10} {ratio:8.3} {target:7.2} {}",
            micros(ours),
            micros(peer),
            mark(ratio <= target)
        );
    }

    fn value(&mut self, what: &str, value: f64, target: f64) {
        self.record(value <= target);
        println!("{what:46} {value:10.1} {:>10} {:>8} {target:7.2} {}", "", "", mark(value <= target));
    }

    fn record(&mut self, met: bool) {
        self.failed |= !met;
    }
}

/// The median times of starting annai up to its reply to `initialize`, and of starting and ending an empty Node.js
/// program, measured alternately.
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
    // The memory of an idle process is measured, so it must have finished its start.
    std::thread::sleep(Duration::from_millis(200));
    let mib = resident_mib(server.child.id());
    server.end();
    mib
}

/// The median times of a round trip to the server and to the echo process, measured alternately, and the size of the reply.
fn round_trips(program: &Path) -> (Duration, Duration, usize) {
    let mut server = Peer::start(Command::new(program).arg("--stdio"));
    let request = format!("{}\n", json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {} }));
    let reply = server.trip(request.as_bytes());
    let file = std::env::temp_dir().join(format!("annai-bench-{}", std::process::id()));
    std::fs::write(&file, &reply).expect("a temporary file");
    let mut echo = Peer::spawn(Command::new(built_program("echo")).arg(&file));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for (peer, times) in [(&mut server, &mut ours), (&mut echo, &mut theirs)] {
            for _ in 0..TRIPS_PER_ROUND {
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

/// A process that answers each line with one line.
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
