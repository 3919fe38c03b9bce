//! What fuzz targets expect of the readers of texts.

use encoding_rs::{EUC_JP, SHIFT_JIS};
use serde_json::Value;

use super::decoding::{Encoding, decode, looks_like_utf8, strip_utf8_bom};
use super::formats::json::passages::passages;
use super::formats::json::pointer::{check, locate, without_mark};
use super::formats::{Format, Html, Markdown};
use super::lines::LineIndex;
use super::normalization::{Normalized, normalize_line};

/// The normalized form: the one with a mapping and the one without are the same text, which is not much longer than the
/// original, and every character comes from a part of the original, in order.
pub fn check_normal_form(input: &str) {
    let normal = Normalized::new(input);
    let mut line = String::new();
    normalize_line(input, &mut line);
    assert_eq!(normal.text, line, "both normal forms are the same");
    assert!(normal.text.len() <= 2 * input.len() + (64 << 10));
    let mut last = 0..0;
    for (at, ch) in normal.text.char_indices() {
        let part = normal.original(at..at + ch.len_utf8());
        assert!(
            input.get(part.clone()).is_some_and(|part| !part.is_empty()),
            "{ch:?} at {at} comes from {part:?}"
        );
        assert!(part.start >= last.start && part.end >= last.end, "the parts are in order");
        last = part;
    }
    assert_eq!(last.end, input.len(), "the end of the original is not lost");
}

/// The text as its reader sees it: a line stays one line, a text that is rendered line by line says the same as one that
/// is rendered as a whole, and entities and marks do not make it longer.
pub fn check_rendering(input: &str) {
    let lines = LineIndex::new(input);
    check_lines(input, &lines);
    let rendering = Markdown.parse(input.to_owned(), "a.md").rendering;
    let ranges = (1..=lines.count()).filter_map(|number| lines.line(number));
    for range in ranges {
        let rendered = rendering.render(input, range.clone());
        assert!(!rendered.contains(['\n', '\r']), "a line stays a line");
        assert!(rendered.len() <= 4 * range.len(), "a replacement is one character");
    }
}

/// The lines of a text: in order, without breaks, and every position leads back to its byte.
fn check_lines(text: &str, lines: &LineIndex) {
    let mut end = 0;
    for number in 1..=lines.count() {
        let line = lines.line(number).unwrap_or_default();
        assert!(line.start >= end && text.get(line.clone()).is_some_and(|line| !line.contains(['\n', '\r'])));
        end = line.end;
    }
    for at in text.char_indices().map(|(at, _)| at).take(200) {
        assert_eq!(lines.byte_at(text, lines.position(text, at)), Some(at));
    }
}

/// An HTML file: it has the lines of the original, and every node begins and ends in its text.
pub fn check_html(input: &str) {
    let parsed = Html.parse(input.to_owned(), "a.html");
    let original = LineIndex::new(input);
    assert_eq!(parsed.lines.count(), original.count(), "a line of the file is a line of the reduced text");
    let mut end = 0;
    for number in 1..=parsed.lines.count() {
        let line = parsed.lines.line(number).unwrap_or_default();
        assert!(line.start >= end && line.end >= line.start, "the lines are in order");
        assert!(parsed.text.get(line.clone()).is_some(), "the line {line:?} splits a character");
        end = line.end;
    }
    assert!(parsed.nodes.is_sorted_by_key(|node| node.own.start));
    assert!(parsed.nodes.iter().all(|node| parsed.text.get(node.own.clone()).is_some()));
    for (index, node) in parsed.nodes.iter().enumerate() {
        assert!(node.start_line <= node.own_end_line && node.own_end_line <= node.end_line);
        assert!(node.end_line <= original.count().max(1) && node.parent.is_none_or(|parent| parent < index));
    }
}

/// The passages of a JSON text: in order, with pointers that lead to values, whose text is JSON.
pub fn check_json(input: &str) {
    check_passages(input);
    // Written again, no name occurs twice, so that a pointer names the same value here and there.
    let Ok(value) = serde_json::from_str::<Value>(without_mark(input)) else { return };
    let text = value.to_string();
    for (pointer, _) in passages(&text, 20).into_iter().take(100) {
        let found = locate(&text, &pointer).ok().and_then(|range| text.get(range));
        let expected = value.pointer(&pointer).map(ToString::to_string);
        assert_eq!(found, expected.as_deref(), "{pointer} in {text}");
    }
}

fn check_passages(input: &str) {
    let passages = passages(input, 200);
    let mut end = 0;
    for (_, range) in &passages {
        assert!(range.start >= end && input.get(range.clone()).is_some());
        end = range.end;
    }
    let is_json = check(without_mark(input)).is_ok();
    for (pointer, _) in passages.iter().filter(|_| is_json).take(100) {
        let found = locate(input, pointer).ok().and_then(|range| input.get(range));
        assert!(found.is_some_and(|found| check(found).is_ok()), "the pointer {pointer:?} leads nowhere");
    }
}

/// The bytes of a file in any encoding: what is decoded has no NUL, leads back to the bytes, and is what the look at the
/// beginning of the file says.
pub fn check_encoding(input: &[u8]) {
    let Some(decoded) = decode(input.to_vec()) else { return };
    let text = decoded.text.as_str();
    assert!(!text.contains('\0'));
    check_lines(text, &LineIndex::new(text));
    let is_utf8 = decoded.encoding == Encoding::Utf8;
    // Beyond the part that is looked at, anything may follow.
    if is_utf8 || input.len() < 2000 {
        assert_eq!(looks_like_utf8(input, true), is_utf8, "{decoded:?}");
    }
    let encoded = match decoded.encoding {
        Encoding::Utf8 => {
            assert_eq!(strip_utf8_bom(input), (text.as_bytes(), decoded.has_bom));
            return;
        }
        Encoding::ShiftJis => SHIFT_JIS.encode(text),
        Encoding::EucJp => EUC_JP.encode(text),
        Encoding::Utf16Le | Encoding::Utf16Be | Encoding::Iso2022Jp => return,
    };
    let (bytes, encoding, has_unmappable) = encoded;
    assert!(!has_unmappable);
    assert_eq!(encoding.decode_without_bom_handling(&bytes).0, text);
}
