//! Source comments: where copied text came from, as a comment of Markdown above it:
//! `<!-- source: manual_id/path#L3-9 rev -->`.

use crate::reading::line_range::LineRange;
use annai_text::percent_decoded;

/// The fewest digits of a rev, so that another word is not taken for one.
const MIN_REV_DIGITS: usize = 6;

/// Where copied text came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Provenance {
    pub(crate) manual_id: String,
    pub(crate) path: String,
    /// The lines that were copied.
    pub(crate) lines: LineRange,
    /// The first digits of the file's SHA-256 when it was copied; none in a comment that was written by hand.
    pub(crate) rev: Option<String>,
}

impl Provenance {
    /// The comment, without a line break.
    pub(crate) fn to_comment(&self) -> String {
        let rev = self.rev.as_deref().map(|rev| format!(" {rev}")).unwrap_or_default();
        format!("<!-- source: {}{rev} -->", self.place())
    }

    /// The place: `manual_id/path#L3-9`.
    pub(crate) fn place(&self) -> String {
        let LineRange { start_line, end_line } = self.lines;
        // What would end the comment, and what encodes it.
        let encoded = |text: &str| text.replace('%', "%25").replace('>', "%3E").replace("--", "-%2D");
        format!("{}/{}#L{start_line}-{end_line}", encoded(&self.manual_id), encoded(&self.path))
    }

    /// Reads a comment. Other comments are none, also when they begin with `source:`.
    pub(crate) fn parse(comment: &str) -> Option<Self> {
        let inside = comment.trim().strip_prefix("<!--")?.strip_suffix("-->")?.trim();
        let inside = inside.strip_prefix("source:")?.trim();
        let (place, tail) = inside.rsplit_once("#L")?;
        let mut words = tail.split_whitespace();
        let lines = words.next()?;
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let number = |text: &str| text.trim_start_matches('L').parse::<u64>().ok();
        let lines = LineRange { start_line: number(first)?, end_line: number(last)? };
        let rev = words.next();
        let is_rev = |rev: &str| {
            (MIN_REV_DIGITS..=64).contains(&rev.len()) && rev.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        if rev.is_some_and(|rev| !is_rev(rev)) || words.next().is_some() {
            return None;
        }
        let (manual_id, path) = place.split_once('/')?;
        let [manual_id, path] = [manual_id, path].map(percent_decoded);
        Some(Self { manual_id, path, lines, rev: rev.map(str::to_owned) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_comment_names_manual_path_lines_and_rev() {
        let source = Provenance {
            manual_id: "hr".to_owned(),
            path: "rules/leave.md".to_owned(),
            lines: LineRange { start_line: 3, end_line: 9 },
            rev: Some("0123456789ab".to_owned()),
        };
        assert_eq!(source.to_comment(), "<!-- source: hr/rules/leave.md#L3-9 0123456789ab -->");
        for (comment, lines, rev) in [
            ("<!--source: hr/rules/leave.md#L3-L9 0123456789ab-->", (3, 9), Some("0123456789ab")),
            ("<!-- source: hr/rules/leave.md#L7 -->\n", (7, 7), None),
        ] {
            let found = Provenance::parse(comment).unwrap();
            assert_eq!(
                (found.lines.start_line, found.lines.end_line, found.rev.as_deref()),
                (lines.0, lines.1, rev)
            );
            assert_eq!((found.manual_id.as_str(), found.path.as_str()), ("hr", "rules/leave.md"));
        }
        for other in [
            "<!-- source: https://example.com -->",
            "<!-- source: a.md#L3-9 0123456789ab -->",
            "<!-- source: hr/a.md#L3-9 yesterday -->",
            "<!-- source: hr/a.md#Lx 0123456789ab -->",
            "<!-- a note -->",
            "source: hr/a.md#L3-9",
        ] {
            assert_eq!(Provenance::parse(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn every_place_survives_its_comment(
            manual_id in "[a-z%>#. -]{1,8}",
            path in "[a-zあ%>#./ -]{1,20}",
            start_line in 1_u64..1000,
            length in 0_u64..50,
        ) {
            let lines = LineRange { start_line, end_line: start_line + length };
            let source = Provenance { manual_id: manual_id.trim().to_owned(), path, lines, rev: Some("0123456789ab".to_owned()) };
            let comment = source.to_comment();
            prop_assert!(comment.find("-->") == Some(comment.len() - 3), "{}", comment);
            prop_assert_eq!(Provenance::parse(&comment), Some(source));
        }
    }
}
