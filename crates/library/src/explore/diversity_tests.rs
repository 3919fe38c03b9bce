use super::super::test_corpus::{candidate, manual, place, shown};
use super::*;

fn views() -> [View; 1] {
    let sections = |count: usize| (0..count).map(|index| format!("# S{index}\nx\n")).collect::<String>();
    [manual("m", &[("a.md", &sections(8)), ("b.md", &sections(3)), ("c.md", &sections(1))])]
}

/// The first five of candidates that are given as path, line and score, and their scores in order.
fn limited(found: &[(&str, u32, f32)]) -> (Vec<String>, Vec<f32>) {
    let views = views();
    let mut candidates: Vec<_> = found
        .iter()
        .map(|(path, line, score)| Candidate { score: *score, ..candidate(place(&views, path, *line)) })
        .collect();
    limit_one_file(&views, &mut candidates);
    assert_eq!(candidates.len(), found.len());
    let places = candidates.iter().take(MAX_SHOWN).map(|known| shown(&views, known.place)).collect();
    (places, candidates.iter().map(|known| known.score).collect())
}

#[test]
fn at_most_three_of_the_first_five_are_from_one_file() {
    let a = |index: u32, score: f32| ("a.md", 2 * index + 1, score);
    let (places, scores) = limited(&[
        a(0, 10.0),
        a(1, 9.0),
        a(2, 8.0),
        a(3, 7.0),
        a(4, 6.0),
        ("b.md", 1, 5.5),
        ("c.md", 1, 5.0),
    ]);
    assert_eq!(places, ["a.md:1", "a.md:3", "a.md:5", "b.md:1", "c.md:1"]);
    assert!(scores.is_sorted_by(|one, other| one >= other), "{scores:?}");
}

#[test]
fn others_below_half_of_the_best_score_do_not_take_a_place() {
    let a = |index: u32, score: f32| ("a.md", 2 * index + 1, score);
    let (places, _) = limited(&[
        a(0, 10.0),
        a(1, 9.0),
        a(2, 8.0),
        a(3, 7.0),
        a(4, 6.0),
        ("b.md", 1, 5.1),
        ("c.md", 1, 4.9),
    ]);
    assert_eq!(places, ["a.md:1", "a.md:3", "a.md:5", "a.md:7", "b.md:1"]);
    let (places, _) = limited(&[a(0, 10.0), a(1, 9.0), a(2, 8.0), a(3, 7.0), a(4, 6.0), ("b.md", 1, 4.9)]);
    assert_eq!(places, ["a.md:1", "a.md:3", "a.md:5", "a.md:7", "a.md:9"]);
    assert!(limited(&[]).0.is_empty());
    assert_eq!(limited(&[a(0, 1.0)]).0, ["a.md:1"]);
}
