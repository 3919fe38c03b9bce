use proptest::prelude::*;

use super::*;
use crate::facts::facts;

fn words(text: &str) -> Vec<String> {
    words_of(text, &facts(text)).into_iter().map(|word| word.text).collect()
}

#[test]
fn content_words_are_stems_and_runs_of_one_script_without_values() {
    for (text, expected) in [
        ("the customers' refunds are paid in 14 days", vec!["custom", "refund", "pai"]),
        ("商品の返品は14日以内にレジで行う", vec!["商品", "返品", "レジ"]),
        ("サーバーの再起動", vec!["サーバ", "再起動"]),
        ("it is not required", vec![]),
        ("", vec![]),
    ] {
        assert_eq!(words(text), expected, "{text}");
    }
}

#[test]
fn an_abbreviation_is_the_same_word_and_a_short_prefix_is_not() {
    for (one, other, expected) in [
        ("有給", "有給休暇", true),
        ("休暇", "有給休暇", true),
        ("有", "有給", false),
        // One character in front says which one is meant.
        ("父母", "祖父母", false),
        ("社員", "正社員", false),
        ("給休", "有給休暇", false),
        ("refund", "refund", true),
        ("admin", "admins", true),
        ("admin", "administration", false),
        ("car", "card", false),
        // Part numbers are names, and not abbreviated.
        ("xr200", "xr2001", false),
    ] {
        assert_eq!((same_word(one, other), same_word(other, one)), (expected, expected), "{one} {other}");
    }
}

#[test]
fn likeness_counts_each_word_once() {
    let like = Likeness::of(&["gift", "gift", "card", "window"], &["card", "gift", "fee"]);
    assert_eq!(
        (like.shared, like.only_one, like.only_other),
        (2, vec!["window".to_owned()], vec!["fee".to_owned()])
    );
    let like = Likeness::of(&["gift", "card"], &["gift", "card", "fee", "note"]);
    assert_eq!((like.share(), like.containment()), (0.5, 1.0));
    let nothing = Likeness::of(&[], &[]);
    assert_eq!((nothing.share(), nothing.containment()), (0.0, 0.0));
    // An equal word is taken before one that only abbreviates it.
    let like = Likeness::of(&["有給", "有給休暇"], &["有給休暇", "有給"]);
    assert_eq!(like.shared, 2);
}

proptest! {
    #[test]
    fn words_lie_in_the_text_in_order(text in "([a-z']{1,8}|[0-9]{1,3}|[亜有休暇]{1,3}|[アー]{1,3}|[のは、 ]){0,20}") {
        let found = words_of(&text, &facts(&text));
        let mut end = 0;
        for word in &found {
            prop_assert!(word.range.start >= end && text.get(word.range.clone()).is_some());
            prop_assert!(!word.text.is_empty());
            end = word.range.end;
        }
    }

    #[test]
    fn equal_lists_are_wholly_alike_and_the_shared_number_is_symmetric(
        one in prop::collection::vec("[a-c]{1,2}|admin[sx]{0,2}|有給|休暇|有給休暇|休暇日", 0..8),
        other in prop::collection::vec("[a-c]{1,2}|admin[sx]{0,2}|有給|休暇|有給休暇|休暇日", 0..8),
    ) {
        let one: Vec<&str> = one.iter().map(String::as_str).collect();
        let other: Vec<&str> = other.iter().map(String::as_str).collect();
        let (there, back) = (Likeness::of(&one, &other), Likeness::of(&other, &one));
        prop_assert_eq!(there.shared, back.shared);
        prop_assert_eq!(&there.only_one, &back.only_other);
        prop_assert!((0.0..=1.0).contains(&there.share()) && there.share() <= there.containment());
        prop_assert!(Likeness::of(&one, &one).only_one.is_empty());
    }
}
