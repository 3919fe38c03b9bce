//! What looks like a number and is a part of a name: identifiers, and the numbers of sections.

use super::words::word;

/// The text after the identifier that it begins with: a word with the hyphens, points and slashes inside it, such as
/// `utf-8`, `v1.2` and `https://example.com/2026`.
pub fn after_identifier(text: &str) -> &str {
    let (mut part, mut rest) = word(text);
    let (mut has_digit, mut is_path) = (false, false);
    loop {
        if let Some(address) = rest.strip_prefix("://") {
            let ends = |ch: char| ch.is_whitespace() || !ch.is_ascii() || "<>\"`)".contains(ch);
            return address.trim_start_matches(|ch| !ends(ch));
        }
        has_digit |= part.contains(|ch: char| ch.is_ascii_digit());
        let mut letters = rest.chars();
        let (Some(joint), Some(next)) = (letters.next(), letters.next()) else { return rest };
        let joins = match joint {
            '-' | '@' => next.is_ascii_alphanumeric(),
            '.' => next.is_ascii_lowercase() || (has_digit || is_path) && next.is_ascii_digit(),
            '/' => next.is_ascii_lowercase() || is_path && next.is_ascii_digit(),
            _ => false,
        };
        if !joins {
            return rest;
        }
        is_path |= joint != '-';
        (part, rest) = word(rest.strip_prefix(joint).unwrap_or_default());
    }
}

/// The length of the number of a section that a text begins with: `3`, `4.2`, `3-9`.
pub fn section_number_len(text: &str) -> usize {
    let end = text.find(|ch: char| !ch.is_ascii_digit() && !matches!(ch, '.' | '-')).unwrap_or(text.len());
    let number = text.get(..end).unwrap_or_default();
    if number.starts_with('-') { 0 } else { number.trim_end_matches(['.', '-']).len() }
}
