//! Where reads are cut: never inside a word, a number, a table row or a line that fits, and never without saying so.

use proptest::prelude::*;
use serde_json::json;

use super::tests::{Arguments, document};
use super::*;

/// The default scope.
fn default_scope(line: u64) -> Arguments {
    Arguments { scope: None, ..Arguments::scope(line, ReadScope::Snippet) }
}

const LIMITS: &str = "# API\n\nIntro.\n\n## Limits\n\nEach key has a limit for each minute.\n\n| Call | Requests |\n|---|---|\n| Search | 60 |\n| Read | 600 |\n\nAsk for more.\n";

#[test]
fn a_section_that_fits_is_read_as_a_whole() {
    let api = document(LIMITS, "a.md");
    let section = LIMITS.split_once("## ").map(|(_, section)| format!("## {}", section.trim_end())).unwrap();
    for line in 5..=14 {
        let part = default_scope(line).read(&api, json!(null), json!({})).unwrap();
        let ReadPart { scope, text, truncated, next_cursor, .. } = part;
        assert_eq!((scope, text, truncated, next_cursor), (ReadScope::Section, section.clone(), false, None));
    }
    // Surroundings are those of a snippet.
    let expand = Expand { before_chars: Some(12), after_chars: Some(20) };
    let snippet = Arguments { expand, ..default_scope(11) };
    let part = snippet.read(&api, json!(null), json!({})).unwrap();
    assert_eq!(
        (part.scope, part.text.as_str()),
        (ReadScope::Snippet, "|---|---|\n| Search | 60 |\n| Read | 600 |")
    );
    assert_eq!((part.truncated, part.next_cursor), (true, Some(Position { line: 12, char: 14 })));
}

#[test]
fn a_passage_of_a_longer_section_has_whole_lines_and_says_that_the_section_goes_on() {
    let rows: String = (0..400).map(|row| format!("| Call {row} | {row}00 |\n")).collect();
    let text = format!("# Limits\n\n{rows}\nEnd.\n");
    let long = document(&text, "a.md");
    for line in [1, 3, 200, 402, 404] {
        let part = default_scope(line).read(&long, json!(null), json!({ "max_chars": 5000 })).unwrap();
        assert_eq!(
            (part.scope, part.truncated, part.next_cursor.is_some()),
            (ReadScope::Passage, true, line < 402)
        );
        assert!((1000..=1200).contains(&part.text.chars().count()), "{}", part.text.len());
        assert!(part.start_line <= line as usize && part.end_line >= line as usize);
        let whole = long.document.text_of(part.start_line, part.end_line);
        assert_eq!(part.text.trim_end_matches('\n'), whole.trim_end_matches('\n'));
        assert_eq!(part.cut_until_line, None, "nobody is led through the rest");
        let all = default_scope(line).read_all(&long, &json!({ "max_chars": 5000 })).concat();
        assert!(text.trim_end().ends_with(&all) && all.starts_with(&part.text), "{line}");
    }
}

#[test]
fn a_place_in_a_line_of_a_megabyte_is_read_between_words() {
    let line: String = (0..170_000).map(|number| format!("{number} ")).collect();
    assert!(line.len() > 1 << 20);
    let text = format!("# A\n{line}\n");
    let long = document(&text, "a.md");
    let mut arguments = default_scope(2);
    arguments.place.char = Some(500_003);
    let part = arguments.read(&long, json!(null), json!({})).unwrap();
    assert!(
        part.text.split_whitespace().all(|number| line.contains(&format!(" {number} "))),
        "{}",
        part.text
    );
    assert!((1000..=1200).contains(&part.text.len()) && part.truncated);
    let pieces = arguments.read_all(&long, &json!({ "max_chars": 100_000 }));
    assert!(line.trim_end().ends_with(pieces.concat().trim_end()) && pieces.len() < 12);
}

