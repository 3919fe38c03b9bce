use super::super::test_corpus::query;
use super::*;

fn joined(between: &str) -> bool {
    joins_sides(between)
}

#[test]
fn joins_are_told_from_conditions() {
    for between in ["と", " と ", "みと", "したときと", "した場合と", "と比べて", "・", "、", "または", "や"]
    {
        assert!(joined(between), "{between}");
    }
    for between in ["の", "すると", "ると", "いと", "", "という", "とても長い言葉を間に置くと"]
    {
        assert!(!joined(between), "{between}");
    }
}

#[test]
fn sides_are_limited_and_never_share_a_term() {
    let query = query("difference between alpha, beta, gamma, delta and epsilon");
    assert_eq!(query.sides, [1, 2, 4, 8]);
    assert!(super::super::test_corpus::query("rail vs rail").sides.is_empty());
    assert!(super::super::test_corpus::query("vs").sides.is_empty());
    assert!(super::super::test_corpus::query("rail vs").sides.is_empty());
}

#[test]
fn more_than_one_list_is_one_comparison() {
    let query = query("a型とb型の保険料と給付金の違い");
    assert_eq!(query.sides, [0b1, 0b10]);
}
