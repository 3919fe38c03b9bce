//! Answers `tools/list` from bytes that were serialized once, for both transports. Requests that need an error (a cursor, an
//! unknown version, contradicting headers) are left to the SDK.

use std::sync::Arc;

use annai_core::json::has_too_many_values;
use annai_core::{Identity, Registry};
use bytes::Bytes;
use rmcp::model::RequestMetaObject;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::envelope::Envelope;
use crate::era::Era;
use crate::message::MAX_ID_BYTES;

/// Returns the serialized `tools` array of a registry for a caller.
pub type ToolList = Arc<dyn Fn(&Registry, &Identity) -> Bytes + Send + Sync>;

/// What follows the list in a reply.
const AFTER_TOOLS: &[u8] = b"}}";

/// A `tools/list` request.
#[derive(Debug)]
pub struct ListRequest<'a> {
    /// Its id, exactly as the client wrote it.
    pub id: &'a str,
    /// Its `_meta`.
    pub meta: RequestMetaObject,
    era: Era,
}

/// The parameters of a request that is answered here. Others, and a `_meta` that is not an object, take the usual way.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    #[serde(rename = "_meta", default)]
    meta: RequestMetaObject,
}

impl<'a> ListRequest<'a> {
    /// Recognizes a `tools/list` request that can be answered here; `None` for every other message.
    pub fn read(message: &'a Envelope) -> Option<Self> {
        let is_list = message.method.as_deref().is_some_and(|method| method.get() == "\"tools/list\"");
        if !is_list || !message.is_rpc_2() {
            return None;
        }
        let id = message.id.as_deref().map(RawValue::get).filter(|id| is_plain_id(id))?;
        let meta = match message.params.as_deref().map(RawValue::get) {
            None | Some("{}" | "null") => RequestMetaObject::default(),
            // serde would also read `Params` from an array, which MCP does not allow.
            Some(params) if !params.starts_with('{') || has_too_many_values(params.as_bytes()) => {
                return None;
            }
            Some(params) => serde_json::from_str::<Params>(params).ok()?.meta,
        };
        let era = Era::of_meta(&meta)?;
        Some(Self { id, meta, era })
    }

    /// The protocol era of the client.
    pub const fn era(&self) -> Era {
        self.era
    }

    /// The reply with this serialized `tools` array, in one piece.
    pub fn reply(&self, tools: &[u8]) -> Vec<u8> {
        let before = self.before_tools();
        // One byte more, for the line break that the stdio transport appends.
        let mut reply = Vec::with_capacity(before.len() + tools.len() + AFTER_TOOLS.len() + 1);
        [before.as_slice(), tools, AFTER_TOOLS].iter().for_each(|part| reply.extend_from_slice(part));
        reply
    }

    /// The same in pieces. The list itself is not copied: all replies that wait to be read share it.
    pub fn reply_in_pieces(&self, tools: Bytes) -> [Bytes; 3] {
        [self.before_tools().into(), tools, Bytes::from_static(AFTER_TOOLS)]
    }

    /// What precedes the list in the reply.
    fn before_tools(&self) -> Vec<u8> {
        let era_fields: &[u8] = match self.era {
            Era::Handshake => b"",
            // 2026-07-28 requires these. The list depends on the caller, so shared caches must not keep it.
            Era::PerRequest => br#""resultType":"complete","ttlMs":0,"cacheScope":"private","#,
        };
        let id = self.id.as_bytes();
        [b"{\"jsonrpc\":\"2.0\",\"id\":", id, b",\"result\":{", era_fields, b"\"tools\":"].concat()
    }
}

/// Whether an id can be copied into the reply unchanged: an integer, or a string within the length limit.
fn is_plain_id(id: &str) -> bool {
    let digits = id.strip_prefix('-').unwrap_or(id);
    let integer = !digits.is_empty()
        && id != "-0"
        && digits.len() < 19
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    integer || (id.starts_with('"') && id.len() <= MAX_ID_BYTES)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::envelope::{Json, parse};

    fn answer(request: &str) -> Option<Value> {
        let Json::Object(message) = parse(request.as_bytes()).unwrap() else { return None };
        let request = ListRequest::read(&message)?;
        let tools = Bytes::from_static(br#"[{"name":"a"}]"#);
        let reply = request.reply(&tools);
        assert_eq!(request.reply_in_pieces(tools).concat(), reply);
        Some(serde_json::from_slice(&reply).unwrap())
    }

    fn with_meta(meta: &Value) -> String {
        json!({ "jsonrpc": "2.0", "id": "\"odd\"", "method": "tools/list", "params": { "_meta": meta } })
            .to_string()
    }

    #[test]
    fn the_reply_has_the_fields_of_the_protocol_era() {
        let tools = json!([{ "name": "a" }]);
        let plain = json!({ "jsonrpc": "2.0", "id": "\"odd\"", "result": { "tools": tools } });
        assert_eq!(answer(&with_meta(&json!({}))), Some(plain));
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let result = json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": tools });
        assert_eq!(answer(&with_meta(&meta)).unwrap()["result"], result);
    }

    #[test]
    fn ids_are_copied_into_the_reply_unchanged() {
        for id in ["7", "-7", "\"a\"", "\"\\u00e9\""] {
            for params in ["", ",\"params\":{}", ",\"params\":null", ",\"params\":{\"_meta\":{}}"] {
                let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"{params}}}"#);
                let expected: Value = serde_json::from_str(id).unwrap();
                assert_eq!(answer(&request).unwrap()["id"], expected, "{request}");
            }
        }
    }

    #[test]
    fn other_messages_are_not_answered_here() {
        for request in [
            r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[null,null]}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":5}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":null}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"other":1}}"#,
            r#"{"jsonrpc":"2.0","id":-0,"method":"tools/list"}"#,
            r#"{"id":1,"method":"tools/list"}"#,
            &with_meta(&json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" })),
            &with_meta(&json!({ "io.modelcontextprotocol/protocolVersion": "2031-01-01" })),
        ] {
            assert_eq!(answer(request), None, "{request}");
        }
    }
}
