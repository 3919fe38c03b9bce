//! Helpers of the benchmarks: the programs under test, medians and memory figures.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// The path of a program that cargo built into the same profile as the benchmark.
pub fn built_program(name: &str) -> PathBuf {
    let benchmark = std::env::current_exe().expect("this program's path");
    let program = benchmark.ancestors().nth(2).expect("the profile's folder").join(name);
    assert!(program.exists(), "{} is not built; use scripts/bench", program.display());
    program
}

/// The median of several measurements.
pub fn median<T: Copy + PartialOrd>(mut measurements: Vec<T>) -> T {
    measurements.sort_by(|one, other| one.partial_cmp(other).expect("measurements are not NaN"));
    measurements[measurements.len() / 2]
}

/// The current resident memory of a process in MiB.
pub fn resident_mib(process: u32) -> f64 {
    memory_mib(process, "VmRSS:")
}

/// A field of `/proc/<pid>/status` in MiB; only on Linux.
fn memory_mib(process: u32, field: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("a Linux /proc");
    let line = status.lines().find(|line| line.starts_with(field)).expect("the field exists");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).expect("a number") / 1024.0
}

/// The peak resident memory of a process in MiB.
pub fn peak_mib(process: u32) -> f64 {
    memory_mib(process, "VmHWM:")
}

/// The processor time that a process has used so far; only on Linux.
pub fn cpu_time(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("a Linux /proc");
    // The name of the program, in parentheses, may contain anything. User and system time are fields 14 and 15, in ticks
    // of 10 ms.
    let fields = stat.rsplit_once(')').expect("a name in parentheses").1;
    let ticks =
        fields.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().expect("a number"));
    Duration::from_millis(ticks.sum::<u64>() * 10)
}

/// The mark in a table that shows whether a target was met.
pub fn mark(met: bool) -> &'static str {
    if met { "✓" } else { "✗" }
}

/// A process that serves HTTP, and its address.
pub struct HttpProcess {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl HttpProcess {
    /// Starts a server, and waits for the log line that says where it listens.
    pub fn start(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the server starts");
        let mut log = BufReader::new(child.stderr.take().expect("a pipe"));
        let address = loop {
            let mut line = String::new();
            assert!(log.read_line(&mut line).expect("a line") > 0, "the server ended before it listened");
            if line.contains("\"listening\"") {
                let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next());
                break address.and_then(|address| address.parse().ok()).expect("an address");
            }
        };
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Self { child, address }
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for HttpProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An `annai` process that serves the library toolset over stdio.
pub struct Annai {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Annai {
    /// Starts the process with `home` as its workspace and home directory.
    pub fn start(home: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(built_program("annai"));
        command.args(["--stdio", "--toolset", "library"]).args(arguments).current_dir(home);
        command.env("LOG_LEVEL", "error").env("HOME", home).env_remove("XDG_CACHE_HOME");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("annai starts");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let input = child.stdin.take().expect("a pipe");
        let mut annai = Self { child, input, output };
        annai.request(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-06-18", "capabilities": {} } }));
        annai
    }

    fn request(&mut self, message: &Value) -> Value {
        self.input.write_all(format!("{message}\n").as_bytes()).expect("annai reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("annai answers");
        serde_json::from_str(&line).expect("JSON")
    }

    /// Calls a tool and returns its structured output.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let mut reply =
            self.request(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
        let output = reply["result"]["structuredContent"].take();
        assert!(output.is_object(), "{reply}");
        output
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Annai {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
