//! The clients: where each keeps its servers, and in which form. docs/clients.md says where this is documented.

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use super::server::{SERVER_NAME, Server};
use crate::environment;

/// The id of the question for the API key that VS Code asks its user.
pub(super) const INPUT_ID: &str = "annai-openai-key";
/// What stands for the API key where a client can neither ask for it nor read it from the environment.
pub(super) const KEY_PLACEHOLDER: &str = "YOUR-OPENAI-KEY";

/// The clients for which there are instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "kebab-case")]
pub(in super::super) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    Vscode,
    Codex,
    GeminiCli,
    Zed,
    Windsurf,
    Chatgpt,
}

/// How a client gets the API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeySource {
    /// It replaces a reference in its settings by the environment variable of its own process.
    Environment,
    /// It asks its user once, and keeps the answer in the system's key store.
    Question,
    /// The key itself stands in the settings.
    Settings,
}

impl Client {
    /// The name on the command line.
    pub(super) fn id(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// What people call it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::Vscode => "VS Code",
            Self::Codex => "Codex",
            Self::GeminiCli => "Gemini CLI",
            Self::Zed => "Zed",
            Self::Windsurf => "Windsurf",
            Self::Chatgpt => "ChatGPT",
        }
    }

    /// The file with the servers of this user; `None` for a client that has none, or without a home folder.
    pub(super) fn file(self) -> Option<PathBuf> {
        let home = environment::folder("HOME")?;
        let (is_macos, is_windows) = (cfg!(target_os = "macos"), cfg!(windows));
        let (variable, folder) =
            if is_windows { ("APPDATA", "AppData/Roaming") } else { ("XDG_CONFIG_HOME", ".config") };
        let config = || environment::folder(variable).unwrap_or_else(|| home.join(folder));
        let support = || if is_macos { home.join("Library/Application Support") } else { config() };
        Some(match self {
            Self::ClaudeCode => {
                environment::folder("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.clone()).join(".claude.json")
            }
            Self::ClaudeDesktop => support().join("Claude/claude_desktop_config.json"),
            Self::Cursor => home.join(".cursor/mcp.json"),
            Self::Vscode => support().join("Code/User/mcp.json"),
            Self::Codex => {
                environment::folder("CODEX_HOME").unwrap_or_else(|| home.join(".codex")).join("config.toml")
            }
            Self::GeminiCli => home.join(".gemini/settings.json"),
            Self::Zed if is_macos => home.join(".config/zed/settings.json"),
            Self::Zed => config().join(if is_windows { "Zed/settings.json" } else { "zed/settings.json" }),
            Self::Windsurf => home.join(".codeium/windsurf/mcp_config.json"),
            Self::Chatgpt => return None,
        })
    }

    /// The member of the JSON settings that contains the servers.
    pub(super) const fn servers_key(self) -> &'static str {
        match self {
            Self::Vscode => "servers",
            Self::Zed => "context_servers",
            _ => "mcpServers",
        }
    }

    /// How the client gets the API key.
    pub(super) const fn key_source(self) -> KeySource {
        match self {
            Self::Vscode => KeySource::Question,
            Self::ClaudeDesktop | Self::Zed => KeySource::Settings,
            _ => KeySource::Environment,
        }
    }

    /// What stands in the JSON settings for the value of an environment variable.
    pub(super) fn key_reference(self, variable: &str) -> String {
        match self {
            Self::Vscode => format!("${{input:{INPUT_ID}}}"),
            Self::ClaudeCode => format!("${{{variable}}}"),
            Self::GeminiCli => format!("${variable}"),
            Self::Cursor | Self::Windsurf => format!("${{env:{variable}}}"),
            _ => KEY_PLACEHOLDER.to_owned(),
        }
    }

    /// The entry of the server in the JSON settings.
    pub(super) fn entry(self, server: &Server) -> Value {
        let mut entry = Map::new();
        let mut add = |key: &str, value: Value| entry.insert(key.to_owned(), value);
        if matches!(self, Self::ClaudeCode | Self::Cursor | Self::Vscode) {
            add("type", "stdio".into());
        }
        add("command", server.program.clone().into());
        add("args", server.arguments.clone().into());
        if let Some(variable) = &server.key_variable {
            add("env", json!({ variable.as_str(): self.key_reference(variable) }));
        }
        Value::Object(entry)
    }

    /// The question that VS Code asks its user, if the server needs a key.
    pub(super) fn question(self, server: &Server) -> Option<Value> {
        let asks = self.key_source() == KeySource::Question && server.key_variable.is_some();
        asks.then(|| {
            json!({ "type": "promptString", "id": INPUT_ID, "description": "OpenAI API key for Annai", "password": true })
        })
    }

    /// The whole settings with nothing but the server, ready to paste.
    pub(super) fn snippet(self, server: &Server) -> Value {
        let question = self.question(server).map(|question| ("inputs".to_owned(), json!([question])));
        let servers = (self.servers_key().to_owned(), json!({ SERVER_NAME: self.entry(server) }));
        Value::Object(question.into_iter().chain([servers]).collect())
    }
}
