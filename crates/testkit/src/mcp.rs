//! An MCP client that drives a real executable over stdio, in either framing, and sees every byte.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{PATIENCE, Process};

/// How messages are set apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// One JSON a line.
    Lines,
    /// `Content-Length` headers.
    Headers,
}

/// Both, for tests that hold in either.
pub const FRAMINGS: [Framing; 2] = [Framing::Lines, Framing::Headers];

/// What the server sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Received {
    /// The message.
    pub message: Value,
    /// How it was framed.
    pub framing: Framing,
}

/// A server process and the pipes to it.
pub struct StdioServer {
    /// The process.
    pub process: Process,
    input: Option<ChildStdin>,
    received: Receiver<Received>,
    framing: Framing,
    last_id: i64,
}

impl StdioServer {
    /// Starts `command` with pipes on all three streams.
    pub fn start(command: &mut Command, framing: Framing) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let errors = BufReader::new(child.stderr.take().unwrap());
        let (sender, received) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read_message(&mut output) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let process = Process::new(child, String::new(), errors);
        Self { process, input, received, framing, last_id: 0 }
    }

    /// Sends bytes as they are.
    pub fn write(&mut self, bytes: &[u8]) {
        self.input.as_mut().expect("the input is open").write_all(bytes).expect("the server reads");
    }

    /// Sends a message in this client's framing.
    pub fn send(&mut self, message: &Value) {
        self.write(&frame(&message.to_string(), self.framing));
    }

    /// Sends a request and gives its id.
    pub fn start_request(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a request and waits for its reply; other messages are passed over.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.start_request(method, params);
        self.reply_to(&id.into())
    }

    /// Calls a tool and waits for the reply.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The handshake of the versions up to 2025-11-25.
    pub fn initialize(&mut self, version: &str) -> Value {
        let client = json!({ "name": "testkit", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let reply = self.request("initialize", params);
        self.notify("notifications/initialized", json!({}));
        reply
    }

    /// The next message.
    pub fn receive(&self) -> Received {
        self.receive_within(PATIENCE).expect("the server answers")
    }

    /// The next message, if one comes in time.
    pub fn receive_within(&self, limit: Duration) -> Option<Received> {
        match self.received.recv_timeout(limit) {
            Ok(received) => Some(received),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// The reply to `id`; other messages are passed over.
    pub fn reply_to(&self, id: &Value) -> Value {
        let started = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(started.elapsed());
            let received = self
                .receive_within(left)
                .unwrap_or_else(|| panic!("no reply to {id}; log: {}", self.process.log()));
            if received.message.get("id") == Some(id) && received.message.get("method").is_none() {
                return received.message;
            }
        }
    }

    /// Closes the server's input.
    pub fn end_input(&mut self) {
        self.input = None;
    }

    /// Closes the input and waits for a clean end.
    pub fn finish(mut self) {
        self.end_input();
        let status = self.process.wait(PATIENCE);
        assert_eq!(status.code(), Some(0), "log: {}", self.process.log());
    }
}

/// A JSON text in a framing.
pub fn frame(json: &str, framing: Framing) -> Vec<u8> {
    match framing {
        Framing::Lines => format!("{json}\n").into_bytes(),
        Framing::Headers => format!("Content-Length: {}\r\n\r\n{json}", json.len()).into_bytes(),
    }
}

/// Reads one message, strictly: anything but a frame or a line of JSON is the server's fault.
fn read_message(output: &mut impl BufRead) -> Option<Received> {
    let mut line = String::new();
    if output.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let Some(length) = line.strip_prefix("Content-Length: ") else {
        assert!(line.ends_with('\n'), "a line without its end: {line:?}");
        let message = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        return Some(Received { message, framing: Framing::Lines });
    };
    let length: usize = length.strip_suffix("\r\n").expect("CRLF after the header").parse().unwrap();
    let mut blank = [0; 2];
    output.read_exact(&mut blank).ok()?;
    assert_eq!(&blank, b"\r\n", "a blank line after the header");
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    let message = serde_json::from_slice(&body).expect("a body of JSON");
    Some(Received { message, framing: Framing::Headers })
}
