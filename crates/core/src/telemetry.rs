//! The log: JSON Lines on stderr, copied to a file in debug mode. Written by a thread of its own, so
//! that a reader of stderr who stops reading cannot stop the server.

use std::fmt::{Debug, Write as _};
use std::fs::File;
use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::{Date, JsonObject};

/// So much of a text is logged: ids and reasons come from the wire.
const MOST_CHARS: usize = 300;
/// Lines that may wait for the writer; beyond that they are counted and dropped.
const MOST_WAITING: usize = 1024;

static WRITER: OnceLock<SyncSender<Entry>> = OnceLock::new();
static DROPPED: AtomicU64 = AtomicU64::new(0);
static DEBUGGING: AtomicBool = AtomicBool::new(false);

enum Entry {
    Line(String),
    Flush(SyncSender<()>),
}

/// What is logged, and where to besides stderr.
#[derive(Debug)]
pub struct Log {
    /// Our own events up to this level.
    pub level: LevelFilter,
    /// A copy of every line.
    pub file: Option<File>,
    /// Whether errors tell callers more than usual.
    pub debugging: bool,
}

/// Whether the program was started for debugging; decided once.
#[must_use]
pub fn debugging() -> bool {
    DEBUGGING.load(Ordering::Relaxed)
}

/// Starts logging. The thread that writes starts with the first line. Later calls change nothing.
pub fn start(log: Log) {
    DEBUGGING.store(log.debugging, Ordering::Relaxed);
    let file = std::sync::Mutex::new(log.file);
    let subscriber = Lines { level: log.level, file };
    if tracing::subscriber::set_global_default(subscriber).is_ok() {
        std::panic::set_hook(Box::new(|panic| {
            // Where, not what: a panic's text may hold anything.
            let at = panic.location().map(ToString::to_string).unwrap_or_default();
            tracing::error!(at, "panic");
        }));
    }
}

/// Waits until what was logged is written, or `limit` has passed.
pub fn flush(limit: Duration) {
    if let Some(writer) = WRITER.get() {
        let (done, wait) = sync_channel(1);
        if writer.try_send(Entry::Flush(done)).is_ok() {
            let _ = wait.recv_timeout(limit);
        }
    }
}

/// How much is heard from where. The protocol crate is not: it logs whole messages, every failed call a second
/// time, and a client that leaves as an error.
fn limit(target: &str, level: LevelFilter) -> LevelFilter {
    if target.starts_with("annai") {
        level
    } else if target.starts_with("rmcp") {
        LevelFilter::OFF
    } else {
        level.min(LevelFilter::WARN)
    }
}

struct Lines {
    level: LevelFilter,
    file: std::sync::Mutex<Option<File>>,
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= limit(metadata.target(), self.level)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level.max(LevelFilter::WARN))
    }

    fn event(&self, event: &Event<'_>) {
        let writer = WRITER.get_or_init(|| {
            let (sender, receiver) = sync_channel(MOST_WAITING);
            let file = self.file.lock().map(|mut file| file.take()).unwrap_or_default();
            let thread = std::thread::Builder::new().name("log".into());
            // Without the thread nothing is logged; the server itself goes on.
            let _ = thread.spawn(move || write_lines(&receiver, file));
            sender
        });
        if writer.try_send(Entry::Line(line(event))).is_err() {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn write_lines(entries: &Receiver<Entry>, mut file: Option<File>) {
    let mut write = |line: &str| {
        let _ = std::io::stderr().write_all(line.as_bytes());
        if let Some(file) = &mut file {
            let _ = file.write_all(line.as_bytes());
        }
    };
    while let Ok(entry) = entries.recv() {
        match entry {
            Entry::Line(line) => write(&line),
            Entry::Flush(done) => {
                let _ = done.send(());
            }
        }
        let dropped = DROPPED.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            let ts = timestamp(SystemTime::now());
            write(&format!(
                "{{\"ts\":\"{ts}\",\"level\":\"warn\",\"msg\":\"log lines dropped\",\"count\":{dropped}}}\n"
            ));
        }
    }
}

fn line(event: &Event<'_>) -> String {
    let mut fields = Fields(JsonObject::new());
    fields.0.insert("ts".into(), timestamp(SystemTime::now()).into());
    let level = match *event.metadata().level() {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    };
    fields.0.insert("level".into(), level.into());
    event.record(&mut fields);
    let mut line = Value::Object(fields.0).to_string();
    line.push('\n');
    line
}

/// An event's fields as JSON. `message` is called `msg`; `with` holds an object that is merged in;
/// an empty `cause` is left out.
struct Fields(JsonObject);

impl Fields {
    fn put(&mut self, field: &Field, mut value: Value) {
        cut(&mut value);
        match field.name() {
            "message" => self.0.insert("msg".into(), value),
            "cause" if value == "" => None,
            name => self.0.insert(name.into(), value),
        };
    }
}

/// Bounds a text.
fn cut(value: &mut Value) {
    if let Value::String(text) = value
        && let Some((end, _)) = text.char_indices().nth(MOST_CHARS)
    {
        text.truncate(end);
        text.push('…');
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut text = String::new();
        let _ = write!(text, "{value:?}");
        self.put(field, text.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "with" {
            if let Ok(Value::Object(mut more)) = serde_json::from_str(value) {
                more.values_mut().for_each(cut);
                self.0.extend(more);
            }
        } else {
            self.put(field, value.into());
        }
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value.into());
    }
}

/// A time as `2026-01-31T08:15:30.123Z`.
fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (date, second) = (Date::in_utc(time), since.as_secs() % 86_400);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let milli = since.subsec_millis();
    format!("{date}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_iso_in_utc() {
        let at = |seconds: u64| timestamp(UNIX_EPOCH + Duration::from_millis(seconds * 1000 + 7));
        assert_eq!(at(0), "1970-01-01T00:00:00.007Z");
        assert_eq!(at(951_827_696), "2000-02-29T12:34:56.007Z");
        assert_eq!(at(1_767_225_599), "2025-12-31T23:59:59.007Z");
    }

    #[test]
    fn other_crates_are_heard_only_when_something_is_wrong() {
        assert_eq!(limit("annai_core::tool", LevelFilter::DEBUG), LevelFilter::DEBUG);
        assert_eq!(limit("rmcp::service", LevelFilter::DEBUG), LevelFilter::OFF);
        assert_eq!(limit("hyper::proto", LevelFilter::DEBUG), LevelFilter::WARN);
        assert_eq!(limit("hyper::proto", LevelFilter::ERROR), LevelFilter::ERROR);
    }
}
