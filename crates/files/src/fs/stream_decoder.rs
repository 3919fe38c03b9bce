//! Decodes a text file that arrives in pieces.

use annai_text::{AsciiStart, Encoding, decode, decode_after_ascii, has_japanese_escape, strip_utf8_bom};

/// The maximum size of a file in another encoding than UTF-8 that is read in pieces, because it is decoded as a whole. A
/// larger one is refused.
const MAX_DECODED_BYTES: u64 = 64 << 20;
/// The number of bytes of valid UTF-8 beyond ASCII after which a file is taken for UTF-8, and its text is passed on without
/// waiting for the end. Fewer would not do: a text in another encoding may begin with characters that are also valid UTF-8.
pub(super) const CERTAIN_BYTES: usize = 96;

/// Decodes a file that arrives in pieces. As long as only ASCII has arrived, and as soon as UTF-8 is certain, text is passed
/// on at once; otherwise the rest of the file is collected and decoded as a whole.
pub struct StreamDecoder {
    state: StreamState,
    /// Whether the file is small enough to be collected.
    can_collect: bool,
}

enum StreamState {
    /// Nothing has arrived.
    Start,
    /// Everything so far is ASCII, which is the same in all encodings but UTF-16.
    Ascii(AsciiStart),
    Utf8,
    /// The bytes after the ASCII part; none where they are the whole file.
    Collecting(Vec<u8>, Option<AsciiStart>),
}

impl StreamDecoder {
    /// A decoder that has seen nothing of a file of this size.
    pub const fn new(file_size: u64) -> Self {
        Self { state: StreamState::Start, can_collect: file_size <= MAX_DECODED_BYTES }
    }

    /// Passes the text of a piece on, and returns how many bytes at its end are to be given again with the next piece;
    /// `None` when the bytes are not text.
    pub fn push(&mut self, mut bytes: &[u8], is_last: bool, piece: &mut dyn FnMut(&str)) -> Option<usize> {
        let start = match &mut self.state {
            StreamState::Utf8 => return pass_on(bytes, is_last, piece),
            StreamState::Collecting(collected, _) => {
                collected.extend_from_slice(bytes);
                return Some(0);
            }
            StreamState::Start => None,
            StreamState::Ascii(start) => Some(*start),
        };
        let (rest, has_bom) = strip_utf8_bom(bytes);
        if start.is_none() && has_bom {
            bytes = rest;
            self.state = StreamState::Utf8;
        } else if bytes.is_ascii() && !has_escape(bytes) {
            let mut start = start.unwrap_or_default();
            start.add(bytes);
            self.state = StreamState::Ascii(start);
        } else if is_certainly_utf8(bytes) {
            self.state = StreamState::Utf8;
        } else if self.can_collect {
            self.state = StreamState::Collecting(bytes.to_vec(), start);
            return Some(0);
        } else if has_japanese_escape(bytes) {
            return None;
        } else {
            self.state = StreamState::Utf8;
        }
        pass_on(bytes, is_last, piece)
    }

    /// Passes on what was collected, and returns the encoding.
    pub fn finish(self, piece: &mut dyn FnMut(&str)) -> Option<Encoding> {
        let StreamState::Collecting(bytes, start) = self.state else { return Some(Encoding::Utf8) };
        let decoded = match start {
            Some(start) => decode_after_ascii(start, bytes),
            None => decode(bytes),
        }?;
        if !decoded.text.is_empty() {
            piece(&decoded.text);
        }
        Some(decoded.encoding)
    }
}

/// Passes on the text of a piece that is UTF-8, and returns how many bytes are left; `None` when it is not.
fn pass_on(bytes: &[u8], is_last: bool, piece: &mut dyn FnMut(&str)) -> Option<usize> {
    if bytes.contains(&0) {
        return None;
    }
    let (text, rest) = split_utf8(bytes).filter(|(_, rest)| !is_last || rest.is_empty())?;
    if !text.is_empty() {
        piece(text);
    }
    Some(rest.len())
}

/// Whether the first piece of a file that is not ASCII settles that it is UTF-8.
fn is_certainly_utf8(bytes: &[u8]) -> bool {
    bytes.iter().filter(|byte| !byte.is_ascii()).nth(CERTAIN_BYTES).is_some() && split_utf8(bytes).is_some()
}

/// Whether there is an escape character, with which ISO-2022-JP begins everything that is not ASCII.
fn has_escape(bytes: &[u8]) -> bool {
    bytes.contains(&0x1b)
}

/// Splits bytes into valid text and an incomplete character at the end; `None` when they are not UTF-8.
pub fn split_utf8(bytes: &[u8]) -> Option<(&str, &[u8])> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some((text, &[])),
        Err(error) if error.error_len().is_none() => {
            let (text, rest) = bytes.split_at(error.valid_up_to());
            Some((std::str::from_utf8(text).ok()?, rest))
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fuzzing::streamed;
    use super::*;

    #[test]
    fn an_incomplete_last_character_is_split_off_and_invalid_bytes_are_refused() {
        let bytes = "aあ".as_bytes();
        assert_eq!(split_utf8(&bytes[..2]), Some(("a", &bytes[1..2])));
        assert_eq!(split_utf8(bytes), Some(("aあ", &[][..])));
        assert_eq!(split_utf8(b"a\xffb"), None);
    }

    #[test]
    fn text_in_pieces_is_decoded_as_text_in_one_piece() {
        let sjis = b"plain text first\n\x91\xce\x8f\xdb\x8aO\x82\xc5\x82\xa0\x82\xe9\n";
        let jis = b"plain text first\n\x1b$BBP>]30\x1b(B\n";
        let utf8 = "plain text first\n対象外である。".repeat(9);
        for bytes in [
            &sjis[..],
            jis,
            utf8.as_bytes(),
            b"\xef\xbb\xbfmarked \xe3\x81\x82",
            b"\xff\xfea\0b\0",
            b"plain\x1b[1m",
            b"",
            b"caf\xe9",
            b"a\0b",
            b"abc\xe3\x81",
            // The ASCII text before it decides, too, whether it is Japanese.
            b"\x1f  \xdf\xdf\xdf\xea\xbd\xd0",
            b"Some English text before a na\xefve word, and no more than that.\n",
            b"more than forty bytes of English, and at last \x91\xce\x8f\xdb\n",
            // ISO-2022-JP has no shift characters, also not in its ASCII part.
            b"\x0e \x1b$B",
            b"\x0f\x1b$BBP>]\x1b(B\n",
        ] {
            let whole = decode(bytes.to_vec()).map(|decoded| (decoded.text, decoded.encoding));
            for piece_bytes in [1, 3, 4, 7, 16, 1000] {
                assert_eq!(streamed(bytes, piece_bytes), whole, "{bytes:x?} in pieces of {piece_bytes}");
            }
        }
    }
}
