//! A server process that listens on HTTP, and a client that sends exactly the bytes it is given, valid or not.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::process::{Process, TEST_TIMEOUT};

/// A server process that listens on loopback.
pub struct HttpServer {
    /// The process.
    pub process: Process,
    /// The address that it listens on.
    pub address: SocketAddr,
}

impl HttpServer {
    /// Starts `command` and waits until it logs the address that it listens on.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let (mut log, mut line) = (String::new(), String::new());
        let address = loop {
            line.clear();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "the server exited: {log}");
            log.push_str(&line);
            let event: Value = serde_json::from_str(&line).unwrap_or_default();
            if let Some(url) = event["url"].as_str().filter(|_| event["msg"] == "listening") {
                let url = url.strip_prefix("http://").and_then(|url| url.strip_suffix("/mcp"));
                break url.unwrap().parse().unwrap();
            }
        };
        Self { process: Process::new(child, log, stderr), address }
    }

    /// Stops the server by a signal, asserts that it exits with status 0, and returns its whole log.
    pub fn stop(mut self) -> String {
        self.process.signal("TERM");
        let (status, log) = self.process.log_at_exit();
        assert_eq!(status.code(), Some(0), "log: {log}");
        log
    }

    /// Opens a connection.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("the server accepts");
        stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        stream
    }

    /// Sends raw bytes on a new connection and reads one response.
    pub fn raw(&self, bytes: &[u8]) -> Response {
        let mut stream = self.connect();
        // A server that rejects the head may close the connection before everything is sent.
        let _ = stream.write_all(bytes);
        Response::read(&mut BufReader::new(stream)).expect("a response")
    }

    /// Sends a request with these headers in addition to Host and Content-Length.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
        self.raw(request(method, path, headers, body).as_bytes())
    }

    /// Posts an MCP message to `/mcp`.
    pub fn post(&self, headers: &[(&str, &str)], message: &Value) -> Response {
        let mut all =
            vec![("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
        all.retain(|(name, _)| !headers.iter().any(|(other, _)| other == name));
        all.extend_from_slice(headers);
        self.send("POST", "/mcp", &all, &message.to_string())
    }

    /// Sends a request as protocol versions up to 2025-11-25 do, and returns the reply.
    pub fn request(&self, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.post(&[], &message).json()
    }

    /// Calls a tool and returns the reply.
    pub fn call(&self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }
}

/// The text of a request. A `host` header among `headers` replaces the default one.
pub fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut text = format!("{method} {path} HTTP/1.1\r\n");
    if !headers.iter().any(|(name, _)| *name == "host") {
        text.push_str("host: localhost\r\n");
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() {
        text.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    text.push_str("\r\n");
    text.push_str(body);
    text
}

/// An HTTP response.
#[derive(Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl Response {
    /// Reads one response; `None` when the connection is closed before it is complete.
    pub fn read(reader: &mut impl BufRead) -> Option<Self> {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|size| *size > 0)?;
        let status = line.split(' ').nth(1)?.parse().ok()?;
        let mut headers = Vec::new();
        loop {
            line.clear();
            reader.read_line(&mut line).ok().filter(|size| *size > 0)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut response = Self { status, headers, body: String::new() };
        if response.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = read_chunk(reader) {
                response.body.push_str(&chunk);
            }
        } else {
            let length =
                response.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            let mut body = vec![0; length];
            reader.read_exact(&mut body).ok()?;
            response.body = String::from_utf8(body).unwrap();
        }
        Some(response)
    }

    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; of an event stream, its last event.
    pub fn json(&self) -> Value {
        match self.header("content-type") {
            Some("text/event-stream") => self.events().pop().expect("an event"),
            _ => serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}")),
        }
    }

    /// The events of an event stream.
    pub fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        data.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect()
    }
}

fn read_chunk(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let size = usize::from_str_radix(line.trim(), 16).ok()?;
    let mut chunk = vec![0; size + 2];
    reader.read_exact(&mut chunk).ok()?;
    chunk.truncate(size);
    (size > 0).then(|| String::from_utf8(chunk).unwrap())
}
