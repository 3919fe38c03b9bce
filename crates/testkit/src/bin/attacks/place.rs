//! A temporary workspace, and servers that use it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use annai_testkit::http::HttpServer;
use annai_testkit::mcp::{Framing, StdioServer};
use serde_json::{Value, json};

/// How long an attack waits for a reply before it gives up.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// A workspace that is removed at the end.
pub struct Place {
    program: PathBuf,
    /// The workspace, which is also the home folder.
    pub folder: PathBuf,
}

impl Place {
    pub fn new(program: &Path) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("annai-attack-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self { program: std::fs::canonicalize(program).expect("the program exists"), folder }
    }

    /// Writes a file in the workspace.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().env("HOME", &self.folder).env("LOG_LEVEL", "info");
        command.current_dir(&self.folder).args(arguments);
        command
    }

    /// A server of the library over stdio.
    pub fn library(&self) -> StdioServer {
        self.stdio(&mut self.command(&["--stdio", "--toolset", "library"]))
    }

    pub fn stdio(&self, command: &mut Command) -> StdioServer {
        let mut server = StdioServer::start(command, Framing::Lines);
        server.initialize("2025-06-18");
        server
    }

    /// A server over HTTP, which trusts this machine.
    pub fn http(&self) -> HttpServer {
        HttpServer::start(&mut self.command(&["--http", "127.0.0.1:0"]))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Waits for the reply to a request, and returns it with the time that it took; `None` after [`PATIENCE`].
pub fn timed_reply(server: &StdioServer, id: i64) -> (Option<Value>, f64) {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        let received = server.receive_within(PATIENCE - started.elapsed());
        let Some(message) = received.map(|received| received.message) else { break };
        if message["id"] == json!(id) && message.get("method").is_none() {
            return (Some(message), started.elapsed().as_secs_f64());
        }
    }
    (None, started.elapsed().as_secs_f64())
}

/// Calls a tool and waits for its reply.
pub fn timed_call(server: &mut StdioServer, tool: &str, arguments: Value) -> (Option<Value>, f64) {
    let id = server.start_request("tools/call", json!({ "name": tool, "arguments": arguments }));
    timed_reply(server, id)
}

/// Starts a call, cancels it, and returns the seconds of processor time that the server uses in the three seconds that begin
/// 200 ms after the cancellation; infinity if the call ended by itself, because then nothing was cancelled.
pub fn cpu_after_cancelling(server: &mut StdioServer, tool: &str, arguments: Value) -> f64 {
    let id = server.start_request("tools/call", json!({ "name": tool, "arguments": arguments }));
    // The work must be under way: it has used some processor time since.
    let before = server.process.cpu_time();
    let started = Instant::now();
    while server.process.cpu_time() - before < Duration::from_millis(300) {
        if started.elapsed() > PATIENCE {
            return f64::INFINITY;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    server.notify("notifications/cancelled", json!({ "requestId": id }));
    // A reply to a ping shows that the notification was read. A call that was cancelled is not answered.
    let ping = server.start_request("ping", json!({}));
    loop {
        let Some(received) = server.receive_within(PATIENCE) else { return f64::INFINITY };
        match &received.message["id"] {
            answered if *answered == json!(id) => return f64::INFINITY,
            answered if *answered == json!(ping) => break,
            _ => {}
        }
    }
    std::thread::sleep(Duration::from_millis(200));
    let before = server.process.cpu_time();
    // On a busy machine even a process that never stops gets little time in one second.
    std::thread::sleep(Duration::from_secs(3));
    (server.process.cpu_time() - before).as_secs_f64()
}
