use proptest::prelude::*;

use super::*;

#[test]
fn the_more_specific_intent_wins() {
    for (question, expected) in [
        ("給付の対象外になる条件", Intent::Exceptions),
        ("what is not covered", Intent::Exceptions),
        ("プランaとプランbの違い", Intent::Compare),
        ("給付の対象になる条件", Intent::Eligibility),
        ("am i allowed to work from home", Intent::Eligibility),
        ("住所を変更する手順", Intent::Procedure),
        ("how to reset the password", Intent::Procedure),
        ("保険金とは", Intent::Definition),
        ("what is a token", Intent::Definition),
        ("保険金", Intent::Unknown),
        ("opening hours", Intent::Unknown),
    ] {
        assert_eq!(intent_of(question), expected, "{question}");
    }
}

#[test]
fn weak_words_count_half() {
    assert_eq!((strength("場合"), strength("project"), strength("給付金")), (0.5, 0.5, 1.0));
}

#[test]
fn a_run_of_hiragana_is_split_at_function_words() {
    let run: Vec<char> = "けがになる".chars().collect();
    assert_eq!(function_word_suffixes(&run), [false, true, true, true, false, true]);
    assert_eq!(function_word_prefixes(&run), [true, false, false, false, false, false]);
}

proptest! {
    #[test]
    fn both_directions_agree_on_the_whole_run(text in "[のにはをがでとなるしますかられためけ]{0,10}") {
        let run: Vec<char> = text.chars().collect();
        let (suffixes, prefixes) = (function_word_suffixes(&run), function_word_prefixes(&run));
        prop_assert_eq!(suffixes.first(), prefixes.last());
        // Where a prefix and the suffix behind it are function words, so is the whole.
        let split = prefixes.iter().zip(&suffixes).any(|(prefix, suffix)| *prefix && *suffix);
        prop_assert_eq!(split, suffixes[0]);
    }
}

#[test]
fn words_that_ask_for_everything_state_the_goal() {
    for question in [
        "給付の例外を網羅的に教えて",
        "対象外の条件を全て",
        "すべての免責事由",
        "もれなく列挙して",
        "規則を全部教えて",
        "例外全部",
        "余すところなく",
        "tell me everything about refunds",
        "all exceptions to the refund rule",
        "find all limits",
        "list every exception",
        "an exhaustive list of limits",
    ] {
        assert_eq!(goal_of(question), Goal::Everything, "{question}");
    }
    for question in [
        "給付の例外",
        // Departments and parts that contain the word by accident.
        "安全部の電話番号",
        "全部門の責任者",
        "全部品の交換",
        "all-inclusive plans",
        "install all",
        "find allergies",
        "is everythingness a word",
    ] {
        assert_eq!(goal_of(question), Goal::Answer, "{question}");
        assert_eq!(without_goal_words(question), question);
    }
}

#[test]
fn a_text_is_worded_for_an_intent() {
    for (intent, text, expected) in [
        (Intent::Definition, "「給付金」とは、次の金額をいう", true),
        (Intent::Definition, "a token is a string", true),
        (Intent::Definition, "the token expires", false),
        (Intent::Procedure, "# reset\n1. open the menu", true),
        (Intent::Procedure, "the reset was made", false),
        (Intent::Eligibility, "you must be 18", true),
        (Intent::Eligibility, "everyone may join", false),
        (Intent::Unknown, "a token is a string", false),
    ] {
        assert_eq!(has_intent_wording(intent, text), expected, "{text}");
    }
}

#[test]
fn compounds_that_do_not_ask_for_everything_contain_a_word_that_does() {
    // Another compound would have no effect.
    let contains = |compound: &&String| everything_words().any(|word| compound.contains(word));
    assert!(JAPANESE.everything_compounds.iter().all(|compound| contains(&compound)));
}
