//! A server process under test: its log, signals to it, and its exit status.

use std::io::BufRead;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a test waits for something that must happen. It is far longer than any step takes even on a busy machine, so
/// that reaching it always means failure.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(120);

/// How often a condition is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The looks at the threads of a process that must all find the same, and the time between them: longer than any timer of a
/// server that works.
const IDLE_LOOKS: u32 = 5;
const IDLE_INTERVAL: Duration = Duration::from_millis(100);

/// A child process that is killed when it is dropped.
pub struct Process {
    child: Child,
    log: Arc<Mutex<Log>>,
}

/// What a process has written to stderr.
struct Log {
    text: String,
    /// Whether nothing can follow.
    has_ended: bool,
}

impl Process {
    /// Takes ownership of `child`. `log_so_far` is what was read of its stderr already; the rest is read from `stderr`.
    pub fn new(child: Child, log_so_far: String, mut stderr: impl BufRead + Send + 'static) -> Self {
        let log = Arc::new(Mutex::new(Log { text: log_so_far, has_ended: false }));
        let copy = log.clone();
        std::thread::spawn(move || {
            let mut line = String::new();
            while stderr.read_line(&mut line).is_ok_and(|size| size > 0) {
                copy.lock().unwrap().text.push_str(&line);
                line.clear();
            }
            copy.lock().unwrap().has_ended = true;
        });
        Self { child, log }
    }

    /// The log so far, for the message of a failure. It can only be shown: what a process has done may reach its log later,
    /// so that a test waits for what it looks for with [`Self::wait_for_log`], or for the whole log with
    /// [`Self::log_at_exit`].
    pub fn log(&self) -> impl std::fmt::Display + use<> {
        self.log.lock().unwrap().text.clone()
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

    /// Waits for the process to exit by itself, and returns its exit status and its whole log: what is not in it did not
    /// happen.
    pub fn log_at_exit(&mut self) -> (ExitStatus, String) {
        let status = self.wait(TEST_TIMEOUT);
        let started = Instant::now();
        while !self.log.lock().unwrap().has_ended {
            assert!(started.elapsed() < TEST_TIMEOUT, "the log does not end: {}", self.log());
            std::thread::sleep(POLL_INTERVAL);
        }
        (status, self.log.lock().unwrap().text.clone())
    }

    fn wait_until(&self, condition: impl Fn(&str) -> bool, what: &str) -> String {
        let started = Instant::now();
        loop {
            let (log, has_ended) = {
                let log = self.log.lock().unwrap();
                (log.text.clone(), log.has_ended)
            };
            if condition(&log) {
                return log;
            }
            assert!(!has_ended && started.elapsed() < TEST_TIMEOUT, "the log never had {what}: {log}");
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Waits until the process has nothing to do: all its threads sleep, and none has run between several looks at them.
    /// A thread that waits for a processor does not sleep, so that a busy machine is not taken for an idle process.
    pub fn wait_until_idle(&self) {
        wait_until_idle(self.child.id());
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
            std::thread::sleep(POLL_INTERVAL);
        }
        panic!("the server is still running after {timeout:?}; log: {}", self.log());
    }
}

/// Waits until a process has nothing to do; see [`Process::wait_until_idle`].
pub fn wait_until_idle(process: u32) {
    let started = Instant::now();
    let (mut before, mut equal) = (None, 0);
    while equal < IDLE_LOOKS {
        assert!(started.elapsed() < TEST_TIMEOUT, "process {process} never has nothing to do");
        std::thread::sleep(IDLE_INTERVAL);
        let now = switches_if_asleep(process);
        equal = if now.is_some() && now == before { equal + 1 } else { 0 };
        before = now;
    }
}

/// How often the threads of a process have begun to run; `None` if one of them runs or wants to. Only on Linux.
fn switches_if_asleep(process: u32) -> Option<u64> {
    let mut switches = 0;
    for thread in std::fs::read_dir(format!("/proc/{process}/task")).expect("a Linux /proc") {
        // A thread may end meanwhile.
        let status = std::fs::read_to_string(thread.ok()?.path().join("status")).ok()?;
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        if !field("State:")?.starts_with('S') {
            return None;
        }
        let counts = ["voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"];
        switches += counts.iter().filter_map(|name| field(name)?.parse::<u64>().ok()).sum::<u64>();
    }
    Some(switches)
}

/// The number of calls of a tool with this outcome in a log.
pub fn count_calls(log: &str, tool: &str, ok: bool) -> usize {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    lines.filter(|line| line["tool"] == tool && line["ok"] == ok).count()
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
