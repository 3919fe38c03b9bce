//! The titles of sections: without markup, and what stands for a heading that is only the number of a page.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use regex::Regex;

use crate::lines::{LineIndex, truncate_chars};
use crate::normalization::normalize_text;
use crate::rendering::Rendering;

/// The maximum length of a title, because refs and tables of contents repeat it; a longer one is truncated.
pub const MAX_TITLE_CHARS: usize = 200;
/// The maximum length of the id of a heading. What is longer is not an id.
const MAX_ANCHOR_BYTES: usize = 200;

/// The number of lines at the start of a page that are searched for its first line of text.
const MAX_SKIPPED_LINES: usize = 20;

/// A heading that is only the number of a page, normalized.
#[expect(clippy::expect_used, reason = "the pattern is part of the program, and a test compiles it")]
static PAGE_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^(?:page ?\d+(?: ?(?:of|/) ?\d+)?|pp?\. ?\d+|\d+ ?(?:ページ|頁)|(?:ページ|頁) ?\d+|- ?\d+ ?-)$",
    )
    .expect("the pattern of page numbers is valid")
});

/// Whether a heading is only the number of a page.
pub fn is_page_number(heading: &str) -> bool {
    // Most headings have no digits at all.
    heading.bytes().any(|byte| byte.is_ascii_digit() || !byte.is_ascii())
        && heading.len() <= 40
        && PAGE_NUMBER.is_match(&normalize_text(heading))
}

/// A rendered text as a title: on one line, without the marks of code, and not too long.
pub fn plain_title(rendered: &str) -> String {
    let mut title = String::with_capacity(rendered.len());
    for letter in rendered.chars().filter(|letter| *letter != '`') {
        match letter {
            _ if !letter.is_ascii_whitespace() => title.push(letter),
            _ if title.ends_with(' ') => {}
            _ => title.push(' '),
        }
    }
    truncate_chars(title.trim(), MAX_TITLE_CHARS).0.to_owned()
}

/// The id that is written at the end of a heading: `{#id}`, `{ #id .class }` or `{/*id*/}`.
pub fn explicit_anchor(heading: &str) -> Option<&str> {
    let heading = heading.trim_end();
    let id = match heading.strip_suffix("*/}") {
        Some(before) => before.rsplit_once("{/*")?.1.trim(),
        None => {
            let inside = heading.strip_suffix('}')?.rsplit_once('{')?.1;
            inside.trim_start().strip_prefix('#')?.split_whitespace().next()?
        }
    };
    let is_id = !id.is_empty() && id.len() <= MAX_ANCHOR_BYTES && !id.contains(char::is_whitespace);
    is_id.then_some(id)
}

/// The first of these lines that has words, as a reader sees it.
pub fn first_text_line(
    text: &str,
    lines: &LineIndex,
    rendering: &Rendering,
    numbers: RangeInclusive<usize>,
) -> Option<String> {
    numbers.take(MAX_SKIPPED_LINES).find_map(|number| {
        let line = rendering.render(text, lines.line(number)?);
        let is_mark = |letter: char| {
            letter.is_ascii_whitespace() || matches!(letter, '>' | '|' | '-' | '*' | '+' | '#')
        };
        let title = plain_title(line.trim_start_matches(is_mark));
        title.contains(char::is_alphanumeric).then_some(title)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_that_is_only_a_page_number_is_told_from_others() {
        for heading in [
            "page12",
            "Page 12",
            "PAGE 3 of 40",
            "p. 12",
            "p.12",
            "12ページ",
            "12 頁",
            "ページ12",
            "ページ　１２",
            "- 12 -",
            "—12—",
        ] {
            assert!(is_page_number(heading), "{heading}");
        }
        for heading in
            ["P1", "Page layout", "12", "2024年", "Page 12: Limits", "12ページの注", "page", "- 12", ""]
        {
            assert!(!is_page_number(heading), "{heading}");
        }
    }

    #[test]
    fn an_id_at_the_end_of_a_heading_is_its_anchor() {
        for (heading, id) in [
            ("Usage {#use-it}", Some("use-it")),
            ("Usage { #use-it .big }", Some("use-it")),
            ("Usage {/*use-it*/}", Some("use-it")),
            ("Usage {/* use-it */} ", Some("use-it")),
            ("Usage {id}", None),
            ("Usage {/*a remark*/}", None),
            ("{#use-it} Usage", None),
            ("}", None),
            ("{#}", None),
        ] {
            assert_eq!(explicit_anchor(heading), id, "{heading}");
        }
    }
}
