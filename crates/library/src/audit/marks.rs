//! Marks in artifacts: the source lines that an element cites (`source_lines: 3-9, 12`), and the words by which an
//! artifact itself reports a problem (`孤立分岐`, `orphan_branch`).

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::finding::{AuditFinding, FindingKind};
use crate::reading::LineRange;
use annai_text::normalize_text;

/// The source lines that one line of an artifact cites.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// The cited ranges. The end may lie before the start; the checks report that.
    pub(super) ranges: Vec<LineRange>,
    /// The text after the mark, when it is not a list of lines.
    pub(super) unreadable: Option<String>,
}

/// `source_lines:` in normalized text, with the quotes and markup of JSON, YAML and Markdown around it.
#[expect(clippy::expect_used, reason = "the pattern is part of the program, and a test compiles it")]
static MARK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?:^|[^a-z0-9_])source_lines?["'`*_\]]*\s*[:=]\s*["'`*\[(]*"#)
        .expect("the pattern of marks is valid")
});
/// One range in normalized text: `3-9`, `l3-l9`, `3行目から9行目`, or one line.
#[expect(clippy::expect_used, reason = "the pattern is part of the program, and a test compiles it")]
static RANGE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^l?(\d+)(?:行目?)?(?: ?(?:-|~|〜|\.\.|から| to ) ?l?(\d+)(?:行目?)?)?(まで)?")
        .expect("the pattern of ranges is valid")
});

/// The `source_lines` mark of a line; several on one line are combined.
pub(super) fn source_lines_mark(line: &str) -> Option<Mark> {
    if !line.to_ascii_lowercase().contains("source_line") {
        return None;
    }
    let normal = normalize_text(line);
    let mut mark: Option<Mark> = None;
    for found in MARK.find_iter(&normal) {
        let (read, _) = parse_ranges(normal.get(found.end()..).unwrap_or_default());
        let all = mark.get_or_insert_with(Mark::default);
        all.ranges.extend(read.ranges);
        all.unreadable = all.unreadable.take().or(read.unreadable);
    }
    mark
}

/// The parts of a normalized line that are `source_lines` marks, with their lists of lines.
pub(super) fn mark_ranges(normal: &str) -> Vec<Range<usize>> {
    if !normal.contains("source_line") {
        return Vec::new();
    }
    let range = |found: regex::Match<'_>| {
        let rest = normal.get(found.end()..).unwrap_or_default();
        let (mark, len) = parse_ranges(rest);
        // What cannot be parsed may be meant as line numbers, too.
        let len = if mark.unreadable.is_some() { rest.len() } else { len };
        let start = found.start() + found.as_str().find("source_line").unwrap_or_default();
        start..found.end() + len
    };
    MARK.find_iter(normal).map(range).collect()
}

/// Whether a normalized line marks its element as derived: `derived: the sum of both`.
pub(super) fn is_derived(normal: &str) -> bool {
    let mut rest = normal;
    while let Some((before, after)) = rest.split_once("derived") {
        let starts_word = !before.ends_with(|ch: char| ch.is_alphanumeric() || ch == '_');
        let value = after.trim_start_matches(['"', '\'', '`', '*', '_', ']', ' ']).strip_prefix([':', '=']);
        let is_denied = |value: &str| value.trim_start_matches(['"', ' ']).starts_with("false");
        if starts_word && value.is_some_and(|value| !is_denied(value)) {
            return true;
        }
        rest = after;
    }
    false
}

/// Parses ranges separated by commas or spaces, up to the first text that is not part of the list. Returns the length of
/// the list, too.
fn parse_ranges(text: &str) -> (Mark, usize) {
    let (mut mark, mut rest) = (Mark::default(), text);
    let mut expected = true;
    loop {
        let parts = RANGE.captures(rest);
        let whole = parts.as_ref().and_then(|parts| parts.get(0)).map_or("", |whole| whole.as_str());
        let after = rest.get(whole.len()..).unwrap_or_default();
        // A number that continues, as in `1-`, `1:3` or `1x`, is not a line number.
        let continues =
            after.starts_with(|ch: char| ch.is_alphanumeric() || matches!(ch, '-' | ':' | '~' | '〜'));
        let numbers = parts.as_ref().and_then(|parts| {
            let start: u64 = parts.get(1)?.as_str().parse().ok()?;
            let end = parts.get(2).map_or(Some(start), |end| end.as_str().parse().ok())?;
            Some(LineRange { start_line: start, end_line: end })
        });
        match numbers.filter(|_| !continues) {
            Some(range) => mark.ranges.push(range),
            None if expected || !whole.is_empty() => {
                mark.unreadable = Some(rest.chars().take(40).collect());
                return (mark, text.len() - rest.len());
            }
            None => return (mark, text.len() - rest.len()),
        }
        rest = after.trim_start_matches(['"', '\'', '`', '*', ']', ')']).trim_start();
        let separator =
            [",", "、", ";", "/", "と", "and "].iter().find_map(|separator| rest.strip_prefix(separator));
        match separator {
            Some(more) => (rest, expected) = (more.trim_start(), true),
            None if rest.starts_with(|ch: char| ch.is_ascii_digit()) => expected = true,
            None => return (mark, text.len() - rest.len()),
        }
    }
}

