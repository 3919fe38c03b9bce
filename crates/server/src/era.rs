//! The protocol era of a client: MCP changed with 2026-07-28 how a client states its protocol version. All code that depends
//! on the difference uses [`Era`].

use http::HeaderMap;
use rmcp::model::{ProtocolVersion, RequestMetaObject};
use rmcp::service::{RequestContext, RoleServer};

/// The HTTP header that names the protocol version.
pub const VERSION_HEADER: &str = "mcp-protocol-version";

/// How a client states the protocol version that it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// Up to 2025-11-25: once per connection, with `initialize`.
    Handshake,
    /// From 2026-07-28: with every request, in its `_meta` and over HTTP also in a header. Every result has a `resultType`,
    /// and an HTTP client that disconnects cancels its request.
    PerRequest,
}

impl Era {
    /// The era of a version. Versions are ISO dates, so they compare as text.
    pub fn of_version(version: &str) -> Self {
        if version >= ProtocolVersion::V_2026_07_28.as_str() { Self::PerRequest } else { Self::Handshake }
    }

    /// The era of the client that made a call.
    pub fn of_context(context: &RequestContext<RoleServer>) -> Self {
        context.protocol_version().map_or(Self::Handshake, |version| Self::of_version(version.as_str()))
    }

    /// The era of an HTTP request, from its `MCP-Protocol-Version` header.
    pub fn of_headers(headers: &HeaderMap) -> Self {
        let version = headers.get(VERSION_HEADER).and_then(|version| version.to_str().ok());
        version.map_or(Self::Handshake, Self::of_version)
    }

    /// The era that a request's `_meta` declares. `None` when it names an unknown version or lacks members that its version
    /// requires; the SDK refuses such requests.
    pub fn of_meta(meta: &RequestMetaObject) -> Option<Self> {
        let Some(version) = meta.protocol_version() else { return Some(Self::Handshake) };
        let known = ProtocolVersion::KNOWN_VERSIONS.contains(&version);
        let complete = || missing_meta(meta).is_empty();
        match Self::of_version(version.as_str()) {
            Self::Handshake if known => Some(Self::Handshake),
            Self::PerRequest if known && complete() => Some(Self::PerRequest),
            _ => None,
        }
    }
}

/// The members of `_meta` that 2026-07-28 requires and this request lacks.
pub fn missing_meta(meta: &RequestMetaObject) -> Vec<&'static str> {
    meta.missing_required_keys(&ProtocolVersion::V_2026_07_28)
}

/// Whether a version is known and belongs to the handshake era.
pub fn is_known_handshake_version(version: &str) -> bool {
    ProtocolVersion::KNOWN_VERSIONS.iter().any(|known| known.as_str() == version)
        && Era::of_version(version) == Era::Handshake
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn every_version_belongs_to_an_era() {
        for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
            assert_eq!(Era::of_version(version), Era::Handshake, "{version}");
            assert!(is_known_handshake_version(version), "{version}");
        }
        assert_eq!(Era::of_version("2026-07-28"), Era::PerRequest);
        assert!(!is_known_handshake_version("2026-07-28") && !is_known_handshake_version("1999-01-01"));
    }

    #[test]
    fn a_meta_with_missing_members_or_an_unknown_version_has_no_era() {
        let of = |meta: Value| Era::of_meta(&serde_json::from_value(meta).unwrap());
        let version = "io.modelcontextprotocol/protocolVersion";
        assert_eq!(of(json!({})), Some(Era::Handshake));
        assert_eq!(of(json!({ version: "2025-06-18" })), Some(Era::Handshake));
        let complete = json!({ version: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} });
        assert_eq!(of(complete), Some(Era::PerRequest));
        assert_eq!(of(json!({ version: "2026-07-28" })), None);
        assert_eq!(of(json!({ version: "2031-01-01" })), None);
    }
}
