//! Where a text that is longer than a limit is cut: between lines, and a line that is itself longer than the limit between
//! words. Only a word that is longer than the limit is cut, and then not inside what a reader sees as one character.

use annai_language::JAPANESE;
use unicode_normalization::char::is_combining_mark;

/// A line end counts as near the limit when at least three quarters of the limit come before it; otherwise too much of the
/// limit would be wasted before a line that has to be cut anyway.
const NEAR_NUMERATOR: usize = 3;
const NEAR_DENOMINATOR: usize = 4;
/// How many characters a cut inside a word moves at most, so that it does not separate combining characters. Real sequences
/// are shorter; a longer one is cut all the same.
const MAX_COMBINING_CHARS: usize = 32;

/// The length in bytes of the first part of a text, which has at most `max_chars` characters. It is the whole text, or ends
/// where a line ends, or between the words of a line that has more than `max_chars` characters.
pub fn cut_length(text: &str, max_chars: usize) -> usize {
    cut_length_with(text, max_chars, max_chars)
}

/// The same, where only a line that has more than `longest_line` characters is cut.
pub fn cut_length_with(text: &str, max_chars: usize, longest_line: usize) -> usize {
    let Some((limit, _)) = text.char_indices().nth(max_chars) else { return text.len() };
    let Some(line_end) = (1..=limit).rev().find(|at| is_line_end(text, *at)) else {
        return cut_length_within_line(text, max_chars);
    };
    let (lines, rest) = text.split_at_checked(line_end).unwrap_or((text, ""));
    let chars = lines.chars().count();
    let is_near = chars * NEAR_DENOMINATOR >= max_chars * NEAR_NUMERATOR;
    if is_near || fits(first_line(rest), longest_line) {
        return line_end;
    }
    line_end + last_word_boundary(rest, max_chars - chars).unwrap_or(0)
}

/// The same inside a line: the length of the first `max_chars` characters, or less, so that it ends between two words.
pub fn cut_length_within_line(text: &str, max_chars: usize) -> usize {
    let Some((limit, _)) = text.char_indices().nth(max_chars) else { return text.len() };
    last_word_boundary(text, max_chars)
        .or_else(|| positions_back(text, limit).find(|at| *at > 0 && is_symbol_boundary(text, *at)))
        .or_else(|| {
            positions_back(text, limit)
                .take(MAX_COMBINING_CHARS)
                .find(|at| *at > 0 && !is_combined(text, *at))
        })
        .unwrap_or(limit)
}

/// The byte at which the last part of a text begins, which has at most `max_chars` characters: the start of a line, or a
/// place between the words of a line that has more than `longest_line` characters.
pub fn cut_start(text: &str, max_chars: usize, longest_line: usize) -> usize {
    let Some(skipped) = max_chars.checked_sub(1) else { return text.len() };
    let earliest = match text.char_indices().rev().nth(skipped) {
        None | Some((0, _)) => return 0,
        Some((earliest, _)) => earliest,
    };
    let line_start = (earliest..text.len()).find(|at| is_line_start(text, *at));
    let line_start = line_start.unwrap_or(text.len());
    let kept = text.get(line_start..).map_or(0, |kept| kept.chars().count());
    let is_near = kept * NEAR_DENOMINATOR >= max_chars * NEAR_NUMERATOR;
    let before = text.get(..earliest).unwrap_or_default();
    let line = text.get(before.rfind(['\n', '\r']).map_or(0, |end| end + 1)..line_start).unwrap_or_default();
    if is_near || fits(line.trim_end_matches(['\n', '\r']), longest_line) {
        return line_start;
    }
    let rest = text.get(earliest..line_start).unwrap_or_default();
    let mut positions = rest.char_indices().map(|(at, _)| earliest + at);
    positions.find(|at| is_word_boundary(text, *at)).unwrap_or(line_start)
}

/// A line, or the part of a longer one around a byte of it, with an ellipsis for what is left out on either side. At most
/// `lead` characters come before the byte, or more when the rest of the line is short.
pub fn cut_around(line: &str, byte: usize, lead: usize, max_chars: usize) -> String {
    if fits(line, max_chars) {
        return line.to_owned();
    }
    // An ellipsis alone would say less than a character.
    let Some(room) = max_chars.checked_sub(2).filter(|room| *room > 0) else {
        return line.chars().take(max_chars).collect();
    };
    let (before, after) = line.split_at_checked(byte).unwrap_or(("", line));
    let lead = lead.max(room.saturating_sub(after.chars().count())).min(room);
    let start = cut_start(before, lead, lead);
    let rest = line.get(start..).unwrap_or_default();
    let length = cut_length_within_line(rest, room);
    let ellipsis = |is_cut: bool| if is_cut { "…" } else { "" };
    let shown = rest.get(..length).unwrap_or_default();
    format!("{}{shown}{}", ellipsis(start > 0), ellipsis(length < rest.len()))
}

