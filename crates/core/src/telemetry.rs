//! The log: JSON Lines on stderr, copied to a file in debug mode. A separate thread writes them from a bounded queue, so
//! that a client that does not read our stderr cannot block the server.

use std::fmt::{Debug, Write as _};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Span, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::{LookupSpan, Registry};

use crate::owner_only::{self, OwnerOnly as _};
use crate::{Date, JsonObject};

/// The maximum number of characters of a logged string. Ids and reasons come from clients, and a log line should stay
/// readable; the longest lines of our own quote the beginning of a failed response. Longer strings are truncated and end
/// with `…`.
const MAX_STRING_CHARS: usize = 700;
/// The maximum number of lines that wait for the writer: enough for a burst of debug lines, and at most a few megabytes.
/// Further lines are dropped, and a warning says how many.
const MAX_QUEUED_LINES: usize = 1024;

/// The target of the lines that report the outcome of a call.
pub(crate) const CALLS: &str = "annai_calls";

static WRITER: OnceLock<SyncSender<LogEntry>> = OnceLock::new();
static DROPPED_LINES: AtomicU64 = AtomicU64::new(0);

enum LogEntry {
    Line(String),
    Flush(SyncSender<()>),
}

/// Which events are logged, and where to besides stderr.
#[derive(Debug)]
pub struct Log {
    /// The least severe level of Annai's own events that is logged.
    pub level: LevelFilter,
    /// The least severe level of the lines that report the outcome of a call. A command turns them off, because it
    /// reports the outcome itself.
    pub calls: LevelFilter,
    /// A file that receives a copy of every line.
    pub file: Option<File>,
}

/// Installs the global logger and a panic hook that logs where a panic happened. Later calls have no effect.
pub fn start(log: Log) {
    let lines = JsonLines { file: Mutex::new(log.file) };
    let subscriber = Registry::default().with(lines.with_filter(level_filters(log.level, log.calls)));
    if tracing::subscriber::set_global_default(subscriber).is_ok() {
        std::panic::set_hook(Box::new(|panic| {
            // Only the location: the message of a panic may contain private text.
            let at = panic.location().map(ToString::to_string).unwrap_or_default();
            tracing::error!(at, "panic");
        }));
    }
}

/// Opens a file that receives a copy of the log, at its end. A log names files and people, so the file is for its owner alone:
/// a new one has mode 0600, and one that others could open is narrowed to it.
///
/// # Errors
///
/// The file cannot be opened, or its mode cannot be narrowed, because another user owns it.
pub fn open_file(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let file = OpenOptions::new().create(true).append(true).owner_only().open(path)?;
    owner_only::narrow(&file)?;
    Ok(file)
}

/// Waits until all queued lines are written, but no longer than `timeout`.
pub fn flush(timeout: Duration) {
    if let Some(writer) = WRITER.get() {
        let (done, wait) = sync_channel(1);
        if writer.try_send(LogEntry::Flush(done)).is_ok() {
            let _ = wait.recv_timeout(timeout);
        }
    }
}

/// Adds a field to a span, and thereby to every later log line within it. Unlike `Span::record`, the field need not be
/// declared with the span.
pub fn record(span: &Span, key: &'static str, mut value: Value) {
    truncate_string(&mut value);
    span.with_subscriber(|(id, dispatch)| {
        if let Some(span) = dispatch.downcast_ref::<Registry>().and_then(|registry| registry.span(id))
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            fields.0.insert(key.to_owned(), value);
        }
    });
}

/// The log level of each crate. The MCP SDK is off: it logs whole messages, repeats every failed call, and reports a
/// client that disconnects as an error.
fn level_filters(level: LevelFilter, calls: LevelFilter) -> Targets {
    Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        .with_target("annai", level)
        .with_target(CALLS, calls)
        .with_target("rmcp", LevelFilter::OFF)
}

