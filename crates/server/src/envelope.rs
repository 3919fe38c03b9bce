//! The outside of a JSON-RPC message: its members, their values not looked into yet.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A JSON text that arrived.
#[derive(Debug)]
pub enum Json {
    /// An object, which may be a message.
    Object(Envelope),
    /// An array, which JSON-RPC calls a batch.
    Batch,
    /// Anything else that is JSON.
    Other,
}

/// The members of a JSON-RPC message, as they were written.
#[derive(Debug, Deserialize)]
pub struct Envelope {
    /// Must be `"2.0"`.
    #[serde(default, deserialize_with = "present")]
    pub jsonrpc: Option<Box<RawValue>>,
    /// What the answer refers to.
    #[serde(default, deserialize_with = "present")]
    pub id: Option<Box<RawValue>>,
    /// What is asked.
    #[serde(default, deserialize_with = "present")]
    pub method: Option<Box<RawValue>>,
    /// With which parameters.
    #[serde(default, deserialize_with = "present")]
    pub params: Option<Box<RawValue>>,
    /// A reply's result.
    #[serde(default, deserialize_with = "present")]
    pub result: Option<Box<RawValue>>,
    /// A reply's error.
    #[serde(default, deserialize_with = "present")]
    pub error: Option<Box<RawValue>>,
}

/// A member that is there, if only as `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

impl Envelope {
    /// Whether it says that it is JSON-RPC 2.0.
    #[must_use]
    pub fn is_rpc_2(&self) -> bool {
        self.jsonrpc.as_deref().is_some_and(|version| version.get() == "\"2.0\"")
    }

    /// Whether it is a reply to a message of ours.
    #[must_use]
    pub const fn is_reply(&self) -> bool {
        self.result.is_some() || self.error.is_some()
    }
}

/// Reads a JSON text; the error says why it is none.
pub fn parse(bytes: &[u8]) -> Result<Json, String> {
    let text =
        std::str::from_utf8(bytes).map_err(|error| format!("not UTF-8 at byte {}", error.valid_up_to()))?;
    let parsed = match text.trim_start().as_bytes().first() {
        Some(b'{') => serde_json::from_str(text).map(Json::Object),
        Some(b'[') => serde_json::from_str(text).map(|IgnoredAny| Json::Batch),
        _ => serde_json::from_str(text).map(|IgnoredAny| Json::Other),
    };
    parsed.or_else(|error| {
        // JSON, but with a member twice.
        if error.is_data() { Ok(Json::Other) } else { Err(format!("not JSON: {error}")) }
    })
}
