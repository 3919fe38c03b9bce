//! What fuzz targets expect of files that are read in pieces.

use super::stream_decoder::{CERTAIN_BYTES, StreamDecoder};
use annai_text::{Encoding, decode};

/// Decodes a file in pieces: the text and the encoding are those of the whole file.
pub fn check_pieces(bytes: &[u8], piece_bytes: usize) {
    let whole = decode(bytes.to_vec()).map(|decoded| (decoded.text, decoded.encoding));
    // A first piece of so much UTF-8 settles the encoding, whatever follows.
    let is_settled = bytes.iter().filter(|byte| !byte.is_ascii()).count() > CERTAIN_BYTES;
    if is_settled && whole.as_ref().is_none_or(|(_, encoding)| *encoding != Encoding::Utf8) {
        return;
    }
    assert_eq!(streamed(bytes, piece_bytes), whole, "{bytes:x?} in pieces of {piece_bytes}");
}

/// The text and the encoding of bytes that arrive in pieces.
pub(super) fn streamed(bytes: &[u8], piece_bytes: usize) -> Option<(String, Encoding)> {
    let (mut decoder, mut text, mut kept) = (StreamDecoder::new(bytes.len() as u64), String::new(), vec![]);
    for piece in bytes.chunks(piece_bytes).chain([&[][..]]) {
        kept.extend_from_slice(piece);
        let rest = decoder.push(&kept, piece.is_empty(), &mut |part| text.push_str(part))?;
        kept.drain(..kept.len() - rest);
    }
    let encoding = decoder.finish(&mut |part| text.push_str(part))?;
    Some((text, encoding))
}
