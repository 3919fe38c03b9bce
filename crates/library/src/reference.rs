//! How tools point at places, limit what they give, and say what to do next.

use annai_core::{JsonObject, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config;
use crate::error::LibraryError;
use crate::fs::Sha256;

/// How many characters are given where the call does not say: about 2,000 tokens, a few screens of text.
const DEFAULT_MAX_CHARS: usize = 8000;

/// A place in a manual or in the vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ref {
    /// `manual` for a file of a manual, `vault` for a file of the vault.
    pub target: Target,
    /// The id of the manual; null for the vault.
    #[serde(default)]
    pub manual_id: Option<String>,
    /// The file's path, relative to its manual or to the vault.
    pub path: String,
    /// The line, counted from 1.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub start_line: Option<u64>,
    /// A JSON Pointer into a JSON file. It is accepted and returned, but does not change what is read.
    #[serde(default)]
    pub json_path: Option<String>,
    /// The heading of the section, for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How the section matched: `heading`, `normalized`, `loose`, `exceptions`, `reference`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signals: Option<Vec<String>>,
    /// The first digits of the file's SHA-256 when the ref was made. If the file has changed since, the call fails
    /// with `conflict` instead of returning other text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rev: Option<String>,
}

/// Where a path starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    Manual,
    Vault,
}

impl Ref {
    /// The manual that it names; one into the vault is for other tools.
    pub fn manual_id(&self) -> Result<&str, ToolError> {
        match (self.target, &self.manual_id) {
            (Target::Manual, Some(id)) => Ok(id),
            (Target::Manual, None) => {
                let condition = "where ref.target is manual";
                Err(LibraryError::MissingArgument { argument: "ref.manual_id", condition }.into())
            }
            (Target::Vault, _) => {
                let problem = "expected manual here; vault_read reads the vault";
                Err(LibraryError::invalid("ref.target", problem).into())
            }
        }
    }

    /// Refuses when the file is another one than was seen.
    pub fn check_rev(&self, found: &Sha256) -> Result<(), ToolError> {
        match &self.rev {
            Some(rev) if rev.is_empty() || !found.begins_with(rev) => {
                let problem = "has changed since this ref was made (ref.rev no longer fits); find it again";
                Err(LibraryError::conflict(self.path.as_str(), problem).into())
            }
            _ => Ok(()),
        }
    }
}

/// What a call may cost.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CharLimits {
    /// The maximum number of characters to return (default 8000; the server's HARD_MAX_CHARS still applies).
    #[schemars(range(min = 1))]
    pub max_chars: Option<usize>,
}

/// The limit in force, and whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The most characters.
    pub chars: usize,
    /// Whether the server's limit is smaller than what was asked for.
    pub hard: bool,
}

impl Limit {
    /// What was asked for, within what the server allows.
    pub fn new(settings: &config::Library, asked: Option<usize>) -> Self {
        let asked = asked.unwrap_or(DEFAULT_MAX_CHARS);
        Self { chars: asked.min(settings.hard_max_chars), hard: asked > settings.hard_max_chars }
    }
}

/// A call that is worth making next.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NextAction {
    /// The name of the tool to call, or `stop`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// How certain the suggestion is, from 0 to 1.
    pub confidence: Option<f64>,
    /// The arguments to pass unchanged; null when the caller has to supply them.
    pub params: Option<JsonObject>,
}

impl NextAction {
    /// Nothing more to do.
    pub const fn stop(confidence: f64) -> Self {
        Self { kind: "stop", confidence: Some(confidence), params: None }
    }

    /// A call of a tool whose arguments only the caller can know.
    pub const fn unknown(kind: &'static str, confidence: f64) -> Self {
        Self { kind, confidence: Some(confidence), params: None }
    }

    /// A call of a tool with these arguments.
    pub fn call(kind: &'static str, confidence: f64, params: Value) -> Self {
        let params = match params {
            Value::Object(params) => Some(params),
            _ => None,
        };
        Self { kind, confidence: Some(confidence), params }
    }
}
