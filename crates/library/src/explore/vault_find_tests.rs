use super::super::test_corpus::{place, query, vault};
use super::*;

fn candidates(views: &[View], places: &[(&str, u32)]) -> Vec<Candidate> {
    let candidate = |(path, line): &(&str, u32)| Candidate {
        place: place(views, path, *line),
        score: 1.0,
        signals: Default::default(),
        terms: 1,
    };
    places.iter().map(candidate).collect()
}

#[test]
fn gaps_are_the_line_ranges_without_a_candidate() {
    let text = "one\n\ntwo\n\nthree\n\nfour\n";
    let views = [vault(&[("a.md", text), ("b.md", text)])];
    for (places, expected) in [
        (&[("a.md", 1), ("a.md", 3), ("a.md", 5), ("a.md", 7)][..], 0),
        (&[("a.md", 1)], 1),
        (&[("a.md", 3)], 2),
        (&[("a.md", 1), ("a.md", 7)], 1),
        (&[("a.md", 7), ("a.md", 1), ("b.md", 5)], 3),
        (&[], 0),
    ] {
        assert_eq!(gap_ranges(&views, &candidates(&views, places)), expected, "{places:?}");
    }
    // A heading begins a paragraph without a blank line before it.
    let views = [vault(&[("a.md", "intro\n# Title\ntext\n")])];
    assert_eq!(gap_ranges(&views, &candidates(&views, &[("a.md", 2)])), 1);
}

#[test]
fn the_dominant_file_has_the_most_candidates() {
    let views = [vault(&[("a.md", "x\n"), ("b.md", "x\n\ny\n")])];
    let found = candidates(&views, &[("a.md", 1), ("b.md", 1), ("b.md", 3)]);
    assert_eq!(dominant_file(&views, &found).as_deref(), Some("b.md"));
    assert_eq!(dominant_file(&views, &[]), None);
}

#[test]
fn the_likeliest_file_has_the_most_keys_of_the_question_or_is_the_longest() {
    let views = [vault(&[
        ("a.md", "返金の窓口\n"),
        ("b.md", "返品の窓口\n"),
        ("c.md", "a much longer text about other things\n"),
    ])];
    let likeliest = |question: &str, scope: &SearchScope<'_>| {
        let plan = StagePlan {
            views: &views,
            scope,
            max_candidates: 10,
            deadline: super::super::test_corpus::far_away(),
            dictionary: None,
        };
        likeliest_file(&views, scope, &run_stages(&plan, query(question)))
    };
    let all = SearchScope::Everything;
    assert_eq!(likeliest("返品の期限", &all).as_deref(), Some("b.md"));
    assert_eq!(likeliest("zzyzxq", &all).as_deref(), Some("c.md"));
    let without = SearchScope::of(
        &views,
        |_, file| if file.path == "b.md" { FileGrant::None } else { FileGrant::All },
        |_, _| false,
    );
    assert_eq!(likeliest("返品の期限", &without).as_deref(), Some("c.md"));
}
