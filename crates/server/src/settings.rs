//! The `server` section of the configuration.

use annai_core::config::{EnvironmentVariable, Settings, VariableParser};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The configuration keys of this crate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServerSettings {
    /// The transports, their limits and the log.
    pub server: ServerSection,
}

/// The `server` section: the transports, their limits and the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServerSection {
    /// Has no effect; existing configuration files may contain it. The options `--stdio` and `--http` choose the transport.
    pub transport: Transport,
    /// Whether to log every message that is received or sent: its size, method and id, but never its content. Also sets
    /// `log_level` to `debug`. The variable `DEBUG` may also be the path of a file, which then receives a copy of the log.
    pub debug: bool,
    /// A file to which every log line is appended, in addition to stderr. Used only while `debug` is true; not set: no file.
    pub debug_file: Option<String>,
    /// Whether to print the effective configuration to stderr when the server starts.
    pub show_config_on_start: bool,
    /// The lowest severity that is logged: `warn` logs warnings and errors.
    pub log_level: LogLevel,
    /// Whether stdio replies are always one JSON message per line. By default a reply uses the framing of the client's last
    /// message: lines or `Content-Length` headers.
    pub line_mode: bool,
    /// The tools to serve, by name. A name with a leading `-` removes that tool; a list of only such names serves all other
    /// tools. Empty: all tools of the served toolsets.
    pub tools: Vec<String>,
    /// Whether to serve only tools that change nothing.
    pub read_only: bool,
    /// The maximum size of one stdio message in bytes. A longer message is skipped and answered with error -32600.
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub max_message_bytes: u64,
    /// The maximum number of calls that run at the same time. Further calls wait until one has finished. A few places are
    /// kept for each toolset, so that slow calls of one never hold up those of another.
    #[schemars(range(min = 1, max = 10_000))]
    pub max_in_flight: u64,
    /// The maximum duration of one call in milliseconds. A call that takes longer is stopped and fails.
    #[schemars(range(min = 1, max = 86_400_000))]
    pub call_timeout_ms: u64,
    /// The port of `--http` when no address is given; 0 lets the system choose a free port.
    #[schemars(range(min = 0, max = 65_535))]
    pub port: u16,
    /// The URL at which clients on other machines reach this server, such as `https://annai.example.com`. Its host and
    /// origin are then allowed, it is the resource that OAuth tokens are issued for, and requests from this machine no
    /// longer count as the owner's: they need a token as others do. Not set: only loopback hosts are allowed.
    pub public_url: Option<String>,
    /// The OpenID provider whose access tokens are accepted, such as `https://login.example.com`; `http` only on loopback.
    /// The variable `AUTH0_DOMAIN` sets it to `https://DOMAIN/`. Not set: only static tokens are accepted.
    pub oauth_issuer: Option<String>,
    /// The audience (`aud`) that an access token must be issued for. Not set: `public_url`, with or without `/mcp`.
    pub oauth_audience: Option<String>,
    /// The file of the static tokens that `annai token new` makes; it must be readable by its owner only. Not set:
    /// `tokens.json` in the data folder of this user.
    pub token_file: Option<String>,
    /// Whether requests from this machine count as the owner's and need no token, as long as the server listens on loopback
    /// only and `public_url` is not set. Turn it off behind a proxy or tunnel on this machine that adds no header.
    pub trust_loopback: bool,
    /// The origins of web pages on this machine that are trusted like other programs of the owner. The default is the MCP
    /// Inspector.
    pub trusted_origins: Vec<String>,
    /// A second URL of this server. Browsers may send requests from its origin.
    pub mcp_server_url: Option<String>,
    /// Further origins, such as `https://app.example.com`, from which browsers may send requests. Loopback, ChatGPT and
    /// `public_url` are always allowed.
    pub cors_allow_origins: Vec<String>,
    /// The maximum size of an HTTP request body in bytes. A larger body is answered with status 413.
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub max_body_bytes: u64,
    /// The maximum number of open HTTP connections. Further connections wait until one is closed; one that has been idle for
    /// two seconds is then closed for them.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_connections: u64,
    /// The maximum number of open HTTP connections of one address (of one /64 network for IPv6). Further ones are closed. It
    /// does not apply to this machine and to `services.trusted_proxies`.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_connections_per_peer: u64,
    /// The maximum number of bytes of requests that have been received and are not being handled yet, in all, on either
    /// transport; at least two requests of the maximum size. A request takes what has arrived of it. Over HTTP, half of it is
    /// for people with a valid token, an eighth for requests whose token is refused, and the rest for those without a token.
    /// Further requests are not read on until there is room; a client that pauses within a request while others wait is
    /// refused.
    #[schemars(range(min = 65_536, max = 4_294_967_295_u64))]
    pub max_pending_bytes: u64,
    /// The same for the requests of one person, or without a token of one address (of one /64 network for IPv6), over HTTP;
    /// at least one request of the maximum size, and otherwise no more than an eighth of `max_pending_bytes`. Beyond it,
    /// requests are answered with status 429. Clients behind `services.trusted_proxies` are told apart by `X-Forwarded-For`.
    /// It does not apply to the owner of the machine.
    #[schemars(range(min = 65_536, max = 4_294_967_295_u64))]
    pub max_pending_bytes_per_peer: u64,
}

