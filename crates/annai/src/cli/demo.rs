//! `annai demo`: the server, started by itself as a client would start it, and what it answered.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Failure, print};

pub(super) fn run() -> Result<(), Failure> {
    print("Starting `annai --stdio` and talking to it as an MCP client does.\n\n")?;
    for framing in [Framing::Lines, Framing::Headers] {
        let name = if framing == Framing::Lines { "one JSON a line" } else { "Content-Length headers" };
        print(&format!("{name}\n"))?;
        converse(framing)?;
    }
    print("\nEverything answered. To connect a client, give it the command `annai --stdio`.\n")?;
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Lines,
    Headers,
}

/// One conversation, a line for every answer.
fn converse(framing: Framing) -> Result<(), Failure> {
    let started = Instant::now();
    let mut server = Server::start(framing)?;
    let hello = server.ask(
        "initialize",
        &json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "annai-demo", "version": env!("CARGO_PKG_VERSION") },
        }),
    )?;
    let text =
        |value: &Value, path: &str| value.pointer(path).and_then(Value::as_str).unwrap_or("?").to_owned();
    let who = text(&hello, "/result/serverInfo/name");
    let version = text(&hello, "/result/protocolVersion");
    tell(started.elapsed(), &format!("initialize → {who}, protocol {version}"))?;

    let (tools, took) = timed(|| server.ask("tools/list", &json!({})))?;
    let count = tools.pointer("/result/tools").and_then(Value::as_array).map_or(0, Vec::len);
    tell(took, &format!("tools/list → {count} tools"))?;

    let (broken, took) = timed(|| server.say("{ this is not JSON\n"))?;
    let code = broken.pointer("/error/code").and_then(Value::as_i64).unwrap_or_default();
    tell(took, &format!("a broken message → error {code}, and the connection lives"))?;

    let (_, took) = timed(|| server.ask("ping", &json!({})))?;
    tell(took, "ping → answered")?;
    let (status, took) = timed(|| server.end())?;
    tell(took, &format!("end of input → exit status {status}"))?;
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<(T, Duration), Failure> {
    let started = Instant::now();
    Ok((work()?, started.elapsed()))
}

fn tell(took: Duration, what: &str) -> Result<(), Failure> {
    print(&format!("  ✓ {:7.2} ms  {what}\n", took.as_secs_f64() * 1000.0))?;
    Ok(())
}

/// A server that this process started.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    framing: Framing,
    last_id: u64,
}

impl Server {
    fn start(framing: Framing) -> Result<Self, Failure> {
        let program = std::env::current_exe()?;
        let mut child = Command::new(program)
            .arg("--stdio")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or_else(|| Failure::new("the server has no output"))?;
        Ok(Self { child, input, output: BufReader::new(output), framing, last_id: 0 })
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        self.last_id += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params });
        let message = message.to_string();
        match self.framing {
            Framing::Lines => self.say(&format!("{message}\n")),
            Framing::Headers => self.say(&format!("Content-Length: {}\r\n\r\n{message}", message.len())),
        }
    }

    fn say(&mut self, bytes: &str) -> Result<Value, Failure> {
        let input = self.input.as_mut().ok_or_else(|| Failure::new("the server was told to end"))?;
        input.write_all(bytes.as_bytes())?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let Some(length) = line.strip_prefix("Content-Length:") else {
            return serde_json::from_str(&line)
                .map_err(|_| Failure::new("the server did not answer with JSON"));
        };
        let length: u64 = length.trim().parse().map_err(|_| Failure::new("the server sent a bad header"))?;
        self.output.read_line(&mut line)?;
        let mut body = String::new();
        self.output.by_ref().take(length).read_to_string(&mut body)?;
        serde_json::from_str(&body).map_err(|_| Failure::new("the server did not answer with JSON"))
    }

    fn end(&mut self) -> Result<i32, Failure> {
        self.input = None;
        let status = self.child.wait()?;
        status
            .code()
            .filter(|code| *code == 0)
            .ok_or_else(|| Failure::new(format!("the server ended with {status}")))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // After `end` this finds nothing; after a failure it leaves nothing behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
