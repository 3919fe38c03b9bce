//! How session tokens travel between servers and clients.

/// The name of the header. Logs of proxies show queries, but no headers.
pub const SESSION_HEADER: &str = "x-session-token";
