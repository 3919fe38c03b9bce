//! The lengths of small marks at the start of a text.

/// How many of a mark stand at the start of a text.
pub fn run_length(bytes: &[u8], mark: u8) -> usize {
    bytes.iter().take_while(|byte| **byte == mark).count()
}

/// The length of an address in angle brackets at the start of a text: `<https://example.com>`.
pub fn address_length(text: &str) -> Option<usize> {
    let end =
        text.bytes().skip(1).position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'<' | b'>'))?;
    let (scheme, _) = text.get(1..end + 1)?.split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte));
    (is_scheme && text.as_bytes().get(end + 1) == Some(&b'>')).then_some(end + 2)
}

/// The length of the id at the end of a heading: `{#id}`.
pub fn heading_id_length(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('{')?;
    inside.trim_start_matches(' ').strip_prefix('#')?;
    let end = inside.find(['}', '{', '\n', '\r'])?;
    let after = inside.get(end..)?.strip_prefix('}')?;
    let mut after = after.bytes().take_while(|byte| !matches!(byte, b'\n' | b'\r'));
    after.all(|byte| matches!(byte, b'#' | b' ' | b'\t')).then_some(end + 2)
}

/// Where a shortcode says what it shows (`text="Pods"`): the start and the length of that.
pub fn shown_text(shortcode: &str) -> Option<(usize, usize)> {
    let start = shortcode.find(" text=\"")? + " text=\"".len();
    let length = shortcode.get(start..)?.find('"')?;
    Some((start, length))
}
