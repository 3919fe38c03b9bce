//! Decodes the bytes of a file: UTF-8, UTF-16 with a byte-order mark, ISO-2022-JP, Shift_JIS (CP932) and EUC-JP. Bytes are
//! text only if the decoder accepts all of them and encoding the text again leads back to them, so that a text is either
//! right or reported as not decodable, never garbled.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{EUC_JP, ISO_2022_JP, SHIFT_JIS};
use serde::{Deserialize, Serialize};

use super::plausibility::{Plausibility, is_foreign_control};
use annai_core::cancellation::{Ticks, checkpoint};

const UTF8_BOM: &[u8] = b"\xef\xbb\xbf";
const ESCAPE: u8 = 0x1b;

/// The detector needs a hint for texts of up to this many bytes, in which too little is typical for one encoding.
const SHORT_BYTES: usize = 40;

/// How many bytes the detector reads between two looks at the cancellation: a few milliseconds of work.
const PIECE_BYTES: usize = 1 << 20;

/// The character encoding of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Encoding {
    /// UTF-8, with or without a byte-order mark.
    #[default]
    Utf8,
    /// UTF-16, little-endian, with a byte-order mark.
    Utf16Le,
    /// UTF-16, big-endian, with a byte-order mark.
    Utf16Be,
    /// Shift_JIS with the extensions of CP932.
    ShiftJis,
    /// EUC-JP.
    EucJp,
    /// ISO-2022-JP.
    Iso2022Jp,
}

impl Encoding {
    /// All encodings.
    #[cfg(test)]
    pub const ALL: [Self; 6] =
        [Self::Utf8, Self::Utf16Le, Self::Utf16Be, Self::ShiftJis, Self::EucJp, Self::Iso2022Jp];

    /// The name that the Encoding Standard gives it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16Le => "UTF-16LE",
            Self::Utf16Be => "UTF-16BE",
            Self::ShiftJis => "Shift_JIS",
            Self::EucJp => "EUC-JP",
            Self::Iso2022Jp => "ISO-2022-JP",
        }
    }

    /// The name, unless it is UTF-8: refs name the encoding only where it is not the usual one.
    #[must_use]
    pub fn other_name(self) -> Option<&'static str> {
        (self != Self::Utf8).then(|| self.name())
    }
}

/// A decoded text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedText {
    /// The text, without a byte-order mark.
    pub text: String,
    /// The encoding of the bytes.
    pub encoding: Encoding,
    /// Whether the bytes begin with a byte-order mark.
    pub has_bom: bool,
}

/// Decodes the bytes of a whole file; `None` when they are not text in one of the encodings.
#[must_use]
pub fn decode(bytes: Vec<u8>) -> Option<DecodedText> {
    if let Some(rest) = bytes.strip_prefix(UTF8_BOM) {
        let text = std::str::from_utf8(rest).ok().filter(|text| !text.contains('\0'))?.to_owned();
        return Some(DecodedText { text, encoding: Encoding::Utf8, has_bom: true });
    }
    let utf16 = match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => Some((Encoding::Utf16Le, decode_utf16(rest, u16::from_le_bytes))),
        [0xfe, 0xff, rest @ ..] => Some((Encoding::Utf16Be, decode_utf16(rest, u16::from_be_bytes))),
        _ => None,
    };
    if let Some((encoding, text)) = utf16 {
        return Some(DecodedText { text: text?, encoding, has_bom: true });
    }
    decode_without_bom(bytes)
}

/// What is known of the ASCII text before the first other byte of a file. This much of it takes part in the decision about
/// the encoding, so that a file that arrives in pieces is read as it is as a whole.
#[derive(Debug, Clone, Copy, Default)]
pub struct AsciiStart {
    bytes: usize,
    last: Option<u8>,
    has_foreign_control: bool,
    /// Whether it has a shift-in or shift-out character, which ISO-2022-JP does not allow.
    has_shift: bool,
}

impl AsciiStart {
    /// Adds a piece of the text.
    pub fn add(&mut self, piece: &[u8]) {
        self.bytes += piece.len();
        self.last = piece.last().copied().or(self.last);
        self.has_shift |= memchr::memchr2(0x0e, 0x0f, piece).is_some();
        self.has_foreign_control |= piece.iter().any(|byte| is_foreign_control(char::from(*byte)));
    }
}