impl Default for ServerSection {
    fn default() -> Self {
        Self {
            transport: Transport::Stdio,
            debug: false,
            debug_file: None,
            show_config_on_start: false,
            log_level: LogLevel::Info,
            line_mode: false,
            tools: Vec::new(),
            read_only: false,
            max_message_bytes: 16 << 20,
            max_in_flight: 256,
            call_timeout_ms: 1_200_000,
            port: 3001,
            public_url: None,
            oauth_issuer: None,
            oauth_audience: None,
            token_file: None,
            trust_loopback: true,
            trusted_origins: vec!["http://localhost:6274".to_owned(), "http://127.0.0.1:6274".to_owned()],
            mcp_server_url: None,
            cors_allow_origins: Vec::new(),
            max_body_bytes: 4 << 20,
            max_connections: 4096,
            max_connections_per_peer: 256,
            max_pending_bytes: 64 << 20,
            max_pending_bytes_per_peer: 8 << 20,
        }
    }
}

/// The values of `server.transport`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    #[expect(missing_docs, reason = "the name is self-explanatory")]
    Stdio,
    #[expect(missing_docs, reason = "the name is self-explanatory")]
    Http,
}

/// The lowest severity that is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
}

impl Settings for ServerSettings {
    const ENV: &'static [EnvironmentVariable] = &[
        EnvironmentVariable {
            name: "DEBUG",
            key: "server.debug",
            parser: VariableParser::Custom(parse_debug),
        },
        EnvironmentVariable {
            name: "LOG_LEVEL",
            key: "server.log_level",
            parser: VariableParser::Custom(parse_log_level),
        },
        EnvironmentVariable::new("MCP_LINE_MODE", "server.line_mode"),
        EnvironmentVariable::new("ANNAI_TOOLS", "server.tools"),
        EnvironmentVariable::new("ANNAI_READ_ONLY", "server.read_only"),
        EnvironmentVariable::new("PORT", "server.port"),
        EnvironmentVariable::new("PUBLIC_URL", "server.public_url"),
        EnvironmentVariable {
            name: "AUTH0_DOMAIN",
            key: "server.oauth_issuer",
            parser: VariableParser::Custom(parse_auth0_domain),
        },
        EnvironmentVariable::new("OAUTH_ISSUER", "server.oauth_issuer"),
        EnvironmentVariable::new("AUTH0_AUDIENCE", "server.oauth_audience"),
        EnvironmentVariable::new("ANNAI_TOKEN_FILE", "server.token_file"),
        EnvironmentVariable::new("ANNAI_TRUST_LOOPBACK", "server.trust_loopback"),
        EnvironmentVariable::new("ANNAI_TRUSTED_ORIGINS", "server.trusted_origins"),
        EnvironmentVariable::new("MCP_SERVER_URL", "server.mcp_server_url"),
        EnvironmentVariable::new("CORS_ALLOW_ORIGINS", "server.cors_allow_origins"),
    ];
}

/// Parses `DEBUG`: `1` or `true` turns debug logging on, `0` or `false` off; anything else turns it on and is the path of
/// the debug file.
fn parse_debug(text: &str) -> Vec<(&'static str, Value)> {
    match text.trim().to_ascii_lowercase().as_str() {
        "1" | "true" => vec![("server.debug", true.into())],
        "0" | "false" => vec![("server.debug", false.into())],
        _ => vec![("server.debug", true.into()), ("server.debug_file", text.into())],
    }
}

/// Parses `AUTH0_DOMAIN`. The issuer of an Auth0 tenant is its domain as a URL that ends with a slash.
fn parse_auth0_domain(text: &str) -> Vec<(&'static str, Value)> {
    let domain = text.trim().trim_start_matches("https://").trim_end_matches('/');
    vec![("server.oauth_issuer", format!("https://{domain}/").into())]
}

/// Parses `LOG_LEVEL`. Other programs use the same variable with upper-case names and further levels, so those are accepted.
fn parse_log_level(text: &str) -> Vec<(&'static str, Value)> {
    let level = text.trim().to_ascii_lowercase();
    let level = match level.as_str() {
        "trace" => "debug",
        "warning" => "warn",
        level => level,
    };
    vec![("server.log_level", level.into())]
}
