//! The envelope of a JSON-RPC message: its members, whose values are not parsed yet.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A received JSON value.
#[derive(Debug)]
pub enum Json {
    /// An object, which may be a JSON-RPC message.
    Object(Envelope),
    /// An array, which JSON-RPC calls a batch.
    Batch,
    /// Any other JSON, or an object with duplicate members.
    Other,
}

/// The members of a JSON-RPC message, as the client wrote them.
#[derive(Debug, Deserialize)]
pub struct Envelope {
    /// Must be `"2.0"`.
    #[serde(default, deserialize_with = "present")]
    pub jsonrpc: Option<Box<RawValue>>,
    /// The id of a request or reply; notifications have none.
    #[serde(default, deserialize_with = "present")]
    pub id: Option<Box<RawValue>>,
    /// The method of a request or notification.
    #[serde(default, deserialize_with = "present")]
    pub method: Option<Box<RawValue>>,
    /// The parameters of a request or notification.
    #[serde(default, deserialize_with = "present")]
    pub params: Option<Box<RawValue>>,
    /// The result of a successful reply.
    #[serde(default, deserialize_with = "present")]
    pub result: Option<Box<RawValue>>,
    /// The error of a failed reply.
    #[serde(default, deserialize_with = "present")]
    pub error: Option<Box<RawValue>>,
}

/// Tells a member that is `null` from one that is absent.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

impl Envelope {
    /// Whether `jsonrpc` is `"2.0"`.
    #[must_use]
    pub fn is_rpc_2(&self) -> bool {
        self.jsonrpc.as_deref().is_some_and(|version| version.get() == "\"2.0\"")
    }

    /// Whether it is a reply to a request of this server.
    #[must_use]
    pub const fn is_reply(&self) -> bool {
        self.result.is_some() || self.error.is_some()
    }
}

/// Parses JSON; the error says why it is not valid.
pub fn parse(bytes: &[u8]) -> Result<Json, String> {
    let text =
        std::str::from_utf8(bytes).map_err(|error| format!("not UTF-8 at byte {}", error.valid_up_to()))?;
    let parsed = match text.trim_start().as_bytes().first() {
        Some(b'{') => serde_json::from_str(text).map(Json::Object),
        Some(b'[') => serde_json::from_str(text).map(|IgnoredAny| Json::Batch),
        _ => serde_json::from_str(text).map(|IgnoredAny| Json::Other),
    };
    parsed.or_else(|error| {
        // An object with duplicate members is JSON, but the parser stops at the second one, and has not seen the rest.
        match serde_json::from_str(text) {
            Ok(IgnoredAny) if error.is_data() => Ok(Json::Other),
            Ok(IgnoredAny) => Err(format!("not JSON: {error}")),
            Err(error) => Err(format!("not JSON: {error}")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_with_duplicate_members_is_json_if_all_of_it_is() {
        assert!(matches!(parse(br#"{"id":1,"id":2}"#), Ok(Json::Other)));
        assert!(matches!(parse(br#"{"id":1,"\u0069d":[2]} "#), Ok(Json::Other)));
        for cut in [r#"{"id":1,"id""#, r#"{"id":1,"id":2"#, r#"{"id":1,"id":2}}"#] {
            assert!(parse(cut.as_bytes()).is_err(), "{cut}");
        }
    }
}
