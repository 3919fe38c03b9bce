//! Marks in artifacts: which lines of the source an element rests on (`source_lines: 3-9, 12`), and words that call an
//! element unfounded, orphaned or one-way.

use std::sync::LazyLock;

use regex::Regex;

use super::Kind;
use crate::ranges::LineRange;

/// What a line says about its source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mark {
    /// The lines that are named; the end may lie before the start, which is for the reader of the mark to refuse.
    pub ranges: Vec<LineRange>,
    /// What stands where lines should, and are none.
    pub unreadable: Option<String>,
}

static MARK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i)source_lines?["'`]?\s*[:=：]\s*"#).ok());
static RANGE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[L行]?\s*(\d+)\s*(?:[-–—~〜～]|\.\.|to)?\s*L?(\d+)?").ok());

/// The mark of a line; none where it has none.
pub fn mark(line: &str) -> Option<Mark> {
    let found = MARK.as_ref()?.find(line)?;
    let mut rest = line.get(found.end()..).unwrap_or_default().trim_start_matches(['"', '\'', '`', '[', ' ']);
    let mut mark = Mark::default();
    let range = RANGE.as_ref()?;
    while let Some(parts) = range.captures(rest) {
        let number = |index: usize| parts.get(index).and_then(|part| part.as_str().parse::<u64>().ok());
        let Some(start_line) = number(1) else { break };
        mark.ranges.push(LineRange { start_line, end_line: number(2).unwrap_or(start_line) });
        rest = rest.get(parts.get(0).map_or(0, |whole| whole.end())..).unwrap_or_default().trim_start();
        match rest.strip_prefix([',', '、', ';']) {
            Some(more) => rest = more.trim_start(),
            None => break,
        }
    }
    if mark.ranges.is_empty() {
        mark.unreadable = Some(rest.chars().take(40).collect());
    }
    Some(mark)
}

/// What a line calls something, in words.
pub fn called(line: &str) -> Option<Kind> {
    let words = [
        (Kind::RootlessNode, ["根拠なし要素", "rootless_node"]),
        (Kind::OrphanBranch, ["孤立分岐", "orphan_branch"]),
        (Kind::OneWayRef, ["片方向参照", "one_way_ref"]),
    ];
    words.into_iter().find(|(_, words)| words.iter().any(|word| line.contains(word))).map(|(kind, _)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_name_lines() {
        for (line, expected) in [
            ("- B source_lines: 2-3", Some(&[(2, 3)][..])),
            ("source_lines: 1-2, 7-9, 12", Some(&[(1, 2), (7, 9), (12, 12)])),
            ("%% source_line=5", Some(&[(5, 5)])),
            (r#""source_lines": "L3-L9""#, Some(&[(3, 9)])),
            ("source_lines：3〜9", Some(&[(3, 9)])),
            ("source_lines: 9-3", Some(&[(9, 3)])),
            ("source_lines: somewhere", Some(&[])),
            ("the source has lines: 3", None),
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
        assert_eq!(mark("source_lines: tbd").unwrap().unreadable.as_deref(), Some("tbd"));
        assert_eq!(
            (called("C は孤立分岐"), called("one_way_ref here"), called("nothing")),
            (Some(Kind::OrphanBranch), Some(Kind::OneWayRef), None)
        );
    }
}
