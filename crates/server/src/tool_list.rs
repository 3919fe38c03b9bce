//! `tools/list`, answered from the bytes that the list was serialised to once, without the SDK between.

use std::sync::Arc;

use annai_core::Identity;
use bytes::Bytes;
use rmcp::model::{ListToolsRequest, ProtocolVersion, RequestId, RequestMetaObject};

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
    let id = serde_json::to_string(id).ok()?;
    let parts: [&[u8]; 6] = [
        b"{\"jsonrpc\":\"2.0\",\"id\":",
        id.as_bytes(),
        b",\"result\":{",
        kept.as_bytes(),
        b"\"tools\":",
        tools,
    ];
    let mut reply = Vec::with_capacity(parts.iter().map(|part| part.len()).sum::<usize>() + 3);
    parts.iter().for_each(|part| reply.extend_from_slice(part));
    reply.extend_from_slice(b"}}");
    Some(reply)
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
    fn what_the_sdk_refuses_is_left_to_it() {
        assert_eq!(ask(json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" })), None);
        assert_eq!(ask(json!({ "io.modelcontextprotocol/protocolVersion": "2031-01-01" })), None);
    }
}
