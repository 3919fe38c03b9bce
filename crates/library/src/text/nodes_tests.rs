use proptest::prelude::*;

use super::*;

fn outline(text: &str) -> Vec<(u8, String, usize, usize, Option<usize>)> {
    let nodes = markdown_nodes(text, &LineIndex::new(text), "file.md");
    nodes
        .into_iter()
        .map(|node| (node.level, node.title, node.start_line, node.end_line, node.parent))
        .collect()
}

fn titles(text: &str) -> Vec<String> {
    outline(text).into_iter().map(|(_, title, ..)| title).collect()
}

#[test]
fn a_section_runs_to_the_next_heading_of_its_level_or_above() {
    let text = "intro\n\n# A\na\n## B\nb\n### C\nc\n## D\nd\n# E\n";
    assert_eq!(
        outline(text),
        [
            (1, "file.md".into(), 1, 2, None),
            (1, "A".into(), 3, 10, None),
            (2, "B".into(), 5, 8, Some(1)),
            (3, "C".into(), 7, 8, Some(2)),
            (2, "D".into(), 9, 10, Some(1)),
            (1, "E".into(), 11, 11, None),
        ]
    );
    let nodes = markdown_nodes(text, &LineIndex::new(text), "file.md");
    let own: Vec<_> = nodes.iter().map(|node| node.own_end_line).collect();
    assert_eq!(own, [2, 4, 6, 8, 10, 11]);
}

#[test]
fn headings_follow_commonmark() {
    for (text, expected) in [
        ("# A", vec!["A"]),
        ("#A", vec!["file.md"]),
        ("####### A", vec!["file.md"]),
        ("   # A #", vec!["A"]),
        ("    # A", vec!["file.md"]),
        ("```\n# no\n```\n# A", vec!["file.md", "A"]),
        ("~~~md\n# no\n```\n# no\n~~~\n## A", vec!["file.md", "A"]),
        ("```\n# never closed", vec!["file.md"]),
        ("A\n===\nB\n---", vec!["A", "B"]),
        ("A\nB\n---\ntext", vec!["A B"]),
        ("---\ntitle: x\n# comment\n---\n# A", vec!["file.md", "A"]),
        ("---\n\n# A", vec!["file.md", "A"]),
        ("---\n# Title\ntext\n\n---\n## Next", vec!["file.md", "Title", "Next"]),
        ("---\nNote: read this\n\n# Real\n\n---\n\n## Next", vec!["file.md", "Real", "Next"]),
        ("<!--\n# no\n-->\n# A", vec!["file.md", "A"]),
        ("<div>\n# no\n</div>\n\n# A", vec!["file.md", "A"]),
        ("> # quoted\n\n- # listed\n\n# A", vec!["file.md", "A"]),
        ("# `code` and *words*", vec!["code and words"]),
        ("\u{feff}# A", vec!["A"]),
        ("# A\r\n## B\r# C", vec!["A", "B", "C"]),
        ("", vec!["file.md"]),
        ("\n\n", vec!["file.md"]),
        ("\n# A", vec!["A"]),
        ("#", vec![""]),
    ] {
        assert_eq!(titles(text), expected, "{text:?}");
    }
}

proptest! {
    #[test]
    fn sections_nest_and_follow_each_other_without_gaps(text in "([#>`=~ a-]{0,6}(\n|\r\n)){0,14}") {
        let lines = LineIndex::new(&text);
        let nodes = markdown_nodes(&text, &lines, "f");
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
        let lines = LineIndex::new(&text);
        let found: Vec<_> = headings(&text, &lines).into_iter().map(|(level, title, _)| (level, title)).collect();
        prop_assert_eq!(found, expected);
    }
}