/// Whether a line ends at a byte: after its break, or before it.
fn is_line_end(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let (before, after) = (at.checked_sub(1).and_then(|before| bytes.get(before)), bytes.get(at));
    match (before, after) {
        (Some(b'\r'), Some(b'\n')) => false,
        (Some(b'\n' | b'\r'), _) | (_, Some(b'\n' | b'\r')) => true,
        _ => false,
    }
}

/// Whether a line starts at a byte.
fn is_line_start(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    match (at.checked_sub(1).and_then(|before| bytes.get(before)), bytes.get(at)) {
        (None, _) | (Some(b'\n'), _) => true,
        (Some(b'\r'), after) => after != Some(&b'\n'),
        _ => false,
    }
}

/// Whether a text has at most `max_chars` characters.
fn fits(text: &str, max_chars: usize) -> bool {
    text.chars().nth(max_chars).is_none()
}

fn first_line(text: &str) -> &str {
    text.find(['\n', '\r']).and_then(|end| text.get(..end)).unwrap_or(text)
}

/// The last place between two words within the first characters of a text; `None` where there is none after its start.
fn last_word_boundary(text: &str, max_chars: usize) -> Option<usize> {
    let limit = text.char_indices().nth(max_chars).map_or(text.len(), |(limit, _)| limit);
    positions_back(text, limit).find(|at| *at > 0 && is_word_boundary(text, *at))
}

/// The places between characters at or before a byte, the last one first.
fn positions_back(text: &str, from: usize) -> impl Iterator<Item = usize> {
    let before = text.get(..from).unwrap_or_default();
    std::iter::once(from).chain(before.char_indices().rev().map(|(at, _)| at))
}

/// The characters before and after a place, if it has both.
fn neighbours(text: &str, at: usize) -> Option<(char, char)> {
    let (before, after) = text.split_at_checked(at)?;
    Some((before.chars().next_back()?, after.chars().next()?))
}

/// Whether no word and no number goes on at a place. Scripts that are written without spaces have a boundary between any
/// two characters.
fn is_word_boundary(text: &str, at: usize) -> bool {
    let Some((before, after)) = neighbours(text, at) else { return true };
    let is_inside = (is_spaced(before) && is_spaced(after))
        || (is_numeral(before) && is_numeral(after))
        || belong_together(before, after);
    !is_inside
}

/// Whether neither letters nor a number go on at a place, so that what has no spaces, such as an address or compact JSON,
/// can be cut there.
fn is_symbol_boundary(text: &str, at: usize) -> bool {
    let Some((before, after)) = neighbours(text, at) else { return true };
    let joins_digits = |ch: char| matches!(ch, ',' | '.' | ':' | '\'' | '’' | '，' | '．' | '：');
    let is_digit = |ch: Option<char>| ch.is_some_and(char::is_numeric);
    let (head, tail) = text.split_at_checked(at).unwrap_or_default();
    let is_in_number = (joins_digits(after) && before.is_numeric() && is_digit(tail.chars().nth(1)))
        || (joins_digits(before) && after.is_numeric() && is_digit(head.chars().nth_back(1)));
    let is_in_word = before.is_alphanumeric() && after.is_alphanumeric();
    !is_in_number && !is_in_word && !belong_together(before, after)
}

/// Whether a place is inside what a reader sees as one character.
fn is_combined(text: &str, at: usize) -> bool {
    neighbours(text, at).is_some_and(|(before, after)| belong_together(before, after))
}

fn belong_together(before: char, after: char) -> bool {
    const ZERO_WIDTH_JOINER: char = '\u{200d}';
    before == ZERO_WIDTH_JOINER
        || matches!(after, ZERO_WIDTH_JOINER | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{ff9e}' | '\u{ff9f}')
        || (before == '\r' && after == '\n')
        || is_combining_mark(after)
}

/// Whether a character belongs to a word that ends at a space: not a space, and not of a script without spaces.
fn is_spaced(ch: char) -> bool {
    let is_unspaced = matches!(ch,
        '\u{0e00}'..='\u{0eff}' // Thai and Lao
        | '\u{1000}'..='\u{109f}' // Myanmar
        | '\u{1780}'..='\u{17ff}' // Khmer
        | '\u{2e80}'..='\u{312f}' // Radicals, punctuation, kana and Bopomofo
        | '\u{31a0}'..='\u{31ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{ff61}'..='\u{ff9f}' // Narrow kana
        | '\u{1b000}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}');
    let is_space = ch.is_whitespace() && !matches!(ch, '\u{a0}' | '\u{202f}');
    !is_unspaced && !is_space
}

/// Whether a number is written with a character: a digit, or a Kanji numeral.
fn is_numeral(ch: char) -> bool {
    ch.is_numeric() || JAPANESE.numerals.contains_key::<str>(ch.encode_utf8(&mut [0; 4]))
}

#[cfg(test)]
#[path = "cut_tests.rs"]
mod tests;