/// A `tracing` layer that writes each event as one line of JSON, with the fields of its spans.
struct JsonLines {
    /// The file that receives copies, until the writer thread takes it.
    file: Mutex<Option<File>>,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for JsonLines {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let writer = WRITER.get_or_init(|| {
            let (sender, receiver) = sync_channel(MAX_QUEUED_LINES);
            let file = self.file.lock().map(|mut file| file.take()).unwrap_or_default();
            let thread = std::thread::Builder::new().name("log".into());
            // If the thread cannot be started, the server continues without a log.
            let _ = thread.spawn(move || write_lines(&receiver, file));
            sender
        });
        if writer.try_send(LogEntry::Line(format_line(event, &context))).is_err() {
            DROPPED_LINES.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn write_lines(entries: &Receiver<LogEntry>, mut file: Option<File>) {
    let mut write = |line: &str| {
        let _ = io::stderr().write_all(line.as_bytes());
        if let Some(file) = &mut file {
            let _ = file.write_all(line.as_bytes());
        }
    };
    while let Ok(entry) = entries.recv() {
        match entry {
            LogEntry::Line(line) => write(&line),
            LogEntry::Flush(done) => {
                let _ = done.send(());
            }
        }
        let dropped = DROPPED_LINES.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            let ts = timestamp(SystemTime::now());
            write(&format!(
                "{{\"ts\":\"{ts}\",\"level\":\"warn\",\"msg\":\"log lines dropped\",\"count\":{dropped}}}\n"
            ));
        }
    }
}

/// The JSON line of an event: time, level, the fields of its spans from the outermost inwards, its own fields.
fn format_line<S: Subscriber + for<'a> LookupSpan<'a>>(
    event: &Event<'_>,
    context: &Context<'_, S>,
) -> String {
    let mut fields = Fields::default();
    fields.0.insert("ts".into(), timestamp(SystemTime::now()).into());
    let level = match *event.metadata().level() {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    };
    fields.0.insert("level".into(), level.into());
    for span in context.event_scope(event).into_iter().flatten().collect::<Vec<_>>().iter().rev() {
        if let Some(span_fields) = span.extensions().get::<Fields>() {
            fields.0.extend(span_fields.0.clone());
        }
    }
    event.record(&mut fields);
    let mut line = escape(&Value::Object(fields.0).to_string());
    line.push('\n');
    line
}

/// JSON whose strings contain no character that a terminal or a viewer could obey. JSON itself escapes only the control
/// characters of ASCII; ids and names come from clients, and could end a line or reorder it.
fn escape(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len() + 1);
    for ch in json.chars() {
        let is_obeyed = matches!(ch,
            '\u{7f}'..='\u{9f}' // DEL and the control characters of C1, one of which begins an escape sequence.
            | '\u{2028}' | '\u{2029}' // The line and paragraph separators.
            | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' // Bidi.
        );
        if is_obeyed {
            // Such characters stand within strings only.
            let _ = write!(escaped, "\\u{:04x}", u32::from(ch));
        } else {
            escaped.push(ch);
        }
    }
    escaped
}

/// The fields of an event or a span as JSON. The field `message` is renamed to `msg`.
#[derive(Default)]
struct Fields(JsonObject);

impl Fields {
    fn insert(&mut self, field: &Field, mut value: Value) {
        truncate_string(&mut value);
        let name = if field.name() == "message" { "msg" } else { field.name() };
        self.0.insert(name.into(), value);
    }
}

/// Truncates a string to [`MAX_STRING_CHARS`].
fn truncate_string(value: &mut Value) {
    if let Value::String(text) = value
        && let Some((end, _)) = text.char_indices().nth(MAX_STRING_CHARS)
    {
        text.truncate(end);
        text.push('…');
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut text = String::new();
        let _ = write!(text, "{value:?}");
        self.insert(field, text.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.insert(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.insert(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.insert(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.insert(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.insert(field, value.into());
    }
}

/// A time in UTC in RFC 3339 format, such as `2026-01-31T08:15:30.123Z`.
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
    fn timestamps_are_rfc_3339_in_utc() {
        let at = |seconds: u64| timestamp(UNIX_EPOCH + Duration::from_millis(seconds * 1000 + 7));
        assert_eq!(at(0), "1970-01-01T00:00:00.007Z");
        assert_eq!(at(951_827_696), "2000-02-29T12:34:56.007Z");
        assert_eq!(at(1_767_225_599), "2025-12-31T23:59:59.007Z");
    }

    #[test]
    fn other_crates_are_logged_from_warnings_on_and_the_mcp_sdk_never() {
        let is_enabled = |target: &str, level: LevelFilter, at: Level| {
            level_filters(level, level).would_enable(target, &at)
        };
        assert!(is_enabled("annai_core::tool", LevelFilter::DEBUG, Level::DEBUG));
        assert!(!is_enabled("annai_core::tool", LevelFilter::INFO, Level::DEBUG));
        assert!(!is_enabled("rmcp::service", LevelFilter::DEBUG, Level::ERROR));
        assert!(!is_enabled("hyper::proto", LevelFilter::DEBUG, Level::INFO));
        assert!(is_enabled("hyper::proto", LevelFilter::DEBUG, Level::WARN));
        assert!(!is_enabled("hyper::proto", LevelFilter::ERROR, Level::WARN));
    }

    #[test]
    fn long_strings_are_truncated_and_other_values_are_not() {
        let truncated = |mut value: Value| {
            truncate_string(&mut value);
            value
        };
        let longest = "あ".repeat(MAX_STRING_CHARS);
        assert_eq!(truncated(longest.clone().into()), Value::from(longest.as_str()));
        assert_eq!(truncated(format!("{longest}い").into()), Value::from(format!("{longest}…")));
        assert_eq!(truncated(7.into()), Value::from(7));
    }

    #[test]
    fn characters_that_a_terminal_or_a_viewer_obeys_are_escaped() {
        let text = "a\nb\u{7f}\u{85}\u{9b}2J\u{2028}\u{2029}\u{61c}\u{200e}\u{202e}\u{2066}あ\u{1f600}";
        let json = escape(&Value::from(text).to_string());
        let expected = r#""a\nb\u007f\u0085\u009b2J\u2028\u2029\u061c\u200e\u202e\u2066あ😀""#;
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text, "it is the same text");
    }
}
