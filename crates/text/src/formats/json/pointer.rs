//! JSON Pointers (RFC 6901): finds the source text of a value, with its original formatting. Nothing here is recursive, so
//! that deep nesting costs no stack, and a text is read once.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::IgnoredAny;

use crate::formats::format::PointerError;

/// The bytes of the value that a pointer names. Of several members with the same name, the first one counts.
pub fn locate(text: &str, pointer: &str) -> Result<Range<usize>, PointerError> {
    let tokens = tokens(pointer).ok_or(PointerError::NotAPointer)?;
    let body = without_mark(text);
    check(body).map_err(PointerError::Invalid)?;
    let bytes = body.as_bytes();
    let offset = text.len() - body.len();
    let (mut at, mut found) = (skip_space(bytes, 0), 0);
    for (token, length) in tokens {
        let child = match bytes.get(at) {
            Some(b'{') => member(body, at, &token),
            Some(b'[') => element(bytes, at, &token),
            _ => None,
        };
        at = child
            .ok_or_else(|| PointerError::NotFound(pointer.get(..found).unwrap_or_default().to_owned()))?;
        found += length;
    }
    Ok(offset + at..offset + value_end(bytes, at))
}

/// The text without a byte-order mark.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Whether a text is JSON; the error says where it is not.
pub fn check(text: &str) -> Result<(), String> {
    serde_json::from_str::<IgnoredAny>(text).map(drop).map_err(|error| error.to_string())
}

/// The unescaped tokens of a pointer, each with its length in the pointer; `None` when it is not a pointer.
fn tokens(pointer: &str) -> Option<Vec<(Cow<'_, str>, usize)>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    let token = |token| Some((unescaped(token)?, token.len() + 1));
    pointer.strip_prefix('/')?.split('/').map(token).collect()
}

fn unescaped(token: &str) -> Option<Cow<'_, str>> {
    let mut parts = token.split('~');
    let first = parts.next()?;
    if first.len() == token.len() {
        return Some(Cow::Borrowed(token));
    }
    let mut text = first.to_owned();
    for part in parts {
        let rest = part.strip_prefix('0').map(|rest| ('~', rest));
        let (ch, rest) = rest.or_else(|| Some(('/', part.strip_prefix('1')?)))?;
        text.push(ch);
        text.push_str(rest);
    }
    Some(Cow::Owned(text))
}

/// The name of a member as a token of a pointer.
pub fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The name in a string literal of a valid JSON text. One that no Rust string can hold, with half of a surrogate pair, has
/// no name.
pub fn name_of(literal: &str) -> Option<Cow<'_, str>> {
    if !literal.contains('\\') {
        return Some(Cow::Borrowed(literal.get(1..literal.len().checked_sub(1)?)?));
    }
    serde_json::from_str(literal).ok().map(Cow::Owned)
}

/// Where the value of a member of the object at `at` begins.
fn member(body: &str, at: usize, name: &str) -> Option<usize> {
    let bytes = body.as_bytes();
    let mut at = skip_space(bytes, at + 1);
    while bytes.get(at) == Some(&b'"') {
        let end = string_end(bytes, at);
        let value = skip_space(bytes, skip_space(bytes, end) + 1);
        if name_of(body.get(at..end)?).as_deref() == Some(name) {
            return Some(value);
        }
        at = skip_space(bytes, skip_space(bytes, value_end(bytes, value)) + 1);
    }
    None
}

/// Where an element of the array at `at` begins.
fn element(bytes: &[u8], at: usize, index: &str) -> Option<usize> {
    let has_leading_zero = index.len() > 1 && index.starts_with('0');
    let is_number = !has_leading_zero && index.bytes().all(|byte| byte.is_ascii_digit());
    let mut left: usize = if is_number { index.parse().ok()? } else { return None };
    let mut at = skip_space(bytes, at + 1);
    while bytes.get(at).is_some_and(|byte| *byte != b']') {
        if left == 0 {
            return Some(at);
        }
        left -= 1;
        let end = skip_space(bytes, value_end(bytes, at));
        at = if bytes.get(end) == Some(&b',') { skip_space(bytes, end + 1) } else { end };
    }
    None
}

fn skip_space(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// The end of the string literal at `at`.
pub fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return at + 1;
        }
        at = (at + 2).min(bytes.len());
    }
    bytes.len()
}

/// The end of the value at `at`, in a valid JSON text.
fn value_end(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while let Some(byte) = bytes.get(at) {
        at = match byte {
            b'"' => string_end(bytes, at),
            b'{' | b'[' => {
                depth += 1;
                at + 1
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                at + 1
            }
            _ if depth == 0 => scalar_end(bytes, at),
            _ => at + 1,
        };
        if depth == 0 {
            return at;
        }
    }
    at
}

/// The end of the number or literal at `at`.
pub fn scalar_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let is_part = |byte: &&u8| !byte.is_ascii_whitespace() && !matches!(byte, b',' | b']' | b'}' | b':');
    at + rest.iter().take_while(is_part).count().max(1)
}

#[cfg(test)]
#[path = "pointer_tests.rs"]
mod tests;
