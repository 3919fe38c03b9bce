//! What the benches share: the programs they measure, and how they count.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A program that cargo built beside the bench.
pub fn built(name: &str) -> PathBuf {
    let bench = std::env::current_exe().expect("this program's path");
    let program = bench.ancestors().nth(2).expect("the profile's folder").join(name);
    assert!(program.exists(), "{} is not built; use scripts/bench", program.display());
    program
}

/// The middle one of several measurements.
pub fn median<T: Copy + PartialOrd>(mut measured: Vec<T>) -> T {
    measured.sort_by(|one, other| one.partial_cmp(other).expect("no NaN is measured"));
    measured[measured.len() / 2]
}

/// A process's memory in MiB.
pub fn resident_mib(process: u32) -> f64 {
    memory(process, "VmRSS:")
}

fn memory(process: u32, name: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("a Linux /proc");
    let line = status.lines().find(|line| line.starts_with(name)).expect("a line of that name");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).expect("a number") / 1024.0
}

/// The most memory that a process has had, in MiB.
pub fn peak_mib(process: u32) -> f64 {
    memory(process, "VmHWM:")
}

/// Whether a bar was met, for the table.
pub fn mark(good: bool) -> &'static str {
    if good { "✓" } else { "✗" }
}

/// The library's tools in a process of their own, over stdio.
pub struct Annai {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Annai {
    /// Starts it in a folder that is its workspace and its home.
    pub fn start(home: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(built("annai"));
        command.args(["--stdio", "--toolset", "library"]).args(arguments).current_dir(home);
        command.env("LOG_LEVEL", "error").env("HOME", home).env_remove("XDG_CACHE_HOME");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("annai starts");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let input = child.stdin.take().expect("a pipe");
        let mut annai = Self { child, input, output };
        annai.ask(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-06-18", "capabilities": {} } }));
        annai
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.input.write_all(format!("{message}\n").as_bytes()).expect("annai reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("annai answers");
        serde_json::from_str(&line).expect("JSON")
    }

    /// Runs a tool; gives its output.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let mut reply =
            self.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
        let output = reply["result"]["structuredContent"].take();
        assert!(output.is_object(), "{reply}");
        output
    }

    /// Its process.
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