/// The same for bytes that are known not to begin with a byte-order mark.
fn decode_without_bom(bytes: Vec<u8>) -> Option<DecodedText> {
    decode_after_ascii(AsciiStart::default(), bytes)
}

/// The same for the rest of a file that begins with ASCII text.
#[must_use]
pub fn decode_after_ascii(start: AsciiStart, bytes: Vec<u8>) -> Option<DecodedText> {
    if bytes.contains(&0) {
        return None;
    }
    // ISO-2022-JP has seven bits only and would pass for UTF-8, so it comes first.
    if has_japanese_escape(&bytes) && bytes.is_ascii() {
        let text = decode_iso_2022_jp(&bytes).filter(|_| !start.has_shift)?;
        return Some(DecodedText { text, encoding: Encoding::Iso2022Jp, has_bom: false });
    }
    match String::from_utf8(bytes) {
        Ok(text) => Some(DecodedText { text, encoding: Encoding::Utf8, has_bom: false }),
        Err(error) => {
            let (text, encoding) = decode_japanese(start, error.as_bytes())?;
            Some(DecodedText { text, encoding, has_bom: false })
        }
    }
}

/// The bytes of a text without the byte-order mark of UTF-8, and whether there was one.
#[must_use]
pub fn strip_utf8_bom(bytes: &[u8]) -> (&[u8], bool) {
    bytes.strip_prefix(UTF8_BOM).map_or((bytes, false), |rest| (rest, true))
}

/// Whether bytes certainly continue as UTF-8 or ASCII does: they have no byte-order mark of UTF-16 and no escape sequence
/// of ISO-2022-JP, and the first bytes that are not ASCII are UTF-8. This reads little more than the ASCII part, so that
/// it can be asked about every file of a search. Unless the bytes are complete, their last character may be cut.
#[must_use]
pub fn looks_like_utf8(bytes: &[u8], is_complete: bool) -> bool {
    /// A text in another encoding does not look like UTF-8 for so long.
    const CHECKED_BYTES: usize = 2048;
    /// Blocks stay in the fastest cache between the two looks at them.
    const BLOCK_BYTES: usize = 4096;
    let mut has_escape = false;
    for (index, block) in bytes.chunks(BLOCK_BYTES).enumerate() {
        if !block.is_ascii() {
            let first = index * BLOCK_BYTES + block.iter().take_while(|byte| byte.is_ascii()).count();
            let rest = bytes.get(first..).unwrap_or_default();
            let checked = rest.get(..CHECKED_BYTES).unwrap_or(rest);
            let may_be_cut = !is_complete || checked.len() < rest.len();
            let is_cut = |error: std::str::Utf8Error| may_be_cut && error.error_len().is_none();
            return std::str::from_utf8(checked).err().is_none_or(is_cut);
        }
        has_escape |= memchr::memchr(ESCAPE, block).is_some();
    }
    !(has_escape && has_japanese_escape(bytes))
}

/// Whether there is an escape sequence that only ISO-2022-JP has. Terminals use `ESC ( B` too, which therefore proves
/// nothing.
#[must_use]
pub fn has_japanese_escape(bytes: &[u8]) -> bool {
    memchr::memchr_iter(ESCAPE, bytes).any(|at| {
        matches!(bytes.get(at + 1..), Some([b'$', b'B' | b'@' | b'(', ..] | [b'(', b'J' | b'I', ..]))
    })
}

/// Decodes UTF-16 without replacing anything, which is lossless both ways by itself.
fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let mut ticks = Ticks::default();
    let units = pairs.iter().map(|pair| {
        ticks.tick();
        unit(*pair)
    });
    let text: Option<String> = char::decode_utf16(units).map(Result::ok).collect();
    text.filter(|text| !text.contains('\0'))
}

/// Decodes ISO-2022-JP. Encoders differ in the escape sequences that they repeat, so what is compared is the text after
/// encoding and decoding once more.
fn decode_iso_2022_jp(bytes: &[u8]) -> Option<String> {
    let decode = |bytes: &[u8]| {
        ISO_2022_JP.decode_without_bom_handling_and_without_replacement(bytes).map(Cow::into_owned)
    };
    let text = decode(&without_redundant_escapes(bytes))?;
    let (encoded, _, has_unmappable) = ISO_2022_JP.encode(&text);
    // The encoder writes half-width katakana in full width, as the standard demands.
    let has_half_width = text.contains(|ch| matches!(ch, '\u{ff61}'..='\u{ff9f}'));
    let is_lossless = !has_unmappable && (has_half_width || decode(&encoded).as_deref() == Some(&*text));
    is_lossless.then_some(text)
}

