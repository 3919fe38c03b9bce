//! From the bytes of a file to its text.

mod decoder;
mod plausibility;

pub use decoder::{
    AsciiStart, DecodedText, Encoding, decode, decode_after_ascii, has_japanese_escape, looks_like_utf8,
    strip_utf8_bom,
};
