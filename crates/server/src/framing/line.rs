//! What a line of input is that starts where no message is expected.

use crate::envelope::Json;

/// What a line is that starts where no message is expected.
pub(super) enum Line {
    /// A complete JSON-RPC message, and the position at which it ends.
    Message(Json, usize),
    /// A `Content-Length` header, and the position at which it starts.
    Header(usize),
    /// Neither: part of a body, or garbage.
    Other,
}

/// The kind of a line.
#[derive(Clone, Copy)]
pub(super) enum LineKind {
    Message,
    Header,
    Other,
}

impl Line {
    /// What it is, without its content.
    pub(super) const fn kind(&self) -> LineKind {
        match self {
            Self::Message(..) => LineKind::Message,
            Self::Header(_) => LineKind::Header,
            Self::Other => LineKind::Other,
        }
    }
}

/// Whether a JSON value is a JSON-RPC message.
pub(super) fn looks_like_rpc(json: &Json) -> bool {
    matches!(json, Json::Object(message) if message.is_rpc_2() && (message.method.is_some() || message.is_reply()))
}
