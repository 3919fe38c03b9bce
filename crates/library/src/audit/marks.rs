//! Marks in artifacts: which lines of the source an element rests on (`source_lines: 3-9, 12`), and words that call an
//! element unfounded, orphaned or one-way.

use std::sync::LazyLock;

use regex::Regex;

use super::Kind;
use crate::ranges::LineRange;
use crate::text::normalize_text;

/// What a line says about its source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mark {
    /// The lines that are named; the end may lie before the start, which is for the reader of the mark to refuse.
    pub ranges: Vec<LineRange>,
    /// What stands where lines should, and are none.
    pub unreadable: Option<String>,
}

/// `source_lines:` in normal form, with what may stand around it in JSON, YAML and Markdown.
#[expect(clippy::expect_used, reason = "the pattern is part of the program, and a test compiles it")]
static MARK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?:^|[^a-z0-9_])source_lines?["'`*_\]]*\s*[:=]\s*["'`*\[(]*"#)
        .expect("the pattern of marks is valid")
});
/// One range, in normal form: `3-9`, `l3-l9`, `3行目から9行目`, or one line.
#[expect(clippy::expect_used, reason = "the pattern is part of the program, and a test compiles it")]
static RANGE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^l?(\d+)(?:行目?)?(?: ?(?:-|~|〜|\.\.|から| to ) ?l?(\d+)(?:行目?)?)?(まで)?")
        .expect("the pattern of ranges is valid")
});

/// The mark of a line; none where it has none. Several on one line are one.
pub fn mark(line: &str) -> Option<Mark> {
    if !line.to_ascii_lowercase().contains("source_line") {
        return None;
    }
    let normal = normalize_text(line);
    let mut mark: Option<Mark> = None;
    for found in MARK.find_iter(&normal) {
        let read = read(normal.get(found.end()..).unwrap_or_default());
        let all = mark.get_or_insert_with(Mark::default);
        all.ranges.extend(read.ranges);
        all.unreadable = all.unreadable.take().or(read.unreadable);
    }
    mark
}

/// Reads ranges with commas or spaces between them, up to what is no part of such a list.
fn read(text: &str) -> Mark {
    let (mut mark, mut rest) = (Mark::default(), text);
    let mut expected = true;
    loop {
        let parts = RANGE.captures(rest);
        let whole = parts.as_ref().and_then(|parts| parts.get(0)).map_or("", |whole| whole.as_str());
        let after = rest.get(whole.len()..).unwrap_or_default();
        // A number that goes on, as in `1-`, `1:3` or `1x`, is no line.
        let goes_on = after
            .starts_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '-' | ':' | '~' | '〜'));
        let numbers = parts.as_ref().and_then(|parts| {
            let start: u64 = parts.get(1)?.as_str().parse().ok()?;
            let end = parts.get(2).map_or(Some(start), |end| end.as_str().parse().ok())?;
            Some(LineRange { start_line: start, end_line: end })
        });
        match numbers.filter(|_| !goes_on) {
            Some(range) => mark.ranges.push(range),
            None if expected || !whole.is_empty() => {
                mark.unreadable = Some(rest.chars().take(40).collect());
                return mark;
            }
            None => return mark,
        }
        rest = after.trim_start_matches(['"', '\'', '`', '*', ']', ')']).trim_start();
        let separator =
            [",", "、", ";", "/", "と", "and "].iter().find_map(|separator| rest.strip_prefix(separator));
        match separator {
            Some(more) => (rest, expected) = (more.trim_start(), true),
            None if rest.starts_with(|letter: char| letter.is_ascii_digit()) => expected = true,
            None => return mark,
        }
    }
}

/// What a line calls something, in words. `孤立分岐: 0件` calls nothing anything.
pub fn called(line: &str) -> Vec<Kind> {
    let words = [
        (Kind::RootlessNode, ["根拠なし要素", "rootless_node"]),
        (Kind::OrphanBranch, ["孤立分岐", "orphan_branch"]),
        (Kind::OneWayRef, ["片方向参照", "one_way_ref"]),
    ];
    let is_called = |word: &&str| {
        let after = line
            .split_once(*word)
            .map(|(_, after)| after.trim_start_matches(['s', 'e', ':', '：', ' ', '=', '"']));
        after.is_some_and(|after| !after.starts_with(['0', '０']) && !after.starts_with("なし"))
    };
    words.into_iter().filter(|(_, words)| words.iter().any(&is_called)).map(|(kind, _)| kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_name_lines() {
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
            let found = mark(line).map(|mark| mark.ranges);
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
            assert!(mark(line).is_some_and(|mark| mark.unreadable.is_some()), "{line}");
        }
        assert_eq!(called("C は孤立分岐、one_way_ref も"), [Kind::OrphanBranch, Kind::OneWayRef]);
        assert!(called("孤立分岐: 0件, orphan_branches: 0").is_empty() && called("nothing").is_empty());
    }
}
