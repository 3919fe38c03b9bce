use proptest::prelude::*;

use super::*;

fn sections(text: &str) -> Vec<(u8, String, usize, usize, Option<usize>)> {
    let nodes = page(text).nodes;
    nodes
        .into_iter()
        .map(|node| (node.level, node.title, node.start_line, node.end_line, node.parent))
        .collect()
}

/// The titles of the nodes; `-` for text without a heading.
fn titles(text: &str) -> Vec<String> {
    let nodes = page(text).nodes;
    let title = |node: Node| if node.kind == NodeKind::Untitled { "-".to_owned() } else { node.title };
    nodes.into_iter().map(title).collect()
}

fn page(text: &str) -> Document {
    Markdown.parse(text.to_owned(), "file.md")
}

#[test]
fn a_section_runs_to_the_next_heading_of_its_level_or_above() {
    let text = "intro\n\n# A\na\n## B\nb\n### C\nc\n## D\nd\n# E\n";
    assert_eq!(
        sections(text),
        [
            (1, "A".into(), 1, 2, None),
            (1, "A".into(), 3, 10, None),
            (2, "B".into(), 5, 8, Some(1)),
            (3, "C".into(), 7, 8, Some(2)),
            (2, "D".into(), 9, 10, Some(1)),
            (1, "E".into(), 11, 11, None),
        ]
    );
    let nodes = page(text).nodes;
    let own: Vec<_> = nodes.iter().map(|node| node.own_end_line).collect();
    assert_eq!(own, [2, 4, 6, 8, 10, 11]);
}

#[test]
fn headings_follow_commonmark() {
    for (text, expected) in [
        ("# A", vec!["A"]),
        ("#A", vec!["-"]),
        ("####### A", vec!["-"]),
        ("   # A #", vec!["A"]),
        ("    # A", vec!["-"]),
        ("```\n# no\n```\n# A", vec!["-", "A"]),
        ("~~~md\n# no\n```\n# no\n~~~\n## A", vec!["-", "A"]),
        ("```\n# never closed", vec!["-"]),
        ("A\n===\nB\n---", vec!["A", "B"]),
        ("A\nB\n---\ntext", vec!["A B"]),
        ("---\nweight: 1\n# comment\n---\n# A", vec!["-", "A"]),
        ("---\n\n# A", vec!["-", "A"]),
        ("---\n# Title\ntext\n\n---\n## Next", vec!["-", "Title", "Next"]),
        ("---\nNote: read this\n\n# Real\n\n---\n\n## Next", vec!["-", "Real", "Next"]),
        ("<!--\n# no\n-->\n# A", vec!["-", "A"]),
        ("<div>\n# no\n</div>\n\n# A", vec!["-", "A"]),
        ("> # quoted\n\n- # listed\n\n# A", vec!["-", "A"]),
        ("# `code` and *words*", vec!["code and words"]),
        ("\u{feff}# A", vec!["A"]),
        ("# A\r\n## B\r# C", vec!["A", "B", "C"]),
        ("", vec!["-"]),
        ("\n\n", vec!["-"]),
        ("\n# A", vec!["A"]),
        ("#", vec![""]),
    ] {
        assert_eq!(titles(text), expected, "{text:?}");
    }
}

#[test]
fn the_title_of_a_page_is_written_in_its_front_matter_or_is_its_first_heading() {
    for (text, title, first) in [
        ("---\ntitle: \"The `Limits`\"\n---\n# Other\nx", "The Limits", "The Limits"),
        ("---\ntitle: Limits\n---\nx", "Limits", "Limits"),
        ("intro\n## Part\n# Limits\n# More", "Limits", "Limits"),
        ("intro\n## Part\n", "file.md", "file.md"),
        ("---\ntitle: ''\n---\n# A", "A", "A"),
        ("# <b></b>\n# A", "A", ""),
        ("# page1\nFirst line\n# A", "A", "First line"),
        ("", "file.md", "file.md"),
    ] {
        let page = page(text);
        assert_eq!((page.title.as_str(), page.nodes[0].title.as_str()), (title, first), "{text}");
    }
}

