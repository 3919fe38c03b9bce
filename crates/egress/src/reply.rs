//! Reads a reply within the limits, and makes sure that it is complete.

use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, HeaderMap, HeaderName, TRANSFER_ENCODING};

use crate::error::EgressError;

/// A complete reply with a status of 2xx.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The status, from 200 to 299.
    pub status: u16,
    /// The body, unchanged. A body that is not UTF-8 is an error, because as text it would have to be changed.
    pub text: String,
}

/// Whether the end of a connection proves that a reply is complete.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionEnd {
    /// TLS announces the end of a connection, and its absence is an error.
    Announced,
    /// An end of TCP looks the same whether the reply is complete or the upstream crashed.
    Ambiguous,
}

/// Reads a reply of at most `max_bytes` bytes.
pub(crate) async fn read_reply(
    mut response: Response,
    max_bytes: usize,
    connection_end: ConnectionEnd,
) -> Result<Reply, EgressError> {
    let status = response.status();
    if !status.is_success() {
        return Err(EgressError::Status(status.as_u16()));
    }
    if is_encoded(response.headers()) {
        return Err(EgressError::NotText);
    }
    let too_large = || EgressError::TooLarge { limit: max_bytes };
    let length = response.content_length();
    if length.is_some_and(|length| length > max_bytes as u64) {
        return Err(too_large());
    }
    let is_chunked = response.headers().contains_key(TRANSFER_ENCODING);
    if length.is_none() && connection_end == ConnectionEnd::Ambiguous && !is_chunked {
        return Err(EgressError::Incomplete("the reply has neither a length nor chunks".into()));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(EgressError::from_body)? {
        if chunk.len() > max_bytes - body.len() {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
    }
    let text = String::from_utf8(body).map_err(|_| EgressError::NotText)?;
    Ok(Reply { status: status.as_u16(), text })
}

/// Whether the body is compressed. This is never asked for, so that no small reply can become a huge one.
fn is_encoded(headers: &HeaderMap) -> bool {
    let has_other = |name: HeaderName, plain: &[u8]| {
        headers.get_all(name).iter().any(|value| !value.as_bytes().eq_ignore_ascii_case(plain))
    };
    has_other(CONTENT_ENCODING, b"identity") || has_other(TRANSFER_ENCODING, b"chunked")
}
