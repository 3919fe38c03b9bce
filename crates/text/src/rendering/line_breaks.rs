//! Where lines end and begin.

/// The end of the line that contains a byte, without its break.
pub fn line_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    memchr::memchr2(b'\n', b'\r', rest).map_or(bytes.len(), |length| at + length)
}

/// The start of the line after the break at this byte.
pub fn next_line(bytes: &[u8], end: usize) -> usize {
    let is_crlf = bytes.get(end) == Some(&b'\r') && bytes.get(end + 1) == Some(&b'\n');
    (end + if is_crlf { 2 } else { 1 }).min(bytes.len())
}
