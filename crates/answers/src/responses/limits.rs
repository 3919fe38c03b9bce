//! The limits of a response.

use annai_core::json::MAX_JSON_VALUES;

use super::failure::{FailureKind, RequestFailure};

/// The maximum size of a response, in bytes; as in `openai-responses-mcp`. A larger response is an error.
pub const MAX_RESPONSE_BYTES: usize = 8 << 20;

/// The failure for a response that exceeds a limit.
pub fn too_large() -> RequestFailure {
    let megabytes = MAX_RESPONSE_BYTES >> 20;
    let summary = format!("the API's reply is larger than {megabytes} MiB or {MAX_JSON_VALUES} values");
    RequestFailure::new(FailureKind::InvalidResponse, summary)
}