/// The word of letters, the number or the combining sequence that a place is inside of.
fn cut_word(text: &str, at: usize) -> Option<&str> {
    let is_word =
        |ch: char| ch.is_ascii_alphanumeric() || matches!(ch, '.' | ',' | '|' | '`' | '_' | ';' | '\u{301}');
    let start = text[..at].trim_end_matches(is_word).len();
    let end = at + text[at..].len() - text[at..].trim_start_matches(is_word).len();
    let is_combined = text[at..].starts_with(['\u{3099}', '\u{301}']);
    ((start < at && at < end) || is_combined).then(|| &text[start..end])
}

/// The line that contains a place and is not ended there; none between two lines.
fn cut_line(text: &str, at: usize) -> Option<&str> {
    let start = text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let end = text[at..].find(['\n', '\r']).map_or(text.len(), |end| at + end);
    (start < at && at < end).then(|| &text[start..end])
}

fn manual() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "#{1,3} [A-Za-z]{1,8} [0-9]{1,3}",
        "\\| [a-z]{1,8} \\| [0-9]{1,3},[0-9]{3} \\| [ぁ-ん]{0,6} \\|",
        "    let [a-z_]{1,6} = [0-9]{1,4}\\.[0-9];",
        "([a-z]{1,9}|[0-9]{1,4}\\.[0-9]{2}|cafe\u{301}| |、|[あ-ん]{1,9}|か\u{3099}){0,14}",
        Just(String::new()),
    ];
    let line_break = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
    proptest::collection::vec((line, line_break), 0..24)
        .prop_map(|lines| lines.into_iter().map(|(line, line_break)| line + line_break).collect())
}

proptest! {
    #[test]
    fn pieces_are_the_text_and_end_between_words_and_lines(
        text in manual(),
        max_chars in 1_usize..200,
        line in 1_usize..24,
        scope in 0_usize..6,
    ) {
        let read = document(&text, "a.md");
        let line = line.min(read.document.lines.count().max(1));
        let place = Place { line, char: None };
        let arguments = match scope {
            0 => default_scope(line as u64),
            1 => Arguments::scope(line as u64, ReadScope::Passage),
            2 => Arguments::scope(line as u64, ReadScope::Snippet),
            3 => Arguments::scope(line as u64, ReadScope::Section),
            4 => Arguments::scope(line as u64, ReadScope::Sections),
            _ => Arguments::lines(line as u64, None),
        };
        let limits = json!({ "max_chars": max_chars });
        let first = arguments.read(&read, json!(null), limits.clone()).unwrap();
        let pieces = arguments.read_all(&read, &limits);
        let all = pieces.concat();
        let (whole, start) = match scope {
            0..=2 if first.scope != ReadScope::Section => {
                let section = ReadUnit::passage(&read.document, place, max_chars).range;
                (section.clone(), section.end - all.len())
            }
            0..=3 => (ReadUnit::section(&read.document, place).range, ReadUnit::section(&read.document, place).range.start),
            4 => (ReadUnit::sections(&read.document, place, 1).range, ReadUnit::sections(&read.document, place, 1).range.start),
            _ => (ReadUnit::lines(&read.document, line, read.document.lines.count().max(1)).range, read.document.lines.line(line).map_or(0, |line| line.start)),
        };
        prop_assert_eq!(&all, &text[start..whole.end]);
        // A cut at the beginning is told, and so is every other one.
        let skipped = &text[whole.start..start];
        let is_skipped = !skipped.trim_matches(['\n', '\r']).is_empty();
        prop_assert_eq!(first.truncated, is_skipped || pieces.len() > 1);
        let ends = pieces.iter().scan(start, |at, piece| {
            *at += piece.len();
            Some(*at)
        });
        for at in std::iter::once(start).chain(ends).filter(|at| (whole.start + 1..whole.end).contains(at)) {
            // Only what is longer than the limit is cut.
            if let Some(cut) = cut_word(&text, at) {
                prop_assert!(cut.chars().count() > max_chars || max_chars == 1, "{cut:?} {max_chars}");
            }
            if let Some(cut) = cut_line(&text, at) {
                prop_assert!(cut.chars().count() > max_chars, "{cut:?} {max_chars}");
            }
        }
    }
}
