//! What a search of the vault costs, beside Debian's ripgrep in the same run: a generated vault of 2,000 files and 40 MB,
//! another term each time.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use annai_testkit::bench::{built, median};
use serde_json::{Value, json};

const FILES: usize = 2000;
const FILE_BYTES: usize = 20_000;
const ROUNDS: usize = 25;

fn main() -> ExitCode {
    let home = std::env::temp_dir().join(format!("annai-bench-library-{}", std::process::id()));
    let bytes = generate(&home.join("vault"));
    let mut annai = Annai::start(&home);
    println!("vault_search, {FILES} files, {:.0} MB", bytes as f64 / 1e6);
    println!("{:22} {:>10} {:>10} {:>8} {:>6}", "", "annai", "rg -c", "ratio", "bar");
    let mut good = true;
    for (name, mode, bar) in [("plain", "plain", 1.5), ("regex", "regex", 2.0), ("loose", "loose", 4.0)] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let number = (round * 79 + 13) % FILES;
            let (query, pattern) = match mode {
                "plain" => (format!("needle-{number:05}"), format!("needle-{number:05}")),
                "regex" => (format!("ne+dle-{number:05}\\b"), format!("ne+dle-{number:05}\\b")),
                _ => (format!("検査 項目{number:05}"), format!("検査項目{number:05}")),
            };
            let started = Instant::now();
            let found = annai.search(&query, mode);
            ours.push(started.elapsed());
            assert_eq!(found, 1, "{query}");
            let mut rg = Command::new("rg");
            match mode {
                "regex" => rg.args(["-c", "-i", "-e", &pattern]),
                _ => rg.args(["-c", "-F", &pattern]),
            };
            let started = Instant::now();
            let done = rg.arg(home.join("vault")).output().expect("ripgrep is installed");
            theirs.push(started.elapsed());
            assert_eq!(done.stdout.iter().filter(|byte| **byte == b'\n').count(), 1, "{pattern}");
        }
        let (ours, theirs) = (median(ours), median(theirs));
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        let mark = if ratio <= bar { "✓" } else { "✗" };
        let millis = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
        println!("{name:22} {:>10} {:>10} {ratio:8.2} {bar:6.1} {mark}", millis(ours), millis(theirs));
        good &= ratio <= bar;
    }
    drop(annai);
    let _ = std::fs::remove_dir_all(home);
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Files of English and Japanese prose, each with one term of its own; gives the bytes.
fn generate(vault: &Path) -> usize {
    let words = [
        "insurance",
        "coverage",
        "保険金",
        "支払い",
        "contract",
        "請求書",
        "guide",
        "対象外",
        "section",
        "手続き",
        "the",
        "of",
        "は",
        "が",
    ];
    let (mut total, mut state) = (0, 0x2545_f491_4f6c_dd1d_u64);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for number in 0..FILES {
        let folder = vault.join(format!("d{:02}", number % 40));
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut text = format!("# File {number}\n\n");
        while text.len() < FILE_BYTES {
            for _ in 0..12 {
                text.push_str(words[(next() % words.len() as u64) as usize]);
                text.push(' ');
            }
            text.push('\n');
        }
        text.push_str(&format!("needle-{number:05} and 検査項目{number:05}\n"));
        total += text.len();
        std::fs::write(folder.join(format!("f{number:04}.md")), text).expect("a file");
    }
    total
}

/// The server under test, over stdio.
struct Annai {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Annai {
    fn start(home: &Path) -> Self {
        let mut command = Command::new(built("annai"));
        command.args(["--stdio", "--toolset", "library"]).current_dir(home).env("LOG_LEVEL", "error");
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

    /// How many lines a search finds.
    fn search(&mut self, query: &str, mode: &str) -> usize {
        let params = json!({ "name": "vault_search", "arguments": { "query": query, "mode": mode } });
        let reply = self.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
        let results = reply["result"]["structuredContent"]["results"].as_array();
        results.unwrap_or_else(|| panic!("{reply}")).len()
    }
}

impl Drop for Annai {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