#[test]
fn a_page_with_a_written_title_and_no_heading_of_level_1_is_the_root_of_its_sections() {
    let text = "---\ntitle: Pods\n---\nIntro.\n## A\na\n### B\nb\n## C\n";
    let expected = [
        (1, "Pods".into(), 1, 9, None),
        (2, "A".into(), 5, 8, Some(0)),
        (3, "B".into(), 7, 8, Some(1)),
        (2, "C".into(), 9, 9, Some(0)),
    ];
    assert_eq!(sections(text), expected);
    let nodes = page(text).nodes;
    assert_eq!((nodes[0].own_end_line, nodes[0].kind), (4, NodeKind::Page));
    // The root is a node of its own also where it has no text but the front matter.
    assert_eq!(sections("---\ntitle: Pods\n---\n## A\n")[0], (1, "Pods".into(), 1, 4, None));
    // With a heading of level 1, the front matter is only titled by the page.
    let text = "---\ntitle: Pods\n---\n# Pods of a cluster\nx\n## A\n";
    let expected = [
        (1, "Pods".into(), 1, 3, None),
        (1, "Pods of a cluster".into(), 4, 6, None),
        (2, "A".into(), 6, 6, Some(1)),
    ];
    assert_eq!(sections(text), expected);
    assert_eq!(page(text).nodes[0].kind, NodeKind::Untitled);
}

#[test]
fn a_heading_that_is_a_page_number_is_titled_by_its_first_line() {
    let text = "## page1\n\n> **第1条** 目的は[次](x.md)のとおり。\n## 2ページ\n```\n```\n\n## p. 3 {#third}\n- item\n";
    let nodes = page(text).nodes;
    let shown: Vec<_> =
        nodes.iter().map(|node| (node.title.as_str(), node.kind, node.anchor.as_deref())).collect();
    let expected = [
        ("第1条 目的は次のとおり。", NodeKind::PageBreak, Some("page1")),
        ("2ページ", NodeKind::PageBreak, Some("2ページ")),
        ("item", NodeKind::PageBreak, Some("third")),
    ];
    assert_eq!(shown, expected);
    let long = format!("# page1\n{}\n", "x".repeat(500));
    assert_eq!(page(&long).nodes[0].title.len(), 200);
}

#[test]
fn the_id_of_a_heading_is_kept_beside_its_title() {
    let nodes = page("# Usage {#use-it}\n## `State` {/*state*/}\n## Plain\n").nodes;
    let shown: Vec<_> = nodes.iter().map(|node| (node.title.as_str(), node.anchor.as_deref())).collect();
    assert_eq!(shown, [("Usage", Some("use-it")), ("State", Some("state")), ("Plain", None)]);
}

proptest! {
    #[test]
    fn sections_nest_and_follow_each_other_without_gaps(text in "(---\ntitle: a\n---\n)?([#>`=~ a-]{0,6}(\n|\r\n)|## page1\n){0,14}") {
        let Document { nodes, lines, .. } = page(&text);
        prop_assert!(!nodes.is_empty());
        for (index, node) in nodes.iter().enumerate() {
            // An empty text has one node on line 1, although it has no lines.
            prop_assert!((1..=node.own_end_line).contains(&node.start_line));
            prop_assert!(node.own_end_line <= node.end_line && node.end_line <= lines.count().max(1));
            if let Some(parent) = node.parent {
                let parent = &nodes[parent];
                prop_assert!(parent.level < node.level && parent.start_line < node.start_line && parent.end_line >= node.end_line);
            }
            if let Some(next) = nodes.get(index + 1) {
                prop_assert_eq!(node.own_end_line + 1, next.start_line);
            }
        }
    }
}
