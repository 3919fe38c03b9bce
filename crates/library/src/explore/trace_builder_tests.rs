use super::super::scope::SearchScope;
use super::super::stages::{StagePlan, run_stages};
use super::super::test_corpus::{DICTIONARY, far_away, manual, place, query, vault};
use super::*;

fn outcome(views: &[View], question: &str) -> StageOutcome {
    let scope = SearchScope::Everything;
    let (deadline, dictionary) = (far_away(), Some(&*DICTIONARY));
    run_stages(
        &StagePlan { views, scope: &scope, max_candidates: 100, deadline, dictionary },
        query(question),
    )
}

/// Items as `path:line`.
fn places(items: &[TraceItem]) -> Vec<String> {
    items.iter().map(|item| format!("{}:{}", item.place.path, item.place.start_line.unwrap())).collect()
}

#[test]
fn candidates_are_in_document_order_and_the_best_in_rank_order() {
    let files =
        [("b.md", "# Refund\nrefund refund\n"), ("a.md", "# A\nof a refund\n# B\nor refund, and more\n")];
    let views = [manual("m", &files)];
    let record = trace_record(&views, &outcome(&views, "refund"), &[], vec!["a gap".into()], Target::Manual);
    assert_eq!(places(&record.candidates), ["a.md:1", "a.md:3", "b.md:1"]);
    assert_eq!(places(&record.top), ["b.md:1", "a.md:1", "a.md:3"]);
    assert!(record.top.is_sorted_by(|one, other| one.score >= other.score));
    assert_eq!((record.unscanned_count(), record.gaps), (0, vec!["a gap".to_owned()]));
}

#[test]
fn only_the_best_twenty_are_listed_in_rank_order() {
    let text = "# A\nrefund\n".repeat(25);
    let views = [manual("m", &[("a.md", &text)])];
    let record = trace_record(&views, &outcome(&views, "refund"), &[], Vec::new(), Target::Manual);
    assert_eq!((record.candidates.len(), record.top.len()), (25, MAX_TOP));
}

#[test]
fn a_ref_says_what_manual_read_needs() {
    let views = [manual("m", &[("a.md", "intro\n# Refund Window\n14 days\n")])];
    let record = trace_record(&views, &outcome(&views, "refund"), &[], Vec::new(), Target::Manual);
    let sha256 = views[0].segments[0].files[0].sha256.to_string();
    let expected = Ref {
        target: Target::Manual,
        manual_id: Some("m".into()),
        path: "a.md".into(),
        start_line: Some(2),
        char: None,
        json_path: None,
        heading_path: None,
        encoding: None,
        title: Some("Refund Window".into()),
        signals: Some(vec!["heading".into(), "normalized".into()]),
        rev: Some(sha256[..12].to_owned()),
    };
    assert_eq!(record.candidates.into_iter().map(|item| item.place).collect::<Vec<_>>(), [expected]);
}

#[test]
fn json_and_paragraphs_are_pointed_at_by_the_line_of_the_match() {
    let views = [manual("m", &[("a.json", "{\n \"a\": 1,\n \"b\": \"refund\"\n}\n")])];
    let record = trace_record(&views, &outcome(&views, "refund"), &[], Vec::new(), Target::Manual);
    assert_eq!(places(&record.candidates), ["a.json:3"]);
    let views = [vault(&[("n.md", "first\n\nsecond line\nwith a re-fund\n")])];
    let record = trace_record(&views, &outcome(&views, "refund"), &[], Vec::new(), Target::Vault);
    assert_eq!(places(&record.candidates), ["n.md:4"]);
    assert_eq!(record.candidates[0].place.manual_id, None);
}

#[test]
fn both_sides_of_a_conflict_name_each_other_and_the_better_one_is_listed() {
    let views =
        [manual("m", &[("a.md", "# A\nrefund\n"), ("b.md", "# B\nrefund\n"), ("c.md", "# C\nrefund\n")])];
    let at = |path| place(&views, path, 1);
    let conflict = |one, other, about: &str| Conflict { one: at(one), other: at(other), about: about.into() };
    let conflicts = [conflict("a.md", "b.md", "x: 1 / 2"), conflict("a.md", "c.md", "x: 1 / 3")];
    let record = trace_record(&views, &outcome(&views, "refund"), &conflicts, Vec::new(), Target::Manual);
    let against: Vec<_> = record.candidates.iter().map(|item| item.conflict_with.join(" ")).collect();
    assert_eq!(against, ["m/b.md#L1 m/c.md#L1", "m/a.md#L1", "m/a.md#L1"]);
    let listed: Vec<_> = record
        .conflicts
        .iter()
        .map(|(item, about)| (item.place.path.as_str(), item.conflict_with.join(" "), about.as_str()))
        .collect();
    let expected = [("a.md", "m/b.md#L1".into(), "x: 1 / 2"), ("a.md", "m/c.md#L1".into(), "x: 1 / 3")];
    assert_eq!(listed, expected);
}
