//! A server process under test: its log, signals to it, and its exit status.

use std::io::BufRead;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a test waits for something that must happen. It is far longer than any step takes even on a busy machine, so
/// that reaching it always means failure.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(120);

/// A child process that is killed when it is dropped.
pub struct Process {
    child: Child,
    log: Arc<Mutex<String>>,
}

impl Process {
    /// Takes ownership of `child`. `log_so_far` is what was read of its stderr already; the rest is read from `stderr`.
    pub fn new(child: Child, log_so_far: String, mut stderr: impl BufRead + Send + 'static) -> Self {
        let log = Arc::new(Mutex::new(log_so_far));
        let copy = log.clone();
        std::thread::spawn(move || {
            let mut line = String::new();
            while stderr.read_line(&mut line).is_ok_and(|size| size > 0) {
                copy.lock().unwrap().push_str(&line);
                line.clear();
            }
        });
        Self { child, log }
    }

    /// The log so far.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits until the log contains `text`, and returns the log.
    pub fn wait_for_log(&self, text: &str) -> String {
        self.wait_for_log_lines(text, 1)
    }

    /// Waits until at least `count` lines of the log contain `text`, and returns the log.
    pub fn wait_for_log_lines(&self, text: &str, count: usize) -> String {
        let contains = |log: &str| log.lines().filter(|line| line.contains(text)).count() >= count;
        self.wait_until(contains, &format!("{count} lines with {text:?}"))
    }

    /// Waits until at least `count` successful calls of a tool have been logged, and returns the log.
    pub fn wait_for_successful_calls(&self, tool: &str, count: usize) -> String {
        let contains = |log: &str| count_calls(log, tool, true) >= count;
        self.wait_until(contains, &format!("{count} successful calls of {tool}"))
    }

    fn wait_until(&self, condition: impl Fn(&str) -> bool, what: &str) -> String {
        let started = Instant::now();
        while started.elapsed() < TEST_TIMEOUT {
            let log = self.log();
            if condition(&log) {
                return log;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the log never had {what}: {}", self.log());
    }

    /// The number of logged calls of a tool with this outcome.
    pub fn logged_calls(&self, tool: &str, ok: bool) -> usize {
        count_calls(&self.log(), tool, ok)
    }

    /// Sends a signal such as `TERM`.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status();
        assert!(status.expect("kill runs").success());
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The processor time that it has used so far.
    pub fn cpu_time(&self) -> Duration {
        crate::bench::cpu_time(self.child.id())
    }

    /// The peak resident memory in MiB.
    pub fn peak_mib(&self) -> f64 {
        crate::bench::peak_mib(self.child.id())
    }

    /// Waits for the process to exit.
    pub fn wait(&mut self, timeout: Duration) -> ExitStatus {
        let started = Instant::now();
        while started.elapsed() < timeout {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the server is still running after {timeout:?}; log: {}", self.log());
    }
}

fn count_calls(log: &str, tool: &str, ok: bool) -> usize {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    lines.filter(|line| line["tool"] == tool && line["ok"] == ok).count()
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
