//! The `server` section of the configuration.

use annai_core::config::{Env, Reads, Settings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The keys that this crate owns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServerSettings {
    /// How the program serves.
    pub server: Server,
}

/// How the program serves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// Accepted so that existing files load; `--stdio` on the command line decides.
    pub transport: Transport,
    /// Log what passes over the wire (sizes, methods and ids, never bodies).
    pub debug: bool,
    /// A file that gets a copy of every log line while debugging.
    pub debug_file: Option<String>,
    /// Print the configuration to stderr at the start, then go on.
    pub show_config_on_start: bool,
    /// The least severe event that is logged.
    pub log_level: LogLevel,
    /// Answer with one JSON a line, whatever framing the client uses.
    pub line_mode: bool,
    /// The longest message that is read, in bytes.
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub max_message_bytes: u64,
    /// How many calls run at once; the next one waits.
    #[schemars(range(min = 1, max = 10_000))]
    pub max_in_flight: u64,
    /// The longest that one call may take, in milliseconds.
    #[schemars(range(min = 1, max = 86_400_000))]
    pub call_timeout_ms: u64,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            transport: Transport::Stdio,
            debug: false,
            debug_file: None,
            show_config_on_start: false,
            log_level: LogLevel::Info,
            line_mode: false,
            max_message_bytes: 16 << 20,
            max_in_flight: 256,
            call_timeout_ms: 1_200_000,
        }
    }
}

/// The transports that a file may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    #[expect(missing_docs, reason = "a name of the file format")]
    Stdio,
    #[expect(missing_docs, reason = "a name of the file format")]
    Http,
}

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
}

impl Settings for ServerSettings {
    const ENV: &'static [Env] = &[
        Env { name: "DEBUG", key: "server.debug", reads: Reads::As(debug) },
        Env::new("LOG_LEVEL", "server.log_level"),
        Env::new("MCP_LINE_MODE", "server.line_mode"),
    ];
}

/// `1` or `true` turns debugging on, `0` or `false` off; anything else is the file for the copy.
fn debug(text: &str) -> Vec<(&'static str, Value)> {
    match text.trim().to_ascii_lowercase().as_str() {
        "1" | "true" => vec![("server.debug", true.into())],
        "0" | "false" => vec![("server.debug", false.into())],
        _ => vec![("server.debug", true.into()), ("server.debug_file", text.into())],
    }
}
