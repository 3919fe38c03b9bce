//! A server process: what it logs, how it is told to end, and that it does.

use std::io::BufRead;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Longer than anything that works takes.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A child process that is gone with its owner.
pub struct Process {
    child: Child,
    log: Arc<Mutex<String>>,
}

impl Process {
    /// Takes care of `child`, whose log so far is `begun` and goes on in `errors`.
    pub fn new(child: Child, begun: String, mut errors: impl BufRead + Send + 'static) -> Self {
        let log = Arc::new(Mutex::new(begun));
        let copy = log.clone();
        std::thread::spawn(move || {
            let mut line = String::new();
            while errors.read_line(&mut line).is_ok_and(|size| size > 0) {
                copy.lock().unwrap().push_str(&line);
                line.clear();
            }
        });
        Self { child, log }
    }

    /// What was logged so far.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits until the log holds `text`.
    pub fn wait_for_log(&self, text: &str) -> String {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            let log = self.log();
            if log.contains(text) {
                return log;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the log never held {text:?}: {}", self.log());
    }

    /// How many calls of a tool the log has with this outcome.
    pub fn logged_calls(&self, tool: &str, ok: bool) -> usize {
        let log = self.log();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        lines.filter(|line| line["tool"] == tool && line["ok"] == ok).count()
    }

    /// Sends a signal, by its name.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status();
        assert!(status.expect("kill runs").success());
    }

    /// The most memory that it has had, in MiB.
    pub fn peak_mib(&self) -> f64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("a Linux /proc");
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("VmHWM");
        line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).expect("a number") / 1024.0
    }

    /// Waits for the process to end.
    pub fn wait(&mut self, limit: Duration) -> ExitStatus {
        let started = Instant::now();
        while started.elapsed() < limit {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the server still runs after {limit:?}; log: {}", self.log());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
