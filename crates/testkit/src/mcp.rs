//! An MCP client that drives a real executable over stdio, in either framing, and rejects malformed output.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{Process, TEST_TIMEOUT};

/// How messages are delimited on stdio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Each message is one line of JSON.
    Lines,
    /// Each message has a `Content-Length` header.
    Headers,
}

/// Both framings, for tests that apply to either.
pub const FRAMINGS: [Framing; 2] = [Framing::Lines, Framing::Headers];

/// A message from the server.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceivedMessage {
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
    received: Receiver<ReceivedMessage>,
    framing: Framing,
    last_id: i64,
}

impl StdioServer {
    /// Starts `command` with pipes for stdin, stdout and stderr.
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

    /// Sends raw bytes.
    pub fn write(&mut self, bytes: &[u8]) {
        self.input.as_mut().expect("the input is open").write_all(bytes).expect("the server reads");
    }

    /// Sends a message in this client's framing.
    pub fn send(&mut self, message: &Value) {
        self.write(&frame(&message.to_string(), self.framing));
    }

    /// Sends a request without waiting for the reply, and returns its id.
    pub fn start_request(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a request and waits for its reply; other messages are skipped.
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

    /// Performs the handshake that protocol versions up to 2025-11-25 require.
    pub fn initialize(&mut self, version: &str) -> Value {
        let client = json!({ "name": "testkit", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let reply = self.request("initialize", params);
        self.notify("notifications/initialized", json!({}));
        reply
    }

    /// Waits for the next message.
    pub fn receive(&self) -> ReceivedMessage {
        self.receive_within(TEST_TIMEOUT).expect("the server answers")
    }

    /// Waits for the next message; `None` when none arrives in time or the server closed its output.
    pub fn receive_within(&self, timeout: Duration) -> Option<ReceivedMessage> {
        self.received.recv_timeout(timeout).ok()
    }

    /// Waits for the reply to `id`; other messages are skipped.
    pub fn reply_to(&self, id: &Value) -> Value {
        let started = Instant::now();
        loop {
            let remaining = TEST_TIMEOUT.saturating_sub(started.elapsed());
            let received = self
                .receive_within(remaining)
                .unwrap_or_else(|| panic!("no reply to {id}; log: {}", self.process.log()));
            if received.message.get("id") == Some(id) && received.message.get("method").is_none() {
                return received.message;
            }
        }
    }

    /// Closes the server's stdin.
    pub fn end_input(&mut self) {
        self.input = None;
    }

    /// Closes the server's stdin, asserts that it exits with status 0, and returns its whole log.
    pub fn finish(mut self) -> String {
        self.end_input();
        let (status, log) = self.process.log_at_exit();
        assert_eq!(status.code(), Some(0), "log: {log}");
        log
    }

    /// The same as [`Self::finish`], and asserts that the server sends nothing more.
    pub fn finish_without_messages(mut self) {
        self.end_input();
        // The server closes its output when it exits, so this does not wait for the timeout.
        assert_eq!(self.receive_within(TEST_TIMEOUT), None);
        self.finish();
    }
}

/// The bytes of a message in a framing.
pub fn frame(json: &str, framing: Framing) -> Vec<u8> {
    match framing {
        Framing::Lines => format!("{json}\n").into_bytes(),
        Framing::Headers => format!("Content-Length: {}\r\n\r\n{json}", json.len()).into_bytes(),
    }
}

/// Reads one message. Anything but a well-formed frame or a line of JSON fails the test.
fn read_message(output: &mut impl BufRead) -> Option<ReceivedMessage> {
    let mut line = String::new();
    if output.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let Some(length) = line.strip_prefix("Content-Length: ") else {
        assert!(line.ends_with('\n'), "a line without a line break: {line:?}");
        let message = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        return Some(ReceivedMessage { message, framing: Framing::Lines });
    };
    let length: usize = length.strip_suffix("\r\n").expect("CRLF after the header").parse().unwrap();
    let mut blank = [0; 2];
    output.read_exact(&mut blank).ok()?;
    assert_eq!(&blank, b"\r\n", "a blank line after the header");
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    let message = serde_json::from_slice(&body).expect("a body of JSON");
    Some(ReceivedMessage { message, framing: Framing::Headers })
}
