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
    /// Accepted so that existing files load; `--stdio` or `--http` on the command line decides.
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
    /// The port of `--http` where no address is given.
    #[schemars(range(min = 0, max = 65_535))]
    pub port: u16,
    /// Where the world reaches this server (`https://annai.example.com`); its host and origin are let in, and the
    /// trust in loopback ends.
    pub public_url: Option<String>,
    /// Another address of this server whose origin is let in.
    pub mcp_server_url: Option<String>,
    /// More origins that browsers may call from.
    pub cors_allow_origins: Vec<String>,
    /// The longest HTTP body that is read, in bytes.
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub max_body_bytes: u64,
    /// How many HTTP connections are open at once; the next one waits.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_connections: u64,
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
            port: 3001,
            public_url: None,
            mcp_server_url: None,
            cors_allow_origins: Vec::new(),
            max_body_bytes: 4 << 20,
            max_connections: 4096,
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
        Env { name: "LOG_LEVEL", key: "server.log_level", reads: Reads::As(log_level) },
        Env::new("MCP_LINE_MODE", "server.line_mode"),
        Env::new("PORT", "server.port"),
        Env::new("PUBLIC_URL", "server.public_url"),
        Env::new("MCP_SERVER_URL", "server.mcp_server_url"),
        Env::new("CORS_ALLOW_ORIGINS", "server.cors_allow_origins"),
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

/// Other programs read the same variable, in capitals and with more levels.
fn log_level(text: &str) -> Vec<(&'static str, Value)> {
    let level = text.trim().to_ascii_lowercase();
    let level = match level.as_str() {
        "trace" => "debug",
        "warning" => "warn",
        level => level,
    };
    vec![("server.log_level", level.into())]
}
