//! What the tools share on the wire: refs to places, character limits and suggested next actions.

use annai_core::{Call, JsonObject, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use annai_files::LibraryError;
use annai_files::fs::Sha256;

/// The default maximum number of characters of a reply: about 2,000 tokens, a few screens of text.
const DEFAULT_MAX_CHARS: usize = 8000;

/// A place in a manual or in the vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ref {
    /// `manual` for a file of a manual, `vault` for a file of the vault.
    pub target: Target,
    /// The id of the manual; absent for the vault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manual_id: Option<String>,
    /// The file's path, relative to its manual or to the vault.
    pub path: String,
    /// The line, counted from 1 (default 1).
    #[serde(default)]
    #[schemars(range(min = 1), extend("default" = 1))]
    pub start_line: Option<u64>,
    /// How many characters of that line come before the place (default 0). A place inside a long line has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = 0))]
    pub char: Option<u64>,
    /// A JSON Pointer to a value of a JSON file (RFC 6901). With scope `snippet`, that value is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json_path: Option<String>,
    /// The heading of the section, for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The titles of the enclosing sections from the top of the file down to this one, for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading_path: Option<Vec<String>>,
    /// The character encoding of the file, when it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
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
#[expect(missing_docs, reason = "the comment of a variant would be published, and the names say it")]
pub enum Target {
    Manual,
    Vault,
}

impl Ref {
    /// A ref to a file, or to a line of it.
    pub const fn new(
        target: Target,
        manual_id: Option<String>,
        path: String,
        start_line: Option<u64>,
    ) -> Self {
        Self {
            target,
            manual_id,
            path,
            start_line,
            char: None,
            json_path: None,
            title: None,
            heading_path: None,
            encoding: None,
            signals: None,
            rev: None,
        }
    }

    /// The id of its manual. A ref to the vault is an error.
    pub fn manual_id(&self) -> Result<&str, ToolError> {
        match (self.target, &self.manual_id) {
            (Target::Manual, Some(id)) => Ok(id),
            (Target::Manual, None) => {
                let condition = "when ref.target is manual";
                Err(LibraryError::MissingArgument { argument: "ref.manual_id", condition }.into())
            }
            (Target::Vault, _) => {
                let problem = "expected manual here; vault_read reads the vault";
                Err(LibraryError::invalid("ref.target", problem).into())
            }
        }
    }

    /// Refuses a file that has changed since the ref was made.
    pub fn check_rev(&self, found: &Sha256) -> Result<(), ToolError> {
        match &self.rev {
            Some(rev) if rev.is_empty() || !found.begins_with(rev) => {
                let problem = "has changed since this ref was made (ref.rev does not match); search again";
                Err(LibraryError::conflict(self.path.as_str(), problem).into())
            }
            _ => Ok(()),
        }
    }
}

/// The limits of a call.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CharLimits {
    /// The maximum number of characters to return (default 8000; the server's HARD_MAX_CHARS, 20000, always applies).
    #[schemars(range(min = 1), extend("default" = 8000))]
    pub max_chars: Option<usize>,
}

/// The maximum number of characters that applies, and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CharLimit {
    /// The maximum number of characters to return (default 8000; the server's HARD_MAX_CHARS, 20000, always applies).
    pub max_chars: usize,
    /// Whether the server allows fewer characters than the call requested.
    pub is_server_limit: bool,
}

impl CharLimit {
    /// The requested maximum, or the default, within what the server allows.
    pub fn new(requested: Option<usize>, hard_max_chars: usize) -> Self {
        let requested = requested.unwrap_or(DEFAULT_MAX_CHARS);
        let max_chars = requested.min(hard_max_chars);
        Self { max_chars, is_server_limit: requested > hard_max_chars }
    }
}

/// A suggested next call.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NextAction {
    /// The name of the tool to call, or `stop`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// How certain the suggestion is, from 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub confidence: Option<f64>,
    /// The arguments to pass unchanged; null when the caller has to supply them.
    pub params: Option<JsonObject>,
    /// What the caller has to supply; absent when `params` are complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
}

impl NextAction {
    /// Nothing is left to do.
    pub const fn stop(confidence: f64) -> Self {
        Self { kind: "stop", confidence: Some(confidence), params: None, note: None }
    }

    /// A call of a tool whose arguments only the caller knows.
    pub const fn without_params(kind: &'static str, confidence: f64) -> Self {
        Self { kind, confidence: Some(confidence), params: None, note: None }
    }

    /// A call of a tool of whose arguments only the caller knows some, which the note names.
    pub const fn to_complete(kind: &'static str, confidence: f64, note: &'static str) -> Self {
        Self { kind, confidence: Some(confidence), params: None, note: Some(note) }
    }

    /// The actions whose tools are served to this caller: the others could not be followed.
    pub fn served(actions: Vec<Self>, call: &Call) -> Vec<Self> {
        let Some(registry) = call.registry() else { return actions };
        let is_served = |action: &Self| action.kind == "stop" || registry.get(action.kind).is_some();
        actions.into_iter().filter(is_served).collect()
    }

    /// A call of a tool with these arguments, which must be a JSON object.
    pub fn call(kind: &'static str, confidence: f64, params: Value) -> Self {
        let params = match params {
            Value::Object(params) => Some(params),
            _ => None,
        };
        Self { kind, confidence: Some(confidence), params, note: None }
    }
}

#[cfg(test)]
mod tests {
    use annai_core::ErrorKind;
    use serde_json::json;

    use super::*;

    fn reference(value: Value) -> Ref {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn only_a_ref_to_a_manual_has_a_manual_id() {
        let manual = reference(json!({ "target": "manual", "manual_id": "m", "path": "a.md" }));
        assert_eq!(manual.manual_id().unwrap(), "m");
        for value in [
            json!({ "target": "manual", "path": "a.md" }),
            json!({ "target": "vault", "path": "a.md" }),
            json!({ "target": "vault", "manual_id": "m", "path": "a.md" }),
        ] {
            let error = reference(value.clone()).manual_id().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{value}");
        }
    }

    #[test]
    fn a_ref_with_another_rev_is_a_conflict() {
        let found = Sha256::of(b"abc");
        for (rev, fits) in [("ba7816", true), ("BA78", true), ("ba7817", false), ("", false)] {
            let value = json!({ "target": "manual", "manual_id": "m", "path": "a.md", "rev": rev });
            assert_eq!(reference(value).check_rev(&found).is_ok(), fits, "{rev}");
        }
        assert!(reference(json!({ "target": "vault", "path": "a.md" })).check_rev(&found).is_ok());
    }

    #[test]
    fn the_server_limits_what_a_call_requests() {
        for (requested, max_chars, is_server_limit) in
            [(None, 8000, false), (Some(10), 10, false), (Some(9000), 9000, false), (Some(9001), 9000, true)]
        {
            assert_eq!(CharLimit::new(requested, 9000), CharLimit { max_chars, is_server_limit });
        }
    }

    #[test]
    fn params_of_a_next_action_are_an_object() {
        let action = NextAction::call("vault_scan", 0.5, json!({ "path": "a" }));
        assert_eq!(
            serde_json::to_value(action).unwrap(),
            json!({ "type": "vault_scan", "confidence": 0.5, "params": { "path": "a" } })
        );
        assert_eq!(NextAction::call("x", 0.5, json!([])).params, None);
    }
}
