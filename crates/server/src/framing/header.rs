//! The `Content-Length` header block in front of a body.

use memchr::memchr;

/// A header block has a few short lines.
const MOST_HEADER_BYTES: usize = 8 * 1024;
const MOST_NAME_BYTES: usize = 64;
/// The value of a length and the white space around it.
const MOST_DIGITS: usize = 32;
/// The one header that matters, in lower case.
pub(super) const CONTENT_LENGTH: &[u8] = b"content-length:";

/// A block of header lines, as far as it is known.
pub(super) enum Header {
    /// More of it must come; `odd` when nothing of it says so far that it is one of ours.
    Incomplete { odd: bool },
    /// The length of the body, and the size of the block.
    Whole { length: u64, size: usize },
    /// Refused; what stands at `size` is no part of it, or, if `overlong`, a line to be skipped.
    Bad { why: &'static str, size: usize, framed: bool, overlong: bool },
}

/// Reads a block of `Name: value` lines up to its blank line. A line of another kind ends it there.
pub(super) fn read_header(buffer: &[u8], ended: bool, impatient: bool) -> Header {
    let mut size = 0;
    let mut length = None;
    let mut framed = false;
    loop {
        let bad = |why, size| Header::Bad { why, size, framed, overlong: false };
        let rest = buffer.get(size..).unwrap_or_default();
        if !could_be_header(rest) {
            return bad("a header without its blank line", size);
        }
        let line = memchr(b'\n', rest);
        if line.unwrap_or(rest.len()) > MOST_HEADER_BYTES || size > MOST_HEADER_BYTES {
            return Header::Bad { why: "a header that is too long", size, framed, overlong: true };
        }
        let Some(end) = line else {
            let odd = !framed && size > 0;
            if ended || (impatient && odd) {
                return bad("a header without its blank line", buffer.len());
            }
            return Header::Incomplete { odd };
        };
        let line = rest.get(..end).unwrap_or_default().trim_ascii_end();
        if line.is_empty() {
            size += end + 1;
            return match length {
                Some(length) => Header::Whole { length, size },
                None if framed => bad("a Content-Length that is not a number of bytes", size),
                None => bad("a header without Content-Length", size),
            };
        }
        if !is_header(line) {
            return bad("a header without its blank line", size);
        }
        if starts_like(line, CONTENT_LENGTH) {
            let found = content_length(line);
            // A second, other length starts a new header: the first one was cut short.
            if framed && (found.is_none() || found != length) {
                return bad("a header without its blank line", size);
            }
            (framed, length) = (true, found);
        }
        size += end + 1;
    }
}

/// The length of a header's name at the start of `line`, and the byte after it if it is there.
fn header_name(line: &[u8]) -> (usize, Option<u8>) {
    let size = line.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
    (size, line.get(size).copied())
}

/// `Name:` and anything.
fn is_header(line: &[u8]) -> bool {
    matches!(header_name(line), (1..=MOST_NAME_BYTES, Some(b':')))
}

/// Whether a line of which the start is known can turn out to be a header, or the blank line after one.
pub(super) fn could_be_header(start: &[u8]) -> bool {
    is_header(start) || matches!(header_name(start), (0..=MOST_NAME_BYTES, None) | (0, Some(b'\r' | b'\n')))
}

/// The number of bytes that a `Content-Length` line promises.
pub(super) fn content_length(line: &[u8]) -> Option<u64> {
    let (name, value) = line.split_at_checked(CONTENT_LENGTH.len())?;
    if !name.eq_ignore_ascii_case(CONTENT_LENGTH) {
        return None;
    }
    let digits = std::str::from_utf8(value).ok()?.trim();
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok())?
}

/// Whether `start` is, or can still become, text that begins with `prefix`.
pub(super) fn starts_like(start: &[u8], prefix: &[u8]) -> bool {
    let size = start.len().min(prefix.len());
    matches!((start.get(..size), prefix.get(..size)), (Some(a), Some(b)) if a.eq_ignore_ascii_case(b))
}

/// Where a `Content-Length` header starts on a line that begins with something else. Only a raw line break can
/// end a header, and there is none inside JSON's strings, so no message holds such a thing.
pub(super) fn header_after(line: &[u8]) -> Option<usize> {
    let start = line.len().saturating_sub(CONTENT_LENGTH.len() + MOST_DIGITS);
    let tail = line.get(start..)?;
    let at =
        tail.windows(CONTENT_LENGTH.len()).rposition(|bytes| bytes.eq_ignore_ascii_case(CONTENT_LENGTH))?;
    let at = start + at;
    (at > 0 && content_length(line.get(at..)?).is_some()).then_some(at)
}
