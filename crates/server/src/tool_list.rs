//! `tools/list`, answered from the bytes that the list was serialised to once, without the SDK between.

use std::sync::Arc;

use annai_core::Identity;
use bytes::Bytes;
use rmcp::model::{ListToolsRequest, ProtocolVersion, RequestId, RequestMetaObject};
use serde_json::value::RawValue;

use crate::envelope::Envelope;
use crate::message::MOST_ID_BYTES;

/// Gives the serialised `tools` array for somebody.
pub type ToolList = Arc<dyn Fn(&Identity) -> Bytes + Send + Sync>;

/// Who asks, which decides the shape of the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Era {
    /// Up to 2025-11-25.
    Handshake,
    /// From 2026-07-28, where every result says what it is and how long it may be kept.
    PerRequest,
}

/// The id, as it was written, of a request for the list that asks for nothing special. Most are like that, and need
/// not be read any further.
pub fn plain_id(message: &Envelope) -> Option<&str> {
    let is =
        |member: &Option<Box<RawValue>>, text: &str| member.as_deref().is_some_and(|raw| raw.get() == text);
    let plain = message.is_rpc_2()
        && is(&message.method, "\"tools/list\"")
        && (message.params.is_none() || is(&message.params, "{}"));
    let id = message.id.as_deref().filter(|_| plain)?.get();
    let integer = id.len() < 19 && id.bytes().all(|byte| byte.is_ascii_digit());
    (integer || (id.starts_with('"') && id.len() <= MOST_ID_BYTES)).then_some(id)
}

/// The reply to a plain request of the handshake era.
pub fn plain_reply(id: &str, tools: &Bytes) -> Vec<u8> {
    write(id, "", tools)
}

/// The reply to `tools/list`; `None` leaves the request to the SDK, which refuses it.
pub fn reply(
    id: &RequestId,
    request: &ListToolsRequest,
    meta: &RequestMetaObject,
    tools: &Bytes,
) -> Option<Vec<u8>> {
    if request.params.as_ref().is_some_and(|params| params.cursor.is_some()) {
        return None;
    }
    let kept = match era(meta)? {
        Era::Handshake => "",
        // The list depends on who asks and changes only with a restart.
        Era::PerRequest => r#""resultType":"complete","ttlMs":0,"cacheScope":"private","#,
    };
    Some(write(&serde_json::to_string(id).ok()?, kept, tools))
}

fn write(id: &str, kept: &str, tools: &[u8]) -> Vec<u8> {
    let parts: [&[u8]; 7] = [
        b"{\"jsonrpc\":\"2.0\",\"id\":",
        id.as_bytes(),
        b",\"result\":{",
        kept.as_bytes(),
        b"\"tools\":",
        tools,
        b"}}",
    ];
    // One more for the end of the line.
    let mut reply = Vec::with_capacity(parts.iter().map(|part| part.len()).sum::<usize>() + 1);
    parts.iter().for_each(|part| reply.extend_from_slice(part));
    reply
}

fn era(meta: &RequestMetaObject) -> Option<Era> {
    let Some(version) = meta.protocol_version() else { return Some(Era::Handshake) };
    if !ProtocolVersion::KNOWN_VERSIONS.contains(&version) {
        return None;
    }
    if version.has_initialize() {
        return Some(Era::Handshake);
    }
    meta.missing_required_keys(&version).is_empty().then_some(Era::PerRequest)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn ask(meta: Value) -> Option<Value> {
        let meta: RequestMetaObject = serde_json::from_value(meta).unwrap();
        let tools = Bytes::from_static(br#"[{"name":"a"}]"#);
        let id = RequestId::String("\"odd\"".into());
        let reply = reply(&id, &ListToolsRequest::default(), &meta, &tools)?;
        Some(serde_json::from_slice(&reply).unwrap())
    }

    #[test]
    fn the_list_has_the_shape_of_the_version() {
        let tools = json!([{ "name": "a" }]);
        assert_eq!(
            ask(json!({})),
            Some(json!({ "jsonrpc": "2.0", "id": "\"odd\"", "result": { "tools": tools } }))
        );
        let modern = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let result = json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": tools });
        assert_eq!(ask(modern).unwrap()["result"], result);
    }

    #[test]
    fn plain_requests_are_known_by_their_text() {
        let id = |text: &str| match crate::envelope::parse(text.as_bytes()).unwrap() {
            crate::envelope::Json::Object(message) => plain_id(&message).map(str::to_owned),
            _ => None,
        };
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#).as_deref(), Some("7"));
        assert_eq!(
            id(r#"{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{}}"#).as_deref(),
            Some("\"a\"")
        );
        for other in [
            r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}"#,
            r#"{"id":1,"method":"tools/list"}"#,
        ] {
            assert_eq!(id(other), None, "{other}");
        }
    }

    #[test]
    fn what_the_sdk_refuses_is_left_to_it() {
        assert_eq!(ask(json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" })), None);
        assert_eq!(ask(json!({ "io.modelcontextprotocol/protocolVersion": "2031-01-01" })), None);
    }
}
