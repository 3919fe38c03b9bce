//! The `Content-Length` header block in front of a body.

use memchr::memchr;

/// The maximum size of a header block and of each of its lines. Real blocks have two short lines; a longer one is not a
/// header of this protocol and is refused.
const MAX_HEADER_BYTES: usize = 8 * 1024;
/// The maximum length of a header name. A line with a longer name is not treated as a header.
const MAX_NAME_BYTES: usize = 64;
/// The maximum length of a `Content-Length` value with the white space around it, where the header is searched for in the
/// middle of a line. 20 digits hold every 64-bit number; a longer value is not found.
const MAX_VALUE_BYTES: usize = 32;
/// The only header that has a meaning here, in lower case.
pub(super) const CONTENT_LENGTH: &[u8] = b"content-length:";

/// The result of parsing a header block.
pub(super) enum FrameHeader {
    /// The blank line at the end is missing so far. `doubtful` when there are complete lines but no `Content-Length`, so
    /// that the input may not be a header block at all.
    Incomplete { doubtful: bool },
    /// A complete block: the length of the body that follows, and the size of the block.
    Complete { length: u64, size: usize },
    /// An invalid block of `size` bytes. `has_content_length` when the client evidently uses this framing; `too_long` when
    /// the line after those bytes must be skipped as well.
    Invalid { reason: &'static str, size: usize, has_content_length: bool, too_long: bool },
}

/// Parses a block of `Name: value` lines up to its blank line. Any other line makes the block invalid and ends it there.
/// `ended` when no more input can come; `assume_truncated` when the input has paused for too long.
pub(super) fn read_header(buffer: &[u8], ended: bool, assume_truncated: bool) -> FrameHeader {
    let mut size = 0;
    let mut length = None;
    let mut has_content_length = false;
    loop {
        let invalid =
            |reason, size| FrameHeader::Invalid { reason, size, has_content_length, too_long: false };
        let rest = buffer.get(size..).unwrap_or_default();
        if !could_be_header(rest) {
            return invalid("a header block without a blank line at its end", size);
        }
        let line = memchr(b'\n', rest);
        if line.unwrap_or(rest.len()) > MAX_HEADER_BYTES || size > MAX_HEADER_BYTES {
            let reason = "a header block that is too long";
            return FrameHeader::Invalid { reason, size, has_content_length, too_long: true };
        }
        let Some(end) = line else {
            let doubtful = !has_content_length && size > 0;
            if ended || (assume_truncated && doubtful) {
                return invalid("a header block without a blank line at its end", buffer.len());
            }
            return FrameHeader::Incomplete { doubtful };
        };
        let line = rest.get(..end).unwrap_or_default().trim_ascii_end();
        if line.is_empty() {
            size += end + 1;
            return match length {
                Some(length) => FrameHeader::Complete { length, size },
                None if has_content_length => invalid("a Content-Length that is not a number of bytes", size),
                None => invalid("a header block without Content-Length", size),
            };
        }
        if !is_header(line) {
            return invalid("a header block without a blank line at its end", size);
        }
        if starts_like(line, CONTENT_LENGTH) {
            let found = content_length(line);
            // A second, different length belongs to a new block; the first block was truncated.
            if has_content_length && (found.is_none() || found != length) {
                return invalid("a header block without a blank line at its end", size);
            }
            (has_content_length, length) = (true, found);
        }
        size += end + 1;
    }
}

/// The length of the header name at the start of `line`, and the byte after the name, if that has arrived.
fn header_name(line: &[u8]) -> (usize, Option<u8>) {
    let size = line.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
    (size, line.get(size).copied())
}

/// Whether a line has the form `Name: value`.
fn is_header(line: &[u8]) -> bool {
    matches!(header_name(line), (1..=MAX_NAME_BYTES, Some(b':')))
}

/// Whether a line that starts like this can become a header line, or the blank line at the end of a block.
pub(super) fn could_be_header(start: &[u8]) -> bool {
    is_header(start) || matches!(header_name(start), (0..=MAX_NAME_BYTES, None) | (0, Some(b'\r' | b'\n')))
}

/// The value of a `Content-Length` line.
pub(super) fn content_length(line: &[u8]) -> Option<u64> {
    let (name, value) = line.split_at_checked(CONTENT_LENGTH.len())?;
    if !name.eq_ignore_ascii_case(CONTENT_LENGTH) {
        return None;
    }
    let digits = std::str::from_utf8(value).ok()?.trim();
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}

/// Whether `start` begins with `prefix` or is the beginning of it, ignoring case.
pub(super) fn starts_like(start: &[u8], prefix: &[u8]) -> bool {
    let size = start.len().min(prefix.len());
    matches!((start.get(..size), prefix.get(..size)), (Some(a), Some(b)) if a.eq_ignore_ascii_case(b))
}

/// The position of a `Content-Length` header at the end of a line that begins with something else. It cannot be part of a
/// JSON message: the header ends with a raw line break, and JSON strings cannot contain one.
pub(super) fn header_after(line: &[u8]) -> Option<usize> {
    let start = line.len().saturating_sub(CONTENT_LENGTH.len() + MAX_VALUE_BYTES);
    let tail = line.get(start..)?;
    let at =
        tail.windows(CONTENT_LENGTH.len()).rposition(|bytes| bytes.eq_ignore_ascii_case(CONTENT_LENGTH))?;
    let at = start + at;
    (at > 0 && content_length(line.get(at..)?).is_some()).then_some(at)
}
