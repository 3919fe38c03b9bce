use super::*;
use crate::test_corpus::{self, DICTIONARY, manual, place, shown};

const TEXT: &str = "\
# 給付
## 支払
給付金を支払う
### 細則
ただし旅行は別とする
## 免責
旅行は対象外とする
### 注記
除外の例
## 窓口
平日のみ
# 雑則
適用は対象外とする
";

fn candidate(place: NodePlace, score: f32) -> Candidate {
    Candidate { score, ..test_corpus::candidate(place) }
}

/// What is found next to the sections that start on these lines, as `path:line score`.
fn found(lines: &[u32], intent: Intent, admitted: NodeFilter<'_>) -> Vec<String> {
    let views = [manual("m", &[("a.md", TEXT)])];
    let mut candidates: Vec<_> =
        lines.iter().map(|line| candidate(place(&views, "a.md", *line), *line as f32)).collect();
    let mut found: Vec<_> = add_exceptions(&views, &mut candidates, &DICTIONARY, intent, admitted)
        .iter()
        .map(|candidate| {
            assert_eq!((candidate.signals, candidate.terms), (Signals::EXCEPTIONS, 0));
            assert_eq!(candidate.kind, MatchKind::Exception);
            format!("{} {:.1}", shown(&views, candidate.place), candidate.score)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn siblings_and_descendants_with_exception_words_are_added() {
    // A sibling at line 6 and a child at line 4; neither the child of the sibling nor another chapter.
    assert_eq!(found(&[2], Intent::Unknown, &|_| true), ["a.md:4 0.4", "a.md:6 0.4"]);
    // All that lies inside a chapter, but not another chapter: those have no parent in common.
    assert_eq!(found(&[1], Intent::Unknown, &|_| true), ["a.md:4 0.2", "a.md:6 0.2", "a.md:8 0.2"]);
}

#[test]
fn a_neighbor_of_several_candidates_gets_the_best_share() {
    assert_eq!(found(&[10, 1], Intent::Unknown, &|_| true), ["a.md:4 0.2", "a.md:6 2.0", "a.md:8 0.2"]);
}

#[test]
fn a_question_for_exceptions_weighs_them_more() {
    assert_eq!(found(&[2], Intent::Exceptions, &|_| true), ["a.md:4 0.8", "a.md:6 0.8"]);
}

#[test]
fn what_is_not_admitted_is_not_added() {
    assert_eq!(found(&[2], Intent::Unknown, &|_| false), Vec::<String>::new());
}

#[test]
fn candidates_with_exception_words_are_marked_and_raised_only_if_asked_for() {
    let views = [manual("m", &[("a.md", TEXT)])];
    let at = |line| place(&views, "a.md", line);
    let both = Signals::NORMALIZED.with(Signals::EXCEPTIONS);
    for (intent, score) in [(Intent::Unknown, 2.0), (Intent::Exceptions, 2.0 * EXCEPTION_BOOST)] {
        let mut candidates = [candidate(at(6), 2.0), candidate(at(10), 1.0)];
        add_exceptions(&views, &mut candidates, &DICTIONARY, intent, &|_| true);
        assert_eq!(
            candidates,
            [Candidate { signals: both, ..candidate(at(6), score) }, candidate(at(10), 1.0)]
        );
    }
}

#[test]
fn the_neighbors_of_a_passage_are_those_of_its_section() {
    let long = "給付金を支払う。\n\n".repeat(500);
    let text = format!("# 給付\n## 支払\n{long}### 細則\nただし旅行は別\n## 免責\n旅行は対象外\n");
    let views = [manual("m", &[("a.md", &text)])];
    let segment = &views[0].segments[0];
    let last_passage = segment.nodes.iter().rposition(|node| node.is_continuation).unwrap();
    let at = NodePlace { view: 0, segment: 0, node: u32::try_from(last_passage).unwrap() };
    let found = add_exceptions(&views, &mut [candidate(at, 1.0)], &DICTIONARY, Intent::Unknown, &|_| true);
    let mut titles: Vec<_> =
        found.iter().map(|found| segment.nodes[found.place.node as usize].title.as_str()).collect();
    titles.sort_unstable();
    assert_eq!(titles, ["免責", "細則"]);
}
