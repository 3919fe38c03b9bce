use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::query::dictionary::WordList;
use crate::query::question_terms::without_separators;
use crate::test_corpus::{DICTIONARY, query};
use annai_text::normalize_text;

fn texts(terms: &[Term]) -> Vec<&str> {
    terms.iter().map(Term::text).collect()
}

/// The terms of a question, the required ones with an exclamation mark.
fn shown(question: &str) -> String {
    let shown = query(question).terms.into_iter().map(|term| match term.role {
        Role::Must => format!("{}!", term.text()),
        Role::Soft => term.text().to_owned(),
    });
    shown.collect::<Vec<_>>().join(" | ")
}

/// The forms of the only term of a question, each with its weight.
fn forms(question: &str) -> Vec<(String, f32)> {
    let query = query(question);
    let [term] = query.terms.as_slice() else { panic!("one term, not {:?}", texts(&query.terms)) };
    term.forms.iter().map(|form| (form.text.clone(), form.weight)).collect()
}

#[test]
fn phrases_exclusions_and_words_become_terms() {
    let query = query(r#""refund window" of gift cards -online"#);
    assert_eq!(texts(&query.terms), ["refund window", "gift", "cards"]);
    assert_eq!(texts(&query.negatives), ["online"]);
    let [phrase, gift, ..] = query.terms.as_slice() else { panic!("two terms") };
    assert!(phrase.is_phrase && phrase.role == Role::Must && gift.role == Role::Soft);
    assert!(!gift.is_phrase);
    assert_eq!(gift.forms.len(), 1);
}

#[test]
fn numbers_codes_and_names_are_required_and_other_words_are_not() {
    for (question, expected) in [
        ("がん診断給付金の対象外になる条件", "がん診断給付金 | 対象外 | 条件"),
        ("第三条の支払事由", "第3条! | 支払事由"),
        ("30日以内の返品", "30日! | 以内 | 返品"),
        ("error E1234 on XR-200", "error | e1234! | xr-200!"),
        ("weight of the ＸＲ－２００", "weight | xr-200!"),
        ("release v2.1 notes", "release | v2.1! | notes"),
        ("login via Keycloak", "login | via | keycloak!"),
        // The capital of a first word says nothing, one inside it does.
        ("Refund policy", "refund | policy"),
        ("OAuth policy", "oauth! | policy"),
        ("「店頭 受付」の時間", "店頭 受付! | 時間"),
    ] {
        assert_eq!(shown(question), expected, "{question}");
    }
}

#[test]
fn a_chain_of_words_is_a_term_with_those_of_its_words_that_are_no_stop_words() {
    assert_eq!(shown("the retry-after header"), "retry-after | retry | header");
    assert_eq!(shown("read and/or write"), "read | write");
}

#[test]
fn exclusions_alone_leave_no_terms() {
    let query = query("-online -「店頭 受付」");
    assert_eq!((texts(&query.terms), texts(&query.negatives)), (vec![], vec!["online", "店頭 受付"]));
}

#[test]
fn a_term_is_listed_once_and_stop_words_only_without_others() {
    assert_eq!(texts(&query("userid user-id の").terms), ["userid", "user"]);
    assert_eq!(texts(&query("what is it").terms), ["what is it"]);
}

#[test]
fn a_question_is_the_same_in_any_width_and_case() {
    assert_eq!(query("ＲＥＦＵＮＤ　ｗｉｎｄｏｗ"), query("refund window"));
    assert_eq!(query("ｷﾞﾌﾄ券の返品"), query("ギフト券の返品"));
}

#[test]
fn numbers_are_spelled_in_both_scripts() {
    let own = |text: &str, weight: f32| (text.to_owned(), weight);
    assert_eq!(
        forms("30日"),
        [own("30日", 1.0), own("三十日", SPELLING_WEIGHT), own("三〇日", SPELLING_WEIGHT)]
    );
    assert_eq!(forms("三十日"), [own("三十日", 1.0), own("30日", SPELLING_WEIGHT)]);
    // Articles are normalized to digits in the question and in the text.
    assert_eq!(forms("第十二条"), [own("第12条", 1.0)]);
}

#[test]
fn more_terms_than_the_limit_are_dropped_and_named() {
    let question: Vec<_> = (0..60).map(|number| format!("w{number}x")).collect();
    let query = query(&question.join(" "));
    assert_eq!((query.terms.len(), query.dropped.len()), (MAX_TERMS, 12));
}

#[test]
fn required_terms_survive_the_limit() {
    let soft: Vec<_> =
        ('a'..='z').flat_map(|one| ['k', 'q'].map(|other| format!("{one}{other}zz"))).collect();
    let query = query(&format!("{} E77", soft.join(" ")));
    assert_eq!((query.terms.len(), query.dropped.len()), (MAX_TERMS, 5));
    assert_eq!(query.terms.last().map(Term::text), Some("e77"));
    assert_eq!(query.dropped, ["xqzz", "ykzz", "yqzz", "zkzz", "zqzz"]);
}

#[test]
fn a_term_has_a_limited_number_of_forms() {
    let group: Vec<_> = (0..40).map(|number| format!("gadget{number}")).collect();
    let words = format!("synonyms:\n  - [wrench, {}]", group.join(", "));
    let dictionary = Dictionary::new(&[WordList::read(&words).unwrap()]);
    let query = Query::new("wrench", None, &dictionary).unwrap();
    assert_eq!(query.terms.iter().map(|term| term.forms.len()).collect::<Vec<_>>(), [MAX_FORMS]);
}

#[test]
fn an_intent_that_is_given_wins_over_the_words() {
    let intent = |given| Query::new("保険金とは", given, &DICTIONARY).unwrap().intent;
    assert_eq!((intent(None), intent(Some(Intent::Compare))), (Intent::Definition, Intent::Compare));
}

#[test]
fn nothing_to_look_for_is_refused() {
    let message = |question: &str| Query::new(question, None, &DICTIONARY).unwrap_err().message().to_owned();
    let nothing = "query: expected words to look for, got only separators and signs";
    assert_eq!((message("?!").as_str(), message("- -").as_str()), (nothing, nothing));
    // Each of these characters becomes eighteen.
    let long = "query: expected at most 10000 characters in normal form; make it shorter";
    assert_eq!(message(&"\u{fdfa}".repeat(600)), long);
}

proptest! {
    #[test]
    fn terms_are_normalized_unique_and_in_order(
        question in "[a-zA-Z0-9Ａ０ぁ-んァ-ヶ一二三日月年第条保険 　,.・、()「」\"-]{1,40}"
    ) {
        let Ok(query) = Query::new(&question, None, &DICTIONARY) else { return Ok(()) };
        let mut seen = HashSet::new();
        let mut last = 0;
        for term in &query.terms {
            prop_assert_eq!(term.text(), normalize_text(term.text()));
            prop_assert!(seen.insert(without_separators(term.text())), "{:?}", texts(&query.terms));
            prop_assert!(term.range.start >= last);
            last = term.range.start;
            prop_assert!(term.is_phrase || !term.text().contains(' ') || query.terms.len() == 1);
            prop_assert!(term.forms.len() <= MAX_FORMS);
            let searchable = |form: &Form| form.single_char.is_some() == form.keys.is_empty();
            prop_assert!(term.forms.iter().all(searchable));
        }
    }
}

#[test]
fn words_that_state_the_goal_are_never_terms() {
    for (question, expected) in [
        ("入院給付金の例外を網羅的に", "入院給付金 | 例外"),
        ("全ての免責事由", "免責事由"),
        ("免責事由をもれなく", "免責事由"),
        ("everything about refund windows", "refund | windows"),
        ("all exceptions to the refund", "exceptions | refund"),
    ] {
        assert_eq!(
            (shown(question).as_str(), query(question).goal),
            (expected, Goal::Everything),
            "{question}"
        );
    }
    // The words of a compound stay together.
    assert_eq!((shown("安全部の規則").as_str(), query("安全部の規則").goal), ("安全部 | 規則", Goal::Answer));
}

#[test]
fn a_question_of_nothing_but_words_for_the_goal_is_about_them() {
    for (question, term) in [("全て", "全て"), ("everything", "everything"), ("網羅的に", "網羅的")]
    {
        let query = query(question);
        assert_eq!((texts(&query.terms), query.goal), (vec![term], Goal::Everything), "{question}");
        assert_ne!(query.deciding_terms(), 0);
    }
}

#[test]
fn what_is_quoted_or_excluded_states_no_goal() {
    for question in [r#"refund "list all""#, "返金「全て」", "refund -everything"] {
        assert_eq!(query(question).goal, Goal::Answer, "{question}");
    }
    assert_eq!(texts(&query("返金「全て」").terms), ["全て", "返金"]);
}

#[test]
fn general_words_decide_only_without_others() {
    for (question, expected) in
        [("返品の場合", 0b01), ("場合の返品", 0b10), ("場合 方法", 0b11), ("返品 期限", 0b11)]
    {
        assert_eq!(query(question).deciding_terms(), expected, "{question}");
    }
}

#[test]
fn words_that_mean_nothing_for_the_search_are_no_terms() {
    for (question, expected) in [
        ("返品の期限を教えてください", "返品 | 期限"),
        ("見積をお願いします", "見積"),
        ("社員及び役員の旅費", "社員 | 役員 | 旅費"),
        ("規程に基づく手当", "規程 | 手当"),
        ("申請方法を教えて", "申請方法"),
        ("返品は何日以内ですか", "返品 | 以内"),
        ("please explain the refund window", "refund | window"),
    ] {
        assert_eq!(shown(question), expected, "{question}");
    }
}

#[test]
fn any_wording_of_a_question_is_parsed_the_same_twice() {
    proptest!(|(question in "([a-c]|と|の|違い|何日|教えて|方法| |vs|and|or|which|list|please|,|、|返品|入院|よ){1,20}")| {
        let Ok(parsed) = Query::new(&question, None, &DICTIONARY) else { return Ok(()) };
        prop_assert_eq!(&parsed, &query(&question));
        prop_assert!(!parsed.terms.is_empty());
    });
}
