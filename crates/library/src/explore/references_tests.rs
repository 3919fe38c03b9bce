use super::super::test_corpus::{self, manual, place, shown};
use super::*;

fn candidate(place: NodePlace, score: f32) -> Candidate {
    Candidate { score, ..test_corpus::candidate(place) }
}

/// What the first section of a file refers to, as `path:line`.
fn referred(views: &[View], path: &str) -> Vec<String> {
    let mut candidates = [candidate(place(views, path, 1), 1.0)];
    let mut found: Vec<_> = add_references(views, &mut candidates, &|_| true)
        .iter()
        .map(|candidate| shown(views, candidate.place))
        .collect();
    found.sort();
    found
}

#[test]
fn labels_links_and_anchors_are_followed() {
    for (text, target, expected) in [
        ("# A\n第3条に準ずる\n", "# X\n# 第三条 支払\nx\n", &["b.md:2"][..]),
        ("# A\n別表２のとおり\n", "# X\n# 別表 第2 手術\nx\n", &["b.md:2"]),
        ("# A\nsee Section 4.2.\n", "# X\n## 4.2 Limits\nx\n", &["b.md:2"]),
        ("# A\n(§4.2)\n", "# X\n## 4.2. Limits\nx\n", &["b.md:2"]),
        ("# A\n第3章参照\n", "# X\n# 3. 準備\nx\n", &["b.md:2"]),
        ("# A\n[there](b.md)\n", "# X\n# Y\nx\n", &["b.md:1"]),
        ("# A\n[there](./b.md#rate-limits)\n", "# X\n# Rate limits\nx\n", &["b.md:2"]),
        ("# A\n[there](b.md#%E7%AC%AC3%E6%9D%A1)\n", "# X\n# 第3条\nx\n", &["b.md:2"]),
        // What is not there, or outside of the manual, is not followed.
        ("# A\nsee section 9.9\n", "# X\n## 4.2 Limits\nx\n", &[]),
        ("# A\n[there](c.md) [out](../b.md) [web](https://b.md)\n", "# X\nx\n", &[]),
        ("# A\n[there](b.md#nowhere)\n", "# X\nx\n", &[]),
    ] {
        let views = [manual("m", &[("a.md", text), ("b.md", target)])];
        assert_eq!(referred(&views, "a.md"), expected, "{text}");
    }
}

#[test]
fn a_label_in_the_same_file_wins_and_its_own_is_no_reference() {
    let text = "# 第1条\n第1条と第2条による\n# 第2条\nx\n# 第1条 補足\ny\n";
    let views = [manual("m", &[("a.md", text), ("b.md", "# 第2条\ny\n# 第1条\nz\n")])];
    assert_eq!(referred(&views, "a.md"), ["a.md:3"]);
}

#[test]
fn a_label_of_another_manual_is_not_followed() {
    let views = [manual("m", &[("a.md", "# A\n第2条による\n")]), manual("n", &[("b.md", "# 第2条\ny\n")])];
    assert_eq!(referred(&views, "a.md"), Vec::<String>::new());
}

#[test]
fn a_label_that_many_sections_have_is_not_followed() {
    let chapters = |count: usize| "# Step 1\nx\n".repeat(count);
    let found = |count: usize| {
        let views = [manual("m", &[("a.md", "# A\nas in step 1\n"), ("b.md", &chapters(count))])];
        referred(&views, "a.md").len()
    };
    assert_eq!((found(MAX_SAME_LABEL), found(MAX_SAME_LABEL + 1)), (MAX_SAME_LABEL, 0));
}

#[test]
fn a_candidate_is_marked_and_another_section_gets_a_share_of_the_best_score() {
    let text = "# A\n第3条と第4条\n# B\n第4条\n# 第3条\nx\n# 第4条\ny\n";
    let views = [manual("m", &[("a.md", text)])];
    let at = |line| place(&views, "a.md", line);
    let mut candidates = [candidate(at(1), 2.0), candidate(at(3), 4.0), candidate(at(5), 1.0)];
    let added = add_references(&views, &mut candidates, &|_| true);
    let reference = |line, score| Candidate {
        signals: Signals::REFERENCE,
        terms: 0,
        kind: MatchKind::Reference,
        ..candidate(at(line), score)
    };
    assert_eq!(added, [reference(7, 4.0 * REFERENCE_SHARE)]);
    // The candidate keeps its score.
    let marked = Candidate { signals: Signals::NORMALIZED.with(Signals::REFERENCE), ..candidate(at(5), 1.0) };
    assert_eq!(candidates, [candidate(at(1), 2.0), candidate(at(3), 4.0), marked]);
}

#[test]
fn only_allowed_sections_are_added() {
    let views = [manual("m", &[("a.md", "# A\n第3条\n# 第3条\nx\n")])];
    let mut candidates = [candidate(place(&views, "a.md", 1), 1.0)];
    assert_eq!(add_references(&views, &mut candidates, &|_| false), []);
}

#[test]
fn links_resolve_within_the_manual() {
    assert_eq!(resolve("a/b.md", "c.md").as_deref(), Some("a/c.md"));
    assert_eq!(resolve("a/b.md", "../c/./d.md").as_deref(), Some("c/d.md"));
    assert_eq!(resolve("a/b.md", "/c.md").as_deref(), Some("c.md"));
    assert_eq!(resolve("b.md", "../c.md"), None);
}

#[test]
fn an_anchor_counts_headings_and_not_the_passages_of_a_long_section() {
    let long = "words of a long section\n\n".repeat(400);
    let target = format!("# Limits\n{long}# Limits\nthe second\n");
    let line = target.lines().position(|line| line == "the second").unwrap();
    let views = [manual("m", &[("a.md", "# A\n[there](b.md#limits-1)\n"), ("b.md", &target)])];
    assert!(views[0].segments[0].nodes.iter().any(|node| node.is_continuation));
    assert_eq!(referred(&views, "a.md"), [format!("b.md:{line}")]);
}
