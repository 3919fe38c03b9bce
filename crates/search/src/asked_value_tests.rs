use proptest::prelude::*;

use super::super::test_corpus::query;
use super::*;
use annai_text::normalize_text;

fn states(question: &str, text: &str, is_cell: bool) -> Option<bool> {
    let sentence = Sentence { text: normalize_text(text), lines: 0..1, is_cell };
    query(question).asked_value.map(|asked| asked.is_stated_in(&sentence))
}

#[test]
fn only_a_value_of_the_kind_that_is_asked_for_counts() {
    for (question, text, expected) in [
        ("How many members does a team have?", "A team has 5 members.", Some(true)),
        ("How many teams are there?", "A team has 5 members.", Some(false)),
        ("How many teams are there?", "There are three regional teams.", Some(true)),
        ("number of retries", "The client makes 5 retries.", Some(true)),
        ("number of retries", "The client waits 5 seconds.", Some(false)),
        ("How many days does a refund take?", "A refund takes 5 days.", Some(true)),
        ("How many days does a refund take?", "A refund has 5 parts.", Some(false)),
        ("How long is the trial?", "The trial lasts 30 days.", Some(true)),
        ("How long is the trial?", "The trial costs $30.", Some(false)),
        ("How much is a seat?", "A seat is $30 a month.", Some(true)),
        ("price of a seat", "A seat lasts 30 days.", Some(false)),
        ("How old must a driver be?", "A driver is 21 years old.", Some(true)),
        ("how large is the upload", "An upload has up to 10 MB.", Some(true)),
        ("what percentage is paid", "The insurance pays 80 %.", Some(true)),
        ("what percentage is paid", "The insurance pays $80.", Some(false)),
        ("参加者は何人ですか", "参加者は30人です。", Some(true)),
        ("参加者は何人ですか", "参加費は30円です。", Some(false)),
        ("参加者は何人ですか", "参加者は来週決まります。", Some(false)),
        ("切符の値段", "切符は五百円です。", Some(true)),
        ("切符の値段", "切符は3枚です。", Some(false)),
        ("返品は何日以内ですか", "返品は14日以内です。", Some(true)),
        ("返品は何日以内ですか", "返品は2枚の用紙で行います。", Some(false)),
        ("点検の頻度は", "点検は3か月ごとに行う。", Some(true)),
        ("金利の割合", "金利は3%です。", Some(true)),
        // One of something names rather than counts it.
        ("How many extensions are allowed?", "Write one extension per line.", Some(false)),
        // Questions that ask for no value, or that an event may answer.
        ("How do I return an item?", "Returns take 14 days.", None),
        ("返品の方法", "返品は14日以内です。", None),
        ("When does the shop close?", "The shop closes on holidays.", None),
    ] {
        assert_eq!(states(question, text, false), expected, "{question} / {text}");
    }
}

#[test]
fn a_number_in_a_cell_counts_what_its_column_names() {
    for (text, is_cell, expected) in [
        ("Basic, Members: 5", true, true),
        ("Basic, Members: 5", false, false),
        ("Basic, Projects: 5", true, false),
    ] {
        assert_eq!(states("How many members does a plan have?", text, is_cell), Some(expected), "{text}");
    }
}

#[test]
fn a_word_asks_for_a_value_only_as_a_whole() {
    // `price` in another word and 料金 in a compound ask for nothing.
    for question in ["the priceless vase", "料金表示板"] {
        assert_eq!(AskedValue::of(question, Wanted::default()), None, "{question}");
    }
    assert!(AskedValue::of("the price", Wanted::default()).is_some());
    assert!(AskedValue::of("料金", Wanted::default()).is_some());
}

proptest! {
    #[test]
    fn any_question_and_sentence_are_read_without_a_panic(
        question in "(how many |number of |何|値段|price|[人日円はを?]|\\PC){0,12}",
        text in "(one |[0-9]{1,4}|人|日|円|\\PC){0,20}",
        is_cell in any::<bool>(),
    ) {
        let question = normalize_text(&question);
        if let Some(asked) = AskedValue::of(&question, Wanted::default()) {
            let has_fact = !facts(&text).is_empty();
            let is_stated = asked.is_stated_in(&Sentence { text, lines: 0..1, is_cell });
            prop_assert!(has_fact || !is_stated);
        }
    }
}
