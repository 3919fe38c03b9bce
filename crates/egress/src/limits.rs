//! The limits of what a request may contain.

/// The maximum length of a URL, which common servers accept. A longer one is refused.
pub const MAX_URL_BYTES: usize = 2048;
/// The maximum number of headers; as for the other lists of the services. More are refused.
pub const MAX_HEADERS: usize = 50;
/// The maximum size of all names and values of headers together. Common servers refuse larger ones, and so does this
/// program.
pub const MAX_HEADER_BYTES: usize = 16 * 1024;
/// The maximum length of an idempotency key; as for the keys that this program accepts. A longer one is refused.
pub const MAX_KEY_BYTES: usize = 255;
