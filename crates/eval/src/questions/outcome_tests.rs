use super::*;

fn question(expected: &str) -> Question {
    serde_json::from_str(&format!(r#"{{"id": "q", "query": "how long", "expected": [{expected}]}}"#)).unwrap()
}

/// A find with the answer at a rank, of which this share is among the first five.
fn find(rank: Option<usize>, recall_5: f64) -> ScoredFind {
    let score = Score { recall_1: 0.0, recall_5, recall_10: 1.0, recall_20: 1.0, rank };
    ScoredFind { score: Some(score), found: Found::of_test(0.5, false, 0) }
}

fn unanswerable(is_ready: bool) -> ScoredFind {
    ScoredFind { score: None, found: Found::of_test(0.5, is_ready, 0) }
}

fn hits() -> Vec<Hit> {
    let hit = |line| Hit { manual_id: "m".into(), path: "a.md".into(), title: format!("T{line}"), line };
    (1..=7).map(hit).collect()
}

const SECTION: &str = r#"{"manual_id": "m", "path": "a.md"}"#;

#[test]
fn a_miss_shows_the_first_five_results() {
    let text = describe_miss(&question(SECTION), &find(Some(6), 0.0), &hits()).unwrap();
    assert_eq!(text.lines().count(), 6);
    assert!(text.starts_with("q (not ready, 0.50) how long\n  m/a.md:1 T1\n"), "{text}");
    assert_eq!(describe_miss(&question(SECTION), &find(Some(1), 1.0), &hits()), None);
    let text = describe_miss(&question(""), &unanswerable(true), &[]).unwrap();
    assert_eq!(text, "q (unanswerable, ready, 0.50) how long\n");
    assert_eq!(describe_miss(&question(""), &unanswerable(false), &[]), None);
}

#[test]
fn a_worse_question_shows_its_rank_before_and_after() {
    let worse = |before: ScoredFind, after: ScoredFind| {
        describe_worsening(&question(SECTION), &before, &after, &hits()).map(|text| {
            assert_eq!(text.lines().count(), 6, "{text}");
            text.lines().next().unwrap().to_owned()
        })
    };
    assert_eq!(
        worse(find(Some(1), 1.0), find(Some(3), 1.0)).unwrap(),
        "q (worse with other wordings: rank 1 before, 3 after) how long"
    );
    assert_eq!(
        worse(find(Some(2), 1.0), find(None, 0.0)).unwrap(),
        "q (worse with other wordings: rank 2 before, none after; recall@5 1.00 before, 0.00 after) how long"
    );
    // The first part of the answer is as high as before, and the second part is gone.
    let text = worse(find(Some(1), 1.0), find(Some(1), 0.5)).unwrap();
    assert!(text.contains("rank 1 before, 1 after; recall@5 1.00 before, 0.50 after"), "{text}");
    assert_eq!(worse(find(Some(3), 1.0), find(Some(3), 1.0)), None);
    assert_eq!(worse(find(None, 0.0), find(Some(9), 0.0)), None);
}

#[test]
fn an_unanswerable_question_is_worse_if_only_its_other_wordings_are_ready() {
    let worse = |before: bool, after: bool| {
        describe_worsening(&question(""), &unanswerable(before), &unanswerable(after), &[])
    };
    let text = "q (worse with other wordings: unanswerable, ready, 0.50) how long\n".to_owned();
    assert_eq!(worse(false, true), Some(text));
    assert_eq!((worse(true, true), worse(false, false), worse(true, false)), (None, None, None));
}
