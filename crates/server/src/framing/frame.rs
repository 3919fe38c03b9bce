//! What the decoder returns.

use crate::envelope::Json;

/// How messages are delimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// One JSON message per line.
    Lines,
    /// A header block with `Content-Length: N`, a blank line, and N bytes.
    Headers,
}

/// One result of the decoder.
#[derive(Debug)]
pub enum Frame {
    /// A complete JSON value and its size in bytes. It need not be a valid JSON-RPC message.
    Message(Json, usize),
    /// Invalid input, to be answered with an error.
    Invalid(FrameError),
}

/// Why input is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameError {
    /// Invalid JSON, invalid UTF-8, or an invalid header block; the text says which.
    Unreadable(String),
    /// A message above the size limit.
    TooLong,
}