/// The bytes without escape sequences that another one follows directly, as where texts were joined. The decoder takes
/// them for errors.
fn without_redundant_escapes(bytes: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(ESCAPE, rest) {
        let (before, escape) = rest.split_at(at);
        kept.extend_from_slice(before);
        let (sequence, after) = escape.split_at(escape.len().min(3));
        if after.first() != Some(&ESCAPE) {
            kept.extend_from_slice(sequence);
        }
        rest = after;
    }
    kept.extend_from_slice(rest);
    kept
}

/// Decodes Shift_JIS or EUC-JP. Many texts are valid in both, and texts in other encodings may be valid in one, so the
/// text itself decides.
fn decode_japanese(mut start: AsciiStart, bytes: &[u8]) -> Option<(String, Encoding)> {
    let (ascii, bytes) = bytes.split_at(bytes.iter().take_while(|byte| byte.is_ascii()).count());
    start.add(ascii);
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(start.last.as_slice(), false);
    for piece in bytes.chunks(PIECE_BYTES) {
        checkpoint();
        detector.feed(piece, false);
    }
    detector.feed(&[], true);
    let hint = (start.bytes + bytes.len() <= SHORT_BYTES).then_some(b"jp".as_slice());
    let guess = detector.guess(hint, Utf8Detection::Deny);
    // Half-width katakana are single bytes in Shift_JIS, so nearly every misread text has them. In EUC-JP each of them has
    // a prefix, which is no accident.
    let candidates = [(SHIFT_JIS, Encoding::ShiftJis, -0.2), (EUC_JP, Encoding::EucJp, 0.9)];
    let candidates = candidates.into_iter().filter_map(|(encoding, name, half_width)| {
        checkpoint();
        let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?.into_owned();
        checkpoint();
        let (encoded, _, has_unmappable) = encoding.encode(&text);
        checkpoint();
        let is_lossless = *encoded == *bytes || (encoding == SHIFT_JIS && is_shift_jis_of(bytes, &encoded));
        if has_unmappable || !is_lossless {
            return None;
        }
        let plausibility = Plausibility::of(&text, start.last.map_or(' ', char::from));
        let is_guessed = encoding == guess;
        // Kanji alone may be Chinese or Korean; kana are Japanese.
        let is_text = plausibility.is_text() && !start.has_foreign_control;
        let is_accepted = is_text && (is_guessed || plausibility.has_kana());
        is_accepted.then_some((plausibility.score(half_width), is_guessed, text, name))
    });
    let best = candidates.max_by(|one, other| {
        let by_score = one.0.total_cmp(&other.0);
        // The detector knows more about texts of which both readings are plausible.
        if (one.0 - other.0).abs() < 0.2 { one.1.cmp(&other.1).then(by_score) } else { by_score }
    });
    let ascii = std::str::from_utf8(ascii).ok()?;
    best.map(|(_, _, text, encoding)| (format!("{ascii}{text}"), encoding))
}

/// Whether Shift_JIS bytes are those that an encoder writes for their text, apart from the characters that CP932 has
/// twice: Windows writes 髙 as `EE E0` or as `FB FC`, and a decoder that reads both cannot write both.
fn is_shift_jis_of(bytes: &[u8], encoded: &[u8]) -> bool {
    let (mut rest, mut encoded, mut ticks) = (bytes, encoded, Ticks::default());
    while let Some(lead) = rest.first() {
        ticks.tick();
        let length = if matches!(lead, 0x81..=0x9f | 0xe0..=0xfc) { 2 } else { 1 };
        let is_double = matches!(lead, 0x87 | 0xed | 0xee | 0xfa);
        let (Some(one), Some(other)) = (rest.get(..length), encoded.get(..length)) else { return false };
        if one != other && !is_double {
            return false;
        }
        rest = rest.get(length..).unwrap_or_default();
        encoded = encoded.get(length..).unwrap_or_default();
    }
    encoded.is_empty()
}

#[cfg(test)]
#[path = "decoder_tests.rs"]
mod tests;
