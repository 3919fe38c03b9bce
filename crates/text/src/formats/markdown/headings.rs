//! The headings of a Markdown text, as CommonMark defines them, with their titles as a reader sees them.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::pieces::markdown_pieces;
use crate::lines::LineIndex;
use crate::rendering::Rendering;
use crate::sections::{Heading, explicit_anchor, plain_title};
use annai_core::cancellation::checkpoint;

/// Every heading that is not inside a quote, a list or a footnote, of the document that begins at a byte of the text.
pub fn headings(text: &str, lines: &LineIndex, start: usize, rendering: &Rendering) -> Vec<Heading> {
    let body = text.get(start..).unwrap_or_default();
    let mut found = Vec::new();
    for piece in markdown_pieces(body) {
        let start = start + piece.start;
        add_headings(text, start..start + piece.len(), lines, rendering, &mut found);
    }
    found
}

/// Adds the headings of a piece of the text.
fn add_headings(
    text: &str,
    piece: Range<usize>,
    lines: &LineIndex,
    rendering: &Rendering,
    found: &mut Vec<Heading>,
) {
    let (start, piece) = (piece.start, text.get(piece).unwrap_or_default());
    let mut depth = 0_usize;
    let mut current: Option<(u8, usize, Option<Range<usize>>)> = None;
    for (event, range) in Parser::new_ext(piece, Options::empty()).into_offset_iter() {
        checkpoint();
        let range = start + range.start..start + range.end;
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                let line = lines.line(lines.line_at(range.start)).unwrap_or_default();
                current = Some((level as u8, line.start, None));
            }
            Event::End(TagEnd::Heading(_)) => {
                let Some((level, start, content)) = current.take() else { continue };
                let content = content.unwrap_or(range.start..range.start);
                let raw = text.get(content.clone()).unwrap_or_default();
                let title = plain_title(&rendering.render(text, content));
                let lines = heading_lines(text.get(start..).unwrap_or_default());
                found.push(Heading {
                    level,
                    title,
                    anchor: explicit_anchor(raw).map(Into::into),
                    start,
                    lines,
                });
            }
            Event::Start(Tag::BlockQuote(_) | Tag::List(_) | Tag::FootnoteDefinition(_)) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::FootnoteDefinition) => depth -= 1,
            _ => {
                if let Some((.., content)) = &mut current {
                    let known = content.clone().unwrap_or_else(|| range.clone());
                    *content = Some(known.start.min(range.start)..known.end.max(range.end));
                }
            }
        }
    }
}

/// The number of lines of the heading at the start of a text; 0 when it does not start with one.
fn heading_lines(text: &str) -> usize {
    let first = text.trim_start_matches('\u{feff}').trim_start();
    if first.starts_with('#') {
        return 1;
    }
    let underline = |line: &str| {
        let line = line.trim();
        !line.is_empty() && (line.bytes().all(|byte| byte == b'=') || line.bytes().all(|byte| byte == b'-'))
    };
    text.lines().take(5).position(underline).map_or(0, |line| line + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> Vec<(u8, String)> {
        let lines = LineIndex::new(text);
        let all = headings(text, &lines, 0, &Rendering::new(text, 0));
        all.into_iter().map(|heading| (heading.level, heading.title)).collect()
    }

    #[test]
    fn markup_is_not_part_of_a_title() {
        for (heading, title) in [
            ("# <code>x</code> and `y`", "x and y"),
            ("# `Vec<T>` of T", "Vec<T> of T"),
            ("# Option&lt;T&gt; &amp; more", "Option<T> & more"),
            ("# **Bold**, _slanted_ and ~~gone~~", "Bold, slanted and gone"),
            ("# A [link](x.md \"t\") and ![an image](y.png)", "A link and an image"),
            ("# [1.2.0] - 2024\n\n[1.2.0]: https://example.com/v1", "1.2.0 - 2024"),
            ("# [Unreleased]", "[Unreleased]"),
            ("# Rates <Badge type=\"tip\" text={v >= 3} /> here", "Rates here"),
            ("# Pods {{< feature-state for_k8s_version=\"v1.2\" >}}", "Pods"),
            ("# Pods {{<feature>}} {{% x %}}", "Pods"),
            ("# Usage {/*usage*/}", "Usage"),
            ("# Usage {#use-it}", "Usage"),
            ("# Usage { #use-it .big } ##", "Usage"),
            ("# Usage <!-- omit in toc -->", "Usage"),
            ("Two\nlines {#two}\n===", "Two lines"),
            ("# GET /users/{id}", "GET /users/{id}"),
            ("# snake_case and 2 * 3", "snake_case and 2 * 3"),
            ("# 第1条　目的", "第1条　目的"),
            ("# first<br>second", "first second"),
        ] {
            assert_eq!(found(heading).first().map(|(_, title)| title.as_str()), Some(title), "{heading}");
        }
    }

    #[test]
    fn a_long_text_has_the_headings_of_its_parts() {
        let part = |number: usize| {
            format!(
                "# A {number}\n\n> # quoted\n\n- # listed\n\nB {number}\n===\n```\n# code\n```\n{}\n",
                "text *a* [b](c)\n".repeat(2_000)
            )
        };
        let expected: Vec<_> =
            (0..200).flat_map(|number| [(1, format!("A {number}")), (1, format!("B {number}"))]).collect();
        assert_eq!(found(&(0..200).map(part).collect::<String>()), expected);
    }

    proptest! {
        #[test]
        fn every_heading_outside_a_code_block_is_found(parts in proptest::collection::vec((1_usize..=6, "[a-z]{1,5}", any::<bool>()), 0..12)) {
            let mut text = String::new();
            let mut expected = Vec::new();
            for (level, word, fenced) in &parts {
                let heading = format!("{} {word}\n", "#".repeat(*level));
                if *fenced {
                    text.push_str(&format!("```\n{heading}```\n"));
                } else {
                    expected.push((*level as u8, word.clone()));
                    text.push_str(&heading);
                }
            }
            prop_assert_eq!(found(&text), expected);
        }
    }
}
