use proptest::prelude::*;

use super::super::super::sentences::Sentence;
use super::super::statements::Statement;
use super::*;

fn statement(text: &str) -> Statement {
    Statement::new(Sentence { text: text.to_owned(), lines: 0..1, is_cell: false }).unwrap()
}

/// The values that a sentence states, and those that are conditions, as `dimension value bound`.
fn shown(text: &str) -> (Vec<String>, Vec<String>) {
    let statement = statement(text);
    let show = |claim: &Claim| format!("{} {:.2} {:?}", claim.dimension, claim.value, claim.bound);
    (statement.claims.iter().map(show).collect(), statement.conditions.iter().map(show).collect())
}

#[test]
fn values_have_a_dimension_a_size_and_a_bound() {
    for (text, claims) in [
        ("the window is 14 days", vec!["duration 14.00 Exact"]),
        ("the window is 12 hours", vec!["duration 0.50 Exact"]),
        ("the window is 2 weeks", vec!["duration 14.00 Exact"]),
        ("the window is at most 14 days", vec!["duration 14.00 AtMost"]),
        ("the window is no less than 14 days", vec!["duration 14.00 AtLeast"]),
        ("the window is about 14 days", vec!["duration 14.00 Loose"]),
        ("the window is 14 days or less", vec!["duration 14.00 AtMost"]),
        ("返品は14日以内", vec!["duration 14.00 AtMost"]),
        ("返品は14日以上", vec!["duration 14.00 AtLeast"]),
        ("返品は約14日", vec!["duration 14.00 Loose"]),
        ("作業は12時間程度", vec!["duration 0.50 Loose"]),
        ("費用の上限は500円", vec!["円 500.00 AtMost"]),
        ("delivery takes 3 days to 5 days", vec!["duration 3.00 AtLeast", "duration 5.00 AtMost"]),
        ("delivery takes 3 to 5 days", vec!["duration 5.00 AtMost"]),
        ("delivery takes three to five days", vec!["duration 5.00 AtMost"]),
        ("the pack has 6 tablets", vec!["tablet 6.00 Exact"]),
        ("バックアップは3世代を残す", vec!["世代 3.00 Exact"]),
        ("the lamp burns 200 operating hours", vec!["duration 8.33 Exact"]),
        ("the loan runs for a week", vec!["duration 7.00 Exact"]),
        ("更新は半年です", vec!["duration 182.62 Exact"]),
        ("the door has a number", vec![]),
    ] {
        assert_eq!(shown(text).0, claims, "{text}");
    }
}

#[test]
fn numbers_that_name_something_are_no_values() {
    for text in [
        "the rule is in section 14",
        "第14条による",
        "see step 3 of it",
        "use version 14 of it",
        "the file is /opt/14/bin",
        "set `14 days` there",
        "部品を2つ使う",
        "the ticket is #14",
    ] {
        assert_eq!(shown(text), (vec![], vec![]), "{text}");
    }
}

#[test]
fn a_value_that_says_when_a_sentence_applies_is_a_condition() {
    for (text, claims, conditions) in [
        ("勤続3年の社員の休暇は20日です", vec!["duration 20.00 Exact"], vec!["duration 1095.75 Exact"]),
        ("一人あたり500円を払う", vec!["円 500.00 Exact"], vec!["人 1.00 Exact"]),
        // A condition alone is what the sentence states.
        ("返品は到着の14日後とする", vec!["duration 14.00 Exact"], vec![]),
    ] {
        let (found, when) = shown(text);
        assert_eq!(
            (found.iter().map(String::as_str).collect::<Vec<_>>(), when.iter().map(String::as_str).collect()),
            (claims, conditions),
            "{text}"
        );
    }
}

#[test]
fn a_repetition_has_another_dimension_than_a_span() {
    for text in
        ["the pump runs every 2 hours", "点検は2時間ごと", "点検は2時間おき", "the pump runs once a year"]
    {
        let statement = statement(text);
        assert_eq!(statement.claims[0].dimension, FREQUENCY, "{text}");
    }
    // In `four days a year` a year is no span.
    assert!(
        statement("the pump runs four days a year").all_values().all(|claim| claim.dimension != FREQUENCY)
    );
}

fn claim(value: f64, bound: Bound) -> Claim {
    Claim { dimension: "円".to_owned(), value, bound, shown: String::new(), words: 0..0, range: 0..0 }
}

fn any_bound() -> impl Strategy<Value = Bound> {
    prop::sample::select(vec![Bound::Exact, Bound::AtMost, Bound::AtLeast, Bound::Loose])
}

proptest! {
    #[test]
    fn a_contradiction_holds_in_both_directions_and_never_of_a_value_with_itself(
        (one, other) in ((-9..9_i32), (-9..9_i32)),
        (left, right) in (any_bound(), any_bound()),
    ) {
        let (one, other) = (claim(one.into(), left), claim(other.into(), right));
        prop_assert_eq!(one.contradicts(&other), other.contradicts(&one));
        prop_assert!(!one.contradicts(&one) && one.is_same(&one));
        prop_assert!(!(one.contradicts(&other) && one.same_value(&other)));
    }

    #[test]
    fn any_sentence_has_a_statement_or_none_without_a_panic(text in "\\PC{0,60}") {
        let sentence = Sentence { text: crate::text::normalize_text(&text), lines: 0..1, is_cell: false };
        if let Some(statement) = Statement::new(sentence) {
            let count = statement.words().len();
            prop_assert!(statement.all_values().all(|claim| claim.words.end <= count));
            prop_assert!(!statement.has_own_condition(&statement) && !statement.is_opposed_to(&statement));
        }
    }

    #[test]
    fn sentences_of_numbers_and_units_have_claims_in_their_words(
        text in "(every |about |at most |between |and |to |or |約|第|から|[0-9]{1,4}|三|年|日|時間|円|days?|%|は|、| |a week|以内|以上|後){0,12}"
    ) {
        let sentence = Sentence { text, lines: 0..1, is_cell: false };
        if let Some(statement) = Statement::new(sentence) {
            let text = &statement.sentence.text;
            prop_assert!(statement.all_values().all(|claim| claim.value.is_finite() && text.contains(&claim.shown)));
        }
    }
}
