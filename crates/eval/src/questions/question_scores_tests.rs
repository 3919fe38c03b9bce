use super::*;

fn outcome(facet: &str, split: Option<&str>, has_other_wordings: bool) -> Outcome {
    let find = || ScoredFind::of_test(Some(true), true, 0.9);
    let worded = has_other_wordings.then(find);
    let split_row = split.map(|split| format!("split:{split}"));
    Outcome { split_row, misses: format!("{facet}\n"), ..Outcome::of_test(facet, find(), worded) }
}

#[test]
fn facets_come_before_splits_and_all_is_last() {
    let scores = sum_up(
        &[
            outcome("b", Some("dev"), true),
            outcome("a", Some("untouched"), true),
            outcome("b", Some("untouched"), false),
            outcome("a", None, false),
        ],
        Baseline::Absent,
    );
    let rows: Vec<_> = scores.rows.iter().map(|row| (row.name.as_str(), row.count("questions"))).collect();
    assert_eq!(rows, [("a", 2), ("b", 2), ("split:dev", 1), ("split:untouched", 2), ("all", 4)]);
    assert_eq!(scores.misses, "b\na\nb\na\n");
}

#[test]
fn finds_with_other_wordings_have_a_reliability_of_their_own() {
    let finds = |reliability: &Reliability| reliability.bins.iter().map(|bin| bin.finds).sum::<usize>();
    let scores = sum_up(&[outcome("a", None, true), outcome("a", None, false)], Baseline::Absent);
    assert_eq!(finds(&scores.reliability), 2);
    assert_eq!(scores.worded_reliability.as_ref().map(finds), Some(1));
    assert!(sum_up(&[outcome("a", None, false)], Baseline::Absent).worded_reliability.is_none());
}
