//! Benchmarks the overhead of `answer` over stdio: calls against a fake API that answers at once, compared with a bare
//! `reqwest` client that sends the same bodies in the same run.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use annai_testkit::bench::{built_program, mark, median, resident_mib};
use annai_testkit::openai::KEY;
use serde_json::json;

const ROUNDS: usize = 60;
const CALLS_PER_ROUND: usize = 20;
const CONCURRENT_CALLS: u64 = 64;
const CONCURRENT_ROUNDS: usize = 7;
const CONCURRENT_ROUND: Duration = Duration::from_millis(1000);

fn main() -> ExitCode {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let met = [sequential_calls(), concurrent_calls()];
    if met.iter().all(|met| *met) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One call after the other. All processes are pinned to one core, because waking an idle core takes longer than what is
/// measured.
fn sequential_calls() -> bool {
    let this = std::process::id();
    let pinned = pin(this, "0");
    let api = Api::start();
    let mut annai = Annai::start(&api.base_url);
    pin(api.child.id(), "0");
    pin(annai.child.id(), "0");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (client, url) = (client(), format!("{}/responses", api.base_url));
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    let mut number = 0;
    for round in 0..ROUNDS {
        for _ in 0..CALLS_PER_ROUND {
            number += 1;
            let started = Instant::now();
            annai.send(number);
            annai.receive();
            ours.push(started.elapsed());
        }
        for _ in 0..CALLS_PER_ROUND {
            number += 1;
            let started = Instant::now();
            runtime.block_on(ask(&client, &url, number));
            bare.push(started.elapsed());
        }
        if round == 4 {
            // The first rounds are a warm-up.
            ours.clear();
            bare.clear();
        }
    }
    annai.end();
    pin(this, "0-63");
    let (ours, bare) = (median(ours), median(bare));
    let overhead = ours.saturating_sub(bare);
    let met = overhead <= Duration::from_micros(300);
    println!("answers, sequential (pinned to one core: {pinned})");
    println!(
        "  annai {} µs · bare reqwest {} µs · {} µs overhead, target 300 {}",
        ours.as_micros(),
        bare.as_micros(),
        overhead.as_micros(),
        mark(met)
    );
    met
}

fn concurrent_calls() -> bool {
    let api = Api::start();
    let mut annai = Annai::start(&api.base_url);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let (client, url) = (client(), format!("{}/responses", api.base_url));
    let next = Arc::new(AtomicU64::new(1_000_000));
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..CONCURRENT_ROUNDS {
        ours.push(annai.rate(&next));
        bare.push(runtime.block_on(rate(&client, &url, &next)));
    }
    let mib = resident_mib(annai.child.id());
    annai.end();
    let (ours, bare) = (median(ours), median(bare));
    let (ratio, memory_met) = (ours / bare, mib < 40.0);
    println!("answers, {CONCURRENT_CALLS} concurrent");
    println!(
        "  annai {ours:.0}/s · bare reqwest {bare:.0}/s · ratio {ratio:.2}, target 0.50 {}",
        mark(ratio >= 0.5)
    );
    println!("  memory afterwards {mib:.1} MiB, target 40 {}", mark(memory_met));
    ratio >= 0.5 && memory_met
}

/// Pins a process to CPU cores; whether that worked.
fn pin(process: u32, cores: &str) -> bool {
    let id = process.to_string();
    Command::new("taskset").args(["-acp", cores, &id]).output().is_ok_and(|done| done.status.success())
}

fn client() -> reqwest::Client {
    reqwest::Client::builder().tls_certs_only([]).tcp_nodelay(true).build().expect("a client")
}

/// The body that `answer` sends.
fn body(number: u64) -> String {
    json!({
        "model": "gpt-6.1-terra",
        "instructions": annai_answers::SYSTEM_POLICY,
        "input": format!("question {number}\n\nHints:\n- Today is 2026-11-16 in Asia/Tokyo.\n- If you search: prefer pages of the last 60 days, unless the question is about an earlier time.\n- If you search: use about 5 sources, at most."),
        "tools": [{ "type": "web_search", "user_location": { "type": "approximate", "timezone": "Asia/Tokyo" } }],
        "include": ["web_search_call.action.sources"],
        "text": { "verbosity": "medium" },
        "reasoning": { "effort": "medium" },
        "store": false,
    })
    .to_string()
}

async fn ask(client: &reqwest::Client, url: &str, number: u64) {
    let request =
        client.post(url).bearer_auth(KEY).header("content-type", "application/json").body(body(number));
    let response = request.send().await.expect("the API answers");
    assert_eq!(response.status(), 200);
    assert!(response.bytes().await.expect("a body").len() > 500);
}

async fn rate(client: &reqwest::Client, url: &str, next: &Arc<AtomicU64>) -> f64 {
    let started = Instant::now();
    let tasks: Vec<_> = (0..CONCURRENT_CALLS)
        .map(|_| {
            let (client, url, next) = (client.clone(), url.to_owned(), next.clone());
            tokio::spawn(async move {
                let mut count = 0_u64;
                while started.elapsed() < CONCURRENT_ROUND {
                    ask(&client, &url, next.fetch_add(1, Ordering::Relaxed)).await;
                    count += 1;
                }
                count
            })
        })
        .collect();
    let mut total = 0;
    for task in tasks {
        total += task.await.expect("a client");
    }
    total as f64 / started.elapsed().as_secs_f64()
}

/// The fake API as a separate process.
struct Api {
    child: Child,
    base_url: String,
}

impl Api {
    fn start() -> Self {
        let mut child = Command::new(built_program("fake_openai"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("the API starts");
        let mut base_url = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut base_url).expect("a line");
        Self { child, base_url: base_url.trim().to_owned() }
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The server under test, over stdio.
struct Annai {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Annai {
    fn start(base_url: &str) -> Self {
        let mut command = Command::new(built_program("annai"));
        command
            .arg("--stdio")
            .env("OPENAI_BASE_URL", base_url)
            .env("OPENAI_API_KEY", KEY)
            .env("LOG_LEVEL", "warn");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("annai starts");
        let output = BufReader::with_capacity(1 << 16, child.stdout.take().expect("a pipe"));
        let input = child.stdin.take();
        let mut annai = Self { child, input, output, line: String::new() };
        annai.write(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}"#);
        annai.receive();
        annai
    }

    fn write(&mut self, message: &str) {
        let input = self.input.as_mut().expect("an open input");
        input.write_all(format!("{message}\n").as_bytes()).expect("annai reads");
    }

    fn send(&mut self, number: u64) {
        self.write(&format!(
            r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"answer","arguments":{{"query":"question {number}"}}}}}}"#
        ));
    }

    fn receive(&mut self) {
        self.line.clear();
        self.output.read_line(&mut self.line).expect("annai answers");
        assert!(self.line.contains("\"result\""), "{}", self.line);
    }

    fn rate(&mut self, next: &AtomicU64) -> f64 {
        let started = Instant::now();
        for _ in 0..CONCURRENT_CALLS {
            self.send(next.fetch_add(1, Ordering::Relaxed));
        }
        let mut count = 0_u64;
        while started.elapsed() < CONCURRENT_ROUND {
            self.receive();
            count += 1;
            self.send(next.fetch_add(1, Ordering::Relaxed));
        }
        for _ in 0..CONCURRENT_CALLS {
            self.receive();
            count += 1;
        }
        count as f64 / started.elapsed().as_secs_f64()
    }

    fn end(mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}