/// The problems that a line of an artifact reports in words, about the element that it belongs to. A count of zero, as in
/// `孤立分岐: 0件`, reports none.
pub(super) fn explicit_findings(line: &str, number: usize, element: Option<&str>) -> Vec<AuditFinding> {
    let words = [
        (FindingKind::RootlessNode, ["根拠なし要素", "rootless_node"]),
        (FindingKind::OrphanBranch, ["孤立分岐", "orphan_branch"]),
        (FindingKind::OneWayRef, ["片方向参照", "one_way_ref"]),
    ];
    let is_reported = |word: &&str| {
        let after = line
            .split_once(*word)
            .map(|(_, after)| after.trim_start_matches(['s', 'e', ':', '：', ' ', '=', '"']));
        after.is_some_and(|after| !after.starts_with(['0', '０']) && !after.starts_with("なし"))
    };
    let problem = "the artifact itself reports this problem; resolve it, then remove the mark";
    let reported = words.into_iter().filter(|(_, words)| words.iter().any(is_reported));
    reported.map(|(kind, _)| AuditFinding::at(kind, number, element, problem)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_parsed_in_every_notation_and_other_text_is_reported() {
        for (line, expected) in [
            ("- B source_lines: 2-3", Some(&[(2, 3)][..])),
            ("source_lines: 1-2, 7-9, 12", Some(&[(1, 2), (7, 9), (12, 12)])),
            ("source_lines: 1-1 2-3 and 5", Some(&[(1, 1), (2, 3), (5, 5)])),
            ("source_lines: 1-3 (see below)", Some(&[(1, 3)])),
            ("%% source_line=5", Some(&[(5, 5)])),
            (r#""source_lines": "L3-L9""#, Some(&[(3, 9)])),
            ("**source_lines**: 3−９", Some(&[(3, 9)])),
            ("source_lines：3〜9", Some(&[(3, 9)])),
            ("source_lines: 1行目から3行目まで", Some(&[(1, 3)])),
            ("source_lines: 9-3", Some(&[(9, 3)])),
            ("source_lines: 1-2 and source_lines: 4", Some(&[(1, 2), (4, 4)])),
            ("the source has lines: 3", None),
            ("resource_lines: 1-3", None),
        ] {
            let found = source_lines_mark(line).map(|mark| mark.ranges);
            let expected = expected.map(|ranges| {
                ranges
                    .iter()
                    .map(|(start, end)| LineRange { start_line: *start, end_line: *end })
                    .collect::<Vec<_>>()
            });
            assert_eq!(found, expected, "{line}");
        }
        for line in [
            "source_lines: tbd",
            "source_lines: 1-2, x, 4",
            "source_lines: 1-",
            "source_lines: 1:3",
            "source_lines: 1-99999999999999999999999",
        ] {
            assert!(source_lines_mark(line).is_some_and(|mark| mark.unreadable.is_some()), "{line}");
        }
        for (line, outside) in [
            ("- b source_lines: 2-3", "- b "),
            ("source_lines: 1-2, 7-9, 12 is 99", "is 99"),
            ("a source_lines: 1 b source_lines: 2-3", "a b "),
            ("source_lines: 1:3 and 4", ""),
            ("resource_lines: 1-3", "resource_lines: 1-3"),
        ] {
            let mut rest = line.to_owned();
            mark_ranges(line).into_iter().rev().for_each(|range| rest.replace_range(range, ""));
            assert_eq!(rest, outside, "{line}");
        }
        for (line, expected) in [
            ("derived: the sum", true),
            ("(derived: a + b)", true),
            (r#""derived": true"#, true),
            ("**derived**: x", true),
            ("derived: false", false),
            ("underived: x", false),
            ("it is derived from it: a", false),
        ] {
            assert_eq!(is_derived(line), expected, "{line}");
        }
        let kinds = |line| -> Vec<_> {
            explicit_findings(line, 1, None).into_iter().map(|finding| finding.kind).collect()
        };
        assert_eq!(
            kinds("C は孤立分岐、one_way_ref も"),
            [FindingKind::OrphanBranch, FindingKind::OneWayRef]
        );
        assert!(kinds("孤立分岐: 0件, orphan_branches: 0").is_empty() && kinds("nothing").is_empty());
    }
}
